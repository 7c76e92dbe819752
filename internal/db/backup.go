package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup writes a whole copy of the database to a file that is not there yet,
// while runs go on. The file has its name only when it is complete.
func (d *DB) Backup(ctx context.Context, path string) error {
	return failed(d.copyTo(ctx, path, false), "back up database %s to %s", d.path, path)
}

// Snapshot returns a whole copy of the database to read from. The file it is in
// stands beside the database until the copy is closed.
func (d *DB) Snapshot(ctx context.Context) (*Snapshot, error) {
	s, err := d.snapshot(ctx)
	return s, failed(err, "copy database %s", d.path)
}

func (d *DB) snapshot(ctx context.Context) (*Snapshot, error) {
	place, err := os.CreateTemp(filepath.Dir(d.path), filepath.Base(d.path)+".snapshot-*")
	if err != nil {
		return nil, err
	}
	name := place.Name()
	if err := errors.Join(place.Close(), d.copyTo(ctx, name, true)); err != nil {
		return nil, errors.Join(err, removeIfThere(name))
	}
	f, err := os.Open(name) //nolint:gosec // it was made above
	if err != nil {
		return nil, errors.Join(err, removeIfThere(name))
	}
	return &Snapshot{f}, nil
}

// Snapshot is a copy of the database that is read once.
type Snapshot struct{ *os.File }

// Close removes the copy.
func (s *Snapshot) Close() error { return errors.Join(s.File.Close(), removeIfThere(s.Name())) }

// copyTo copies the database as it is at one moment. It has a connection of
// its own, since the readers' may not write.
func (d *DB) copyTo(ctx context.Context, path string, replace bool) (err error) {
	if _, err := os.Lstat(path); !replace && !errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the operator names the file
		return fmt.Errorf("%w: name a new file", fs.ErrExist)
	}
	part := path + ".part"
	if err := removeIfThere(part); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeIfThere(part))
		}
	}()
	if err := d.place(part); err != nil {
		return err
	}
	c, err := sql.Open("sqlite3", address(d.path, copyPragmas))
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `VACUUM INTO ?1`, part)
	if err := errors.Join(err, c.Close()); err != nil {
		return err
	}
	if err := syncFile(part); err != nil {
		return err
	}
	return os.Rename(part, path) //nolint:gosec // the operator names the file
}

// place makes the empty file that the copy goes into. Nobody may read it who may
// not read the database.
func (d *DB) place(part string) error {
	info, err := os.Stat(d.path) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	return f.Close()
}

// syncFile waits until the file is on the disk.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeIfThere deletes a file, which need not be there.
func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the operator names the file
		return err
	}
	return nil
}
