package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// planwave carries out a command line and returns what it says.
func planwave(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(args, func(string) string { return "" }, &o, &e)
	return code, o.String(), e.String()
}

// A backup that is taken while runs are being written restores to a database
// whose every run folds.
func TestBackupUnderLoadAndRestore(t *testing.T) {
	models := newChat(t, func(_ context.Context, id string) string { return fmt.Sprintf(`{"result":"result of %s"}`, id) })
	dir := t.TempDir()
	file, copied := filepath.Join(dir, "p.db"), filepath.Join(dir, "backup.db")
	p := startProgram(t, file, models.URL)
	const writers, before = 4, 8
	begun, stop := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for n := 1; ; n++ {
				id := fmt.Sprint(p.call(t, http.MethodPost, "/api/v1/runs", `{"question":"q","approval":"auto","plan":{"steps":[
					{"id":"a","instruction":"a","depends_on":[]},{"id":"b","instruction":"b","depends_on":[]},{"id":"c","instruction":"c","depends_on":["a","b"]}]}}`)["id"])
				if n%2 == 0 { // the others are at every point of their lives
					p.follow(t, id, nil)
				}
				if n == before {
					begun <- struct{}{}
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for range writers {
		<-begun
	}
	code, out, said := planwave(t, "backup", "-db", file, copied)
	refused, _, inUse := planwave(t, "restore", "-db", file, copied)
	close(stop)
	wg.Wait()
	if code != 0 || !strings.Contains(out, copied) {
		t.Fatalf("backup: exit status %d, %s%s", code, out, said)
	}
	if refused != 1 || !strings.Contains(inUse, "stop Planwave") {
		t.Errorf("restore while it serves: exit status %d, %s", refused, inUse)
	}
	p.kill()

	code, out, said = planwave(t, "restore", "-db", file, copied)
	if code != 0 || !strings.Contains(out, ".before-restore-") {
		t.Fatalf("restore: exit status %d, %s%s", code, out, said)
	}
	if ended, goOn := foldsAll(t, file); ended+goOn < writers*before || ended == 0 {
		t.Errorf("restored are %d runs that ended and %d that go on", ended, goOn)
	}
}

// foldsAll folds every run in a file, and counts them.
func foldsAll(t *testing.T, file string) (ended, goOn int) {
	t.Helper()
	d, err := db.Open(t.Context(), file, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	ids, err := everyRun(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		const all = 1 << 20
		events, err := d.Events(t.Context(), id, 0, all)
		if err != nil {
			t.Fatal(err)
		}
		r, err := plan.Fold(id, events)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status.Ended() {
			ended++
		} else {
			goOn++
		}
	}
	return ended, goOn
}

func TestCommandLines(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct {
		args []string
		code int
		says string
	}{
		"no file":            {[]string{"backup"}, 2, "backup takes one file"},
		"two files":          {[]string{"restore", "a", "b"}, 2, "restore takes one file"},
		"flag after file":    {[]string{"backup", "a", "-db", "b"}, 2, "after its flags"},
		"an unknown flag":    {[]string{"backup", "-addr", "x", "a"}, 2, "not defined: -addr"},
		"help":               {[]string{"restore", "-h"}, 0, "in the place of the database"},
		"nothing to copy":    {[]string{"backup", "-db", filepath.Join(dir, "none.db"), filepath.Join(dir, "b.db")}, 1, "there is no file"},
		"nothing to restore": {[]string{"restore", "-db", filepath.Join(dir, "p.db"), filepath.Join(dir, "none.db")}, 1, "the database is as it was"},
		"help of everything": {[]string{"-h"}, 0, "planwave backup [-db FILE] FILE"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if code, _, said := planwave(t, tt.args...); code != tt.code || !strings.Contains(said, tt.says) {
				t.Errorf("exit status %d, said %q; want %d and %q", code, said, tt.code, tt.says)
			}
		})
	}
}
