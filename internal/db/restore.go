package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrInUse is a database that a program has open.
var ErrInUse = errors.New("the database is in use: stop Planwave, then restore again")

// BackUp writes a whole copy of the database at path to a file that is not
// there yet. Another program may have the database open and write to it.
func BackUp(ctx context.Context, path, to string) error {
	if err := present(path); err != nil {
		return failed(err, "back up database %s", path)
	}
	if _, err := versionOf(ctx, path); err != nil {
		return failed(err, "back up database %s", path)
	}
	return newDB(path, Options{}).Backup(ctx, to)
}

// Restored is what came of a restore.
type Restored struct {
	Runs int
	// Kept is where what was there before is now, "" when nothing was.
	Kept string
}

// Restore puts a backup in the place of the database at path. The backup is
// checked first, and copied: it stays as it is. What is at path is kept under
// another name, which tells the time. A database that a program has open is
// [ErrInUse].
func Restore(ctx context.Context, path, backup string, now time.Time) (Restored, error) {
	r, err := restore(ctx, path, backup, now)
	return r, failed(err, "restore database %s from %s", path, backup)
}

func restore(ctx context.Context, path, backup string, now time.Time) (r Restored, err error) {
	if same(path, backup) {
		return r, fmt.Errorf("%w: the backup and the database are one file; name the backup", fs.ErrExist)
	}
	if err := usable(path); err != nil {
		return r, err
	}
	if r.Runs, err = check(ctx, backup); err != nil {
		return r, fmt.Errorf("the backup cannot be used, and the database is as it was: %w", err)
	}
	part := path + ".restoring"
	if err := newDB(backup, Options{}).copyTo(ctx, part, true); err != nil {
		return r, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeIfThere(part))
		}
	}()
	release, err := seize(ctx, path)
	if err != nil {
		return r, err
	}
	if r.Kept, err = putAside(path, now); err == nil {
		if err = os.Rename(part, path); err != nil && r.Kept != "" {
			err = errors.Join(err, os.Rename(r.Kept, path))
		}
	}
	return r, errors.Join(err, release(), syncFolder(filepath.Dir(path)))
}

// present says in one sentence that there is no database at path.
func present(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: there is no file %s", ErrCannotOpen, path)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCannotOpen, err)
	case info.IsDir():
		return fmt.Errorf("%w: it is a folder; name a file in it", ErrCannotOpen)
	}
	return nil
}

// same says whether two names are of one file.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// versionOf returns the schema of the file at path, if this program knows it.
func versionOf(ctx context.Context, path string) (int, error) {
	all, err := readMigrations(migrations)
	if err != nil {
		return 0, err
	}
	version, err := look(ctx, path, len(all))
	if err == nil && version == 0 {
		err = fmt.Errorf("%w: there is nothing in it", ErrNotDatabase)
	}
	return version, err
}

// check holds that the file at path is a whole database of this program or of
// an older one, and returns how many runs it has.
func check(ctx context.Context, path string) (runs int, err error) {
	if err := present(path); err != nil {
		return 0, err
	}
	if _, err := versionOf(ctx, path); err != nil {
		return 0, err
	}
	c, err := sql.Open("sqlite3", address(path, readerPragmas))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, pragma := range []string{"PRAGMA integrity_check(3)", "PRAGMA foreign_key_check"} {
		if err := soundBy(ctx, c, pragma); err != nil {
			return 0, err
		}
	}
	return runs, c.QueryRowContext(ctx, `SELECT count(*) FROM runs`).Scan(&runs)
}

// seize gets the database at path for this program alone, folds its
// write-ahead log back, and returns what lets go of it. A file that is damaged or
// not there is nobody's.
func seize(ctx context.Context, path string) (release func() error, err error) {
	nothing := func() error { return nil }
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nothing, nil
	}
	c, err := sql.Open("sqlite3", address(path, "?_busy_timeout=100"))
	if err != nil {
		return nil, err
	}
	c.SetMaxOpenConns(1)
	_, err = c.ExecContext(ctx, `
		PRAGMA locking_mode = EXCLUSIVE;
		PRAGMA journal_mode = DELETE;
		BEGIN EXCLUSIVE`)
	switch kind := kindOf(err); {
	case err == nil:
		return c.Close, nil
	case errors.Is(kind, ErrBusy):
		return nil, errors.Join(ErrInUse, c.Close())
	case errors.Is(kind, ErrCorrupt), errors.Is(kind, ErrNotDatabase):
		return nothing, c.Close()
	}
	return nil, errors.Join(err, c.Close())
}

// putAside gives what is at path another name, with its write-ahead log if there
// is one, and returns that name.
func putAside(path string, now time.Time) (kept string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", removeLogs(path)
	}
	kept = path + ".before-restore-" + now.UTC().Format("20060102T150405.000Z")
	for _, end := range []string{"-wal", ""} {
		err := os.Rename(path+end, kept+end)
		if err != nil && (end == "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", err
		}
	}
	return kept, removeLogs(path)
}

// removeLogs removes what would be taken for the log of another file of this
// name.
func removeLogs(path string) error {
	return errors.Join(removeIfThere(path+"-wal"), removeIfThere(path+"-shm"))
}

// syncFolder waits until the names in a folder are on the disk.
func syncFolder(name string) error {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
