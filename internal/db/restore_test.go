package db

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// backedUp is a backup of a database with one whole run.
func backedUp(t *testing.T) (file string, s *story) {
	t.Helper()
	d := openNew(t)
	s = whole(t, d, "backed up", "q", "r", "a")
	file = filepath.Join(t.TempDir(), "backup.db")
	if err := d.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	return file, s
}

func TestRestorePutsTheBackupInPlaceAndKeepsWhatWasThere(t *testing.T) {
	backup, s := backedUp(t)
	content := readFile(t, backup)
	path := filepath.Join(t.TempDir(), "runs.db")
	d := openFile(t, path)
	was := whole(t, d, "was there", "q", "r", "a")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Restore(t.Context(), path, backup, epoch)
	if err != nil {
		t.Fatal(err)
	}
	if r.Runs != 1 || r.Kept != path+".before-restore-20260304T050607.000Z" {
		t.Errorf("%+v", r)
	}
	d = openFile(t, path)
	sound(t, d)
	sameRows(t, d, s.run)
	if _, err := d.Load(t.Context(), "was there"); !errors.Is(err, ErrNotFound) {
		t.Errorf("what was there still is: %v", err)
	}
	kept := openFile(t, r.Kept)
	sound(t, kept)
	sameRows(t, kept, was.run)
	if !bytes.Equal(readFile(t, backup), content) {
		t.Error("the backup was changed")
	}
}

func TestRestoreWhereNothingIs(t *testing.T) {
	backup, s := backedUp(t)
	path := filepath.Join(t.TempDir(), "runs.db")
	// A log that a crash left without its database must not be taken for the backup's.
	writeFile(t, path+"-wal", []byte("left over"))
	if r, err := Restore(t.Context(), path, backup, epoch); err != nil || r.Kept != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	d := openFile(t, path)
	sound(t, d)
	sameRows(t, d, s.run)
}

func TestRestoreIntoTheFileOfACrash(t *testing.T) {
	backup, s := backedUp(t)
	path := filepath.Join(t.TempDir(), "runs.db")
	crashed := filepath.Join(t.TempDir(), "crashed.db")
	d := openFile(t, crashed)
	was := whole(t, d, "was there", "q", "r", "a") // in the log only
	for _, end := range []string{"", "-wal"} {
		writeFile(t, path+end, readFile(t, crashed+end))
	}
	r, err := Restore(t.Context(), path, backup, epoch)
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, openFile(t, path), s.run)
	sameRows(t, openFile(t, r.Kept), was.run)
}

func TestRestoreInThePlaceOfADamagedFile(t *testing.T) {
	backup, s := backedUp(t)
	for name, content := range map[string][]byte{
		"no database": bytes.Repeat([]byte("no database "), 500),
		"cut off":     readFile(t, backup)[:4096],
		"empty":       nil,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			writeFile(t, path, content)
			r, err := Restore(t.Context(), path, backup, epoch)
			if err != nil {
				t.Fatal(err)
			}
			sameRows(t, openFile(t, path), s.run)
			if got := readFile(t, r.Kept); len(content) > 0 && len(got) < len(content) {
				t.Errorf("%d bytes are kept of %d", len(got), len(content))
			}
		})
	}
}

func TestRestoreRefusesADatabaseInUse(t *testing.T) {
	backup, _ := backedUp(t)
	path := filepath.Join(t.TempDir(), "runs.db")
	d := openFile(t, path)
	was := whole(t, d, "was there", "q", "r", "a")
	_, err := Restore(t.Context(), path, backup, epoch)
	wantErr(t, err, ErrInUse)
	if !strings.Contains(err.Error(), "stop Planwave") {
		t.Errorf("it says not what to do: %v", err)
	}
	sameRows(t, d, was.run)
	whole(t, d, "goes on", "q", "r", "a")
	only(t, filepath.Dir(path), "runs.db", "runs.db-shm", "runs.db-wal")
}

func TestBackupsThatAreNotTakenUp(t *testing.T) {
	backup, _ := backedUp(t)
	dir := t.TempDir()
	bad := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, content)
		return path
	}
	newer := bad("newer.db", readFile(t, backup))
	change(t, newer, `INSERT INTO schema_versions (version, name, applied_at) VALUES (1000, 'future', 0)`)
	loose := bad("loose.db", readFile(t, backup))
	change(t, loose, `PRAGMA foreign_keys = off; DELETE FROM runs`)
	damaged := readFile(t, backup)
	for i := len(damaged) / 2; i < len(damaged); i++ {
		damaged[i] = 0xAA
	}
	tests := map[string]struct {
		backup string
		want   error
	}{
		"none":                  {filepath.Join(dir, "none.db"), ErrCannotOpen},
		"a folder":              {dir, ErrCannotOpen},
		"empty":                 {bad("empty.db", nil), ErrNotDatabase},
		"a text":                {bad("text", bytes.Repeat([]byte("a text "), 1000)), ErrNotDatabase},
		"damaged":               {bad("damaged.db", damaged), ErrCorrupt},
		"rows that hang loose":  {loose, ErrCorrupt},
		"of a newer program":    {newer, ErrNewer},
		"the database itself":   {"", fs.ErrExist},
		"of a program not ours": {other(t), ErrNotDatabase},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			if err := openAndClose(path); err != nil {
				t.Fatal(err)
			}
			before := readFile(t, path)
			if tt.backup == "" {
				tt.backup = path
			}
			_, err := Restore(t.Context(), path, tt.backup, epoch)
			wantErr(t, err, tt.want)
			if !strings.Contains(err.Error(), tt.backup) {
				t.Errorf("it names no backup: %v", err)
			}
			if !bytes.Equal(readFile(t, path), before) {
				t.Error("the database was changed")
			}
			only(t, filepath.Dir(path), "runs.db")
		})
	}
}

// other is the database of another program.
func other(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	change(t, path, `CREATE TABLE bookmarks (url TEXT)`)
	return path
}

// only fails unless the folder holds these files and no others.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the folder holds %v, want %v", got, names)
	}
}

func TestBackUpOfAFileThatIsNoDatabase(t *testing.T) {
	dir := t.TempDir()
	to := filepath.Join(dir, "copy.db")
	wantErr(t, BackUp(t.Context(), filepath.Join(dir, "none.db"), to), ErrCannotOpen)
	wantErr(t, BackUp(t.Context(), other(t), to), ErrNotDatabase)
	only(t, dir) // nothing was made
}

func TestBackUpOfAFileThatAnotherHasOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	d := openFile(t, path)
	s := whole(t, d, "r1", "q", "r", "a")
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := BackUp(t.Context(), path, to); err != nil {
		t.Fatal(err)
	}
	sameRows(t, openFile(t, to), s.run)
	wantErr(t, BackUp(t.Context(), path, to), fs.ErrExist)
}
