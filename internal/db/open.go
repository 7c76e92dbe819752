package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver
)

// pragmas of every connection. They are in the address since they belong to a
// connection and not to a pool.
const (
	writerPragmas = "?_txlock=immediate&_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_secure_delete=on" +
		"&_busy_timeout=5000&_cache_size=-16000&_stmt_cache_size=64"
	readerPragmas = "?_query_only=on&_busy_timeout=5000&_stmt_cache_size=32"
	copyPragmas   = "?_busy_timeout=5000"
)

// address is the path as a URI, in which some characters mean something else.
func address(path, pragmas string) string {
	return "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path) + pragmas
}

// open connects, brings the schema up to date and leaves d ready to write. On
// failure nothing stays open.
func (d *DB) open(ctx context.Context, files fs.FS) (err error) {
	if err := usable(d.path); err != nil {
		return err
	}
	all, err := readMigrations(files)
	if err != nil {
		return err
	}
	version, err := look(ctx, d.path, len(all))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.abandon())
		}
	}()
	if d.writing, err = sql.Open("sqlite3", address(d.path, writerPragmas)); err != nil {
		return err
	}
	d.writing.SetMaxOpenConns(1)
	if d.writer, err = d.writing.Conn(ctx); err != nil {
		return err
	}
	if err := requireOption(ctx, d.writer, "ENABLE_FTS5"); err != nil {
		return err
	}
	if version > 0 {
		if err := d.whole(ctx); err != nil {
			return err
		}
	}
	if err := d.migrate(ctx, all, version); err != nil {
		return err
	}
	if err := dropClaims(ctx, d.writer); err != nil {
		return err
	}
	if d.readers, err = sql.Open("sqlite3", address(d.path, readerPragmas)); err != nil {
		return err
	}
	n := max(4, 2*runtime.GOMAXPROCS(0))
	d.readers.SetMaxOpenConns(n)
	d.readers.SetMaxIdleConns(n)
	return d.readers.PingContext(ctx)
}

// dropClaims gives up the claims of requests that a stopped process was
// carrying out and had not: a repeat of one need not wait for what is gone.
func dropClaims(ctx context.Context, c *sql.Conn) error {
	_, err := c.ExecContext(ctx, `DELETE FROM keys WHERE status IS NULL AND run IS NULL`)
	return err
}

// usable says in words that name the remedy why there can be no database at
// path, where it can be seen before SQLite is asked. SQLite would open a file that it
// cannot write, and fail later.
func usable(path string) error {
	if path == "" || strings.Contains(path, ":memory:") {
		return fmt.Errorf("%w: a file must be named, since what is kept must outlast the program", ErrCannotOpen)
	}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: there is no folder %s; make it first", ErrCannotOpen, folder)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%w: it is a folder; name a file in it", ErrCannotOpen)
	}
	probe, err := os.CreateTemp(folder, ".planwave-*")
	if err != nil {
		return fmt.Errorf("%w: folder %s: %w", ErrReadOnly, folder, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the operator names the file
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("%w: %w", ErrReadOnly, err)
}

// requireOption fails when SQLite was compiled without an option.
func requireOption(ctx context.Context, c *sql.Conn, option string) error {
	var there bool
	if err := c.QueryRowContext(ctx, `SELECT sqlite_compileoption_used(?1)`, option).Scan(&there); err != nil {
		return err
	}
	if !there {
		return ErrNoSearch
	}
	return nil
}
