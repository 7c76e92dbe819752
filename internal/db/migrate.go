package db

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a file as a Planwave database: "PLWV" in its header.
const applicationID = 0x504C5756

// migration is one numbered file of SQL.
type migration struct {
	number int
	name   string
	sql    string
}

// readMigrations returns the files of migrations/, which are numbered from 1
// without gaps.
func readMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	all := make([]migration, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		number, rest, _ := strings.Cut(path.Base(name), "_")
		n, err := strconv.Atoi(number)
		if err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s is not number %d", name, i+1)
		}
		all[i] = migration{number: n, name: strings.TrimSuffix(rest, ".sql"), sql: string(text)}
	}
	return all, nil
}

// look returns the schema of the file, 0 when there is nothing in it. It
// changes nothing, so that the file of another program, or of a newer one than
// this, stays as it is.
func look(ctx context.Context, path string, newest int) (version int, err error) {
	c, err := sql.Open("sqlite3", address(path, readerPragmas))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var app, tables int
	err = c.QueryRowContext(ctx, `SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id`).
		Scan(&app, &tables)
	if err != nil {
		return 0, err
	}
	if app != applicationID && (app != 0 || tables > 0) {
		return 0, fmt.Errorf("%w: it is an SQLite database of another program", ErrNotDatabase)
	}
	if app == 0 {
		return 0, nil
	}
	if err := c.QueryRowContext(ctx, `SELECT max(version) FROM schema_versions`).Scan(&version); err != nil {
		return 0, err
	}
	if version > newest {
		return 0, fmt.Errorf("%w: its schema is %d and this program knows %d", ErrNewer, version, newest)
	}
	return version, nil
}

// migrate brings the file from a version to the newest schema, in one
// transaction. A file that holds anything is copied before it is changed.
func (d *DB) migrate(ctx context.Context, all []migration, version int) error {
	if version == len(all) {
		return nil
	}
	d.isNew = version == 0
	if version > 0 {
		keep := fmt.Sprintf("%s.v%d", d.path, version)
		if err := d.copyTo(ctx, keep, true); err != nil {
			return fmt.Errorf("keep a copy before the upgrade: %w", err)
		}
		d.log.InfoContext(ctx, "upgrade database", "file", d.path, "from", version, "to", len(all), "copy", keep)
	}
	return d.apply(ctx, all[version:])
}

// apply runs migrations, all of them or none.
func (d *DB) apply(ctx context.Context, todo []migration) (err error) {
	tx, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	_, err = tx.ExecContext(ctx, fmt.Sprintf(`
		PRAGMA application_id = %d;
		CREATE TABLE IF NOT EXISTS schema_versions (
			version    INTEGER PRIMARY KEY,
			name       TEXT    NOT NULL,
			applied_at INTEGER NOT NULL
		) STRICT`, applicationID))
	if err != nil {
		return err
	}
	for _, m := range todo {
		if _, err := tx.ExecContext(ctx, m.sql); err != nil {
			return fmt.Errorf("migration %d, %s: %w", m.number, m.name, err)
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO schema_versions (version, name, applied_at)
			VALUES (?1, ?2, ?3)`,
			m.number, m.name, millis(d.clock()))
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}
