package db

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

// tablesOf lists what is in a file, with the SQL that made it.
func tablesOf(t *testing.T, d *DB) []string {
	t.Helper()
	all, err := readAll(t.Context(), d.readers, scanText, `SELECT name || ': ' || coalesce(sql, '') FROM sqlite_master ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestOpeningAgainChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	d := openFile(t, path)
	s := whole(t, d, "r1", "q", "r", "a")
	before := tablesOf(t, d)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = openFile(t, path)
	if got := tablesOf(t, d); !reflect.DeepEqual(got, before) {
		t.Errorf("the tables are %v, and were %v", got, before)
	}
	sameRows(t, d, s.run)
	if files, err := filepath.Glob(path + ".v*"); err != nil || len(files) > 0 {
		t.Errorf("copies without an upgrade: %v, %v", files, err)
	}
}

// fixture is a database as version 1 wrote it, with one whole run and one that
// waits for approval.
func fixture(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.db")
	writeFile(t, path, readFile(t, filepath.Join("testdata", "version-1.sqlite")))
	return path
}

func TestAFileOfVersion1(t *testing.T) {
	d := openFile(t, fixture(t))
	for _, id := range []string{"whole", "waiting"} {
		r, err := d.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, d, r)
	}
	if p, err := d.List(t.Context(), Filter{Query: "quillhaven"}); err != nil || len(p.Runs) != 1 || p.Runs[0].ID != "whole" {
		t.Errorf("search finds %v, %v", idsOf(p), err)
	}
	if calls, err := d.Trace(t.Context(), "whole"); err != nil || len(calls) != 1 || string(calls[0].Request) != `"request"` {
		t.Errorf("trace %+v, %v", calls, err)
	}
	if ids, err := d.Unfinished(t.Context()); err != nil || !reflect.DeepEqual(ids, []string{"waiting"}) {
		t.Errorf("unfinished %v, %v", ids, err)
	}
	sound(t, d)
}

// upgrade opens the file with other migrations than the program's.
func upgrade(t *testing.T, path string, files fs.FS, log *bytes.Buffer) (*DB, error) {
	t.Helper()
	d := newDB(path, Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err := d.open(t.Context(), files); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := d.abandon(); err != nil {
			t.Error(err)
		}
	})
	return d, nil
}

// newestMigration is the number of the program's newest migration.
func newestMigration(t *testing.T) int {
	t.Helper()
	all, err := readMigrations(migrations)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestAnUpgradeKeepsACopyOfTheFileAsItWas(t *testing.T) {
	path := fixture(t)
	writeFile(t, path+".v1", []byte("an older copy"))
	var log bytes.Buffer
	d, err := upgrade(t, path, withNext(t, `ALTER TABLE runs ADD COLUMN mood TEXT; CREATE TABLE moods (mood TEXT)`), &log)
	if err != nil {
		t.Fatal(err)
	}
	var moods, versions int
	err = d.readers.QueryRowContext(t.Context(), `SELECT (SELECT count(mood) FROM runs), (SELECT max(version) FROM schema_versions)`).
		Scan(&moods, &versions)
	if err != nil || versions != newestMigration(t)+1 {
		t.Errorf("version %d, %v", versions, err)
	}
	if _, err := d.Load(t.Context(), "whole"); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), path+".v1") {
		t.Errorf("the log names no copy: %s", log.String())
	}
	was := openFile(t, path+".v1")
	if _, err := was.Load(t.Context(), "whole"); err != nil {
		t.Error(err)
	}
	for _, table := range tablesOf(t, was) {
		if strings.Contains(table, "mood") {
			t.Errorf("the copy is not as it was: %s", table)
		}
	}
}

// upTo are the first n migrations, as an earlier program had them.
func upTo(t *testing.T, n int) fstest.MapFS {
	t.Helper()
	all, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, name := range all[:n] {
		text, err := migrations.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	return files
}

// A file of every earlier version is brought to the schema that a new file has,
// with all that is in it, and is kept as it was.
func TestFilesOfEveryEarlierVersion(t *testing.T) {
	all, err := readMigrations(migrations)
	if err != nil {
		t.Fatal(err)
	}
	want := tablesOf(t, openNew(t))
	for version := 1; version < len(all); version++ {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			path := fixture(t)
			old := newDB(path, Options{})
			if err := old.open(t.Context(), upTo(t, version)); err != nil {
				t.Fatal(err)
			}
			was := tablesOf(t, old)
			if err := errors.Join(old.abandon(), removeIfThere(path+".v1")); err != nil {
				t.Fatal(err)
			}
			d := openFile(t, path)
			if got := tablesOf(t, d); !reflect.DeepEqual(got, want) {
				t.Errorf("the schema is\n%s\nand that of a new file\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			for _, id := range []string{"whole", "waiting"} {
				r, err := d.Load(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				sameRows(t, d, r)
			}
			sound(t, d)
			kept := newDB(fmt.Sprintf("%s.v%d", path, version), Options{})
			if err := kept.open(t.Context(), upTo(t, version)); err != nil {
				t.Fatal(err)
			}
			if got := tablesOf(t, kept); !reflect.DeepEqual(got, was) {
				t.Errorf("the copy is not as the file was:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(was, "\n"))
			}
			if err := kept.abandon(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnUpgradeThatFailsChangesNothing(t *testing.T) {
	path := fixture(t)
	_, err := upgrade(t, path, withNext(t, `CREATE TABLE moods (mood TEXT); INSERT INTO nowhere VALUES (1)`), &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("migration %d, more", newestMigration(t)+1)) {
		t.Fatalf("err = %v", err)
	}
	d := openFile(t, path)
	for _, table := range tablesOf(t, d) {
		if strings.Contains(table, "mood") {
			t.Errorf("the upgrade left %s", table)
		}
	}
	if _, err := d.Load(t.Context(), "whole"); err != nil {
		t.Error(err)
	}
}

func TestACopyThatCannotBeMadeStopsTheUpgrade(t *testing.T) {
	path := fixture(t)
	if err := errors.Join(os.Mkdir(path+".v1", 0o700), os.Mkdir(filepath.Join(path+".v1", "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := upgrade(t, path, withNext(t, `CREATE TABLE moods (mood TEXT)`), &bytes.Buffer{}); err == nil {
		t.Fatal("it was upgraded without a copy")
	}
	if err := os.RemoveAll(path + ".v1"); err != nil {
		t.Fatal(err)
	}
	for _, table := range tablesOf(t, openFile(t, path)) {
		if strings.Contains(table, "mood") {
			t.Errorf("it was upgraded without a copy: %s", table)
		}
	}
}

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	if all, err := readMigrations(migrations); err != nil || len(all) == 0 || all[0].name != "the_log" {
		t.Errorf("%+v, %v", all, err)
	}
	for name, files := range map[string]fstest.MapFS{
		"a gap":         {"migrations/0001_a.sql": {}, "migrations/0003_b.sql": {}},
		"not from 1":    {"migrations/0002_a.sql": {}},
		"without one":   {"migrations/a.sql": {}},
		"twice the one": {"migrations/0001_a.sql": {}, "migrations/0001_b.sql": {}},
	} {
		if all, err := readMigrations(files); err == nil {
			t.Errorf("%s: %+v", name, all)
		}
	}
}
