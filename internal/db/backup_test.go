package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestABackupWhileRunsGoOn(t *testing.T) {
	d := openNew(t)
	before := whole(t, d, "before", "q", "r", "a")
	stop, written := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for i := 0; err == nil; i++ {
			select {
			case <-stop:
				written <- nil
				return
			default:
				err = newStory(d, fmt.Sprintf("during-%d", i)).append(context.Background(), begin("q", 2)...)
			}
		}
		written <- err
	}()
	to := filepath.Join(t.TempDir(), "copy of runs?.db")
	if err := d.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	close(stop)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	copied := openFile(t, to)
	sound(t, copied)
	sameRows(t, copied, before.run)
	ids, err := copied.Unfinished(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if r, err := copied.Load(t.Context(), id); err != nil || r.Seq != 4 {
			t.Errorf("run %s was copied in part: %+v, %v", id, r, err)
		}
	}
}

func TestASnapshotIsThereUntilItIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	d := openFile(t, path)
	s := whole(t, d, "r1", "q", "r", "a")
	snapshot, err := d.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(snapshot)
	if err := errors.Join(err, snapshot.Close()); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	writeFile(t, copied, content)
	sameRows(t, openFile(t, copied), s.run)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	only(t, filepath.Dir(path), "runs.db", "runs.db-shm", "runs.db-wal")
}

func TestWhoMayNotReadTheDatabaseMayNotReadItsCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	d := openFile(t, path)
	for _, mode := range []fs.FileMode{0o600, 0o640} {
		copied := filepath.Join(t.TempDir(), "copy.db")
		if err := errors.Join(os.Chmod(path, mode), d.Backup(t.Context(), copied)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != mode {
			t.Errorf("the mode is %v, %v, want %v", info.Mode(), err, mode)
		}
	}
}

func TestBackupsThatCannotBe(t *testing.T) {
	d := openNew(t)
	dir := t.TempDir()
	there := filepath.Join(dir, "there.db")
	writeFile(t, there, []byte("precious"))
	err := d.Backup(t.Context(), there)
	wantErr(t, err, fs.ErrExist)
	if string(readFile(t, there)) != "precious" {
		t.Error("the file that was there is not any more")
	}
	if err := d.Backup(t.Context(), filepath.Join(dir, "none", "x.db")); err == nil {
		t.Error("a backup into a folder that is not there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Backup(ctx, filepath.Join(dir, "late.db")); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("failed backups left %v, %v", files, err)
	}
}
