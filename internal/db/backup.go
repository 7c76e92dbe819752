package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Backup writes a whole copy of the database to a file that is not there yet,
// while runs go on. The file has its name only when it is complete.
func (d *DB) Backup(ctx context.Context, path string) error {
	return failed(d.copyTo(ctx, path, false), "back up database %s to %s", d.path, path)
}

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
