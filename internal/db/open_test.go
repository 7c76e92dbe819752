package db

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/mattn/go-sqlite3"
)

// openErr returns why a database cannot be opened.
func openErr(t *testing.T, path string) error {
	t.Helper()
	d, err := Open(t.Context(), path, Options{})
	if err == nil {
		t.Error(d.Close())
		t.Fatalf("%s was opened", path)
	}
	return err
}

func TestFilesThatAreNoDatabase(t *testing.T) { // BEHAVIOUR 11
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	writeFile(t, file, []byte("a file"))
	text := filepath.Join(dir, "text")
	writeFile(t, text, bytes.Repeat([]byte("This is a text and no database. "), 200))
	tests := map[string]struct {
		path string
		want error
		says string
	}{
		"no name":            {"", ErrCannotOpen, "must outlast"},
		"in memory":          {":memory:", ErrCannotOpen, "must outlast"},
		"a missing folder":   {filepath.Join(dir, "none", "runs.db"), ErrCannotOpen, "make it first"},
		"a file as a folder": {filepath.Join(file, "runs.db"), ErrCannotOpen, "make it first"},
		"a folder":           {dir, ErrCannotOpen, "name a file in it"},
		"a text":             {text, ErrNotDatabase, "move this one away"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := openErr(t, tt.path)
			wantErr(t, err, tt.want)
			if !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("the error says not which file and what to do: %v", err)
			}
		})
	}
}

func TestADatabaseOfAnotherProgramStaysAsItIs(t *testing.T) {
	for name, statement := range map[string]string{
		"without a mark": `CREATE TABLE bookmarks (url TEXT)`,
		"with its mark":  `PRAGMA application_id = 77; CREATE TABLE x (y)`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "other.db")
			change(t, path, statement)
			before := readFile(t, path)
			wantErr(t, openErr(t, path), ErrNotDatabase)
			if !bytes.Equal(readFile(t, path), before) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestADatabaseOfANewerProgramStaysAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := openAndClose(path); err != nil {
		t.Fatal(err)
	}
	change(t, path, `INSERT INTO schema_versions (version, name, applied_at) VALUES (1000, 'future', 0)`)
	before := readFile(t, path)
	err := openErr(t, path)
	wantErr(t, err, ErrNewer)
	if !strings.Contains(err.Error(), "1000") {
		t.Errorf("the error names no version: %v", err)
	}
	if !bytes.Equal(readFile(t, path), before) {
		t.Error("the file was changed")
	}
}

func TestDamagedFiles(t *testing.T) { // BEHAVIOUR 11
	path := filepath.Join(t.TempDir(), "runs.db")
	d := openFile(t, path)
	whole(t, d, "r1", "q", "r", "a")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	good := readFile(t, path)
	tests := map[string]func([]byte) []byte{
		"the list of tables is overwritten": func(b []byte) []byte {
			copy(b[100:], bytes.Repeat([]byte{0xAA}, 1000))
			return b
		},
		"only the first page is left": func(b []byte) []byte { return b[:4096] },
		"a page in the middle is overwritten": func(b []byte) []byte {
			copy(b[len(b)/2/4096*4096:], bytes.Repeat([]byte{0xAA}, 4096))
			return b
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			writeFile(t, path, damage(bytes.Clone(good)))
			err := openErr(t, path)
			wantErr(t, err, ErrCorrupt)
			if !strings.Contains(err.Error(), "planwave restore") {
				t.Errorf("the error says not what to do: %v", err)
			}
		})
	}
}

func TestAnEmptyFileAndOddNames(t *testing.T) {
	for _, name := range []string{"empty.db", "what? 100% #1 & more.db", "schöne Läufe.db"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			writeFile(t, path, nil)
			d := openFile(t, path)
			whole(t, d, "r1", "q", "r", "a")
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != name {
				t.Errorf("the folder holds %v, %v", files, err)
			}
			if fileSize(t, path) == 0 {
				t.Error("the file is empty")
			}
		})
	}
}

func TestWhatMayNotBeWritten(t *testing.T) { // BEHAVIOUR 11
	dir := t.TempDir()
	file := filepath.Join(dir, "runs.db")
	if err := openAndClose(file); err != nil {
		t.Fatal(err)
	}
	closedDir := filepath.Join(dir, "closed")
	if err := errors.Join(os.Mkdir(closedDir, 0o700), os.Chmod(file, 0o444), os.Chmod(closedDir, 0o555)); err != nil {
		t.Fatal(err)
	}
	if err := openAs(t, dir, file); !strings.Contains(err, ErrReadOnly.Error()) || !strings.Contains(err, file) {
		t.Errorf("a file that may not be written: %s", err)
	}
	if err := openAs(t, dir, filepath.Join(closedDir, "runs.db")); !strings.Contains(err, ErrReadOnly.Error()) || !strings.Contains(err, closedDir) {
		t.Errorf("a folder that may not be written: %s", err)
	}
}

// openAs opens a database as somebody whom the rights of files concern, which
// is anybody but root, and returns what is said.
func openAs(t *testing.T, dir, path string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	if os.Geteuid() == 0 {
		const nobody = 65534
		// The folders that Go makes for tests are its user's alone.
		for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Path = copyProgram(t, dir, self)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), childTask+"=open", childPath+"="+path)
	out, err := cmd.CombinedOutput()
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		t.Fatalf("open %s in a program of its own: %v, %s", path, err, out)
	}
	return string(out)
}

func copyProgram(t *testing.T, dir, self string) string {
	t.Helper()
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	to, err := os.OpenFile(filepath.Join(dir, "program"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, from.Close(), to.Close()); err != nil {
		t.Fatal(err)
	}
	return to.Name()
}

func openAndClose(path string) error {
	d, err := Open(context.Background(), path, Options{})
	if err != nil {
		return err
	}
	return d.Close()
}

func TestAProgramWithoutSearch(t *testing.T) {
	d := openNew(t)
	c, err := d.readers.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := requireOption(t.Context(), c, "ENABLE_FTS5"); err != nil {
		t.Error(err)
	}
	wantErr(t, requireOption(t.Context(), c, "ENABLE_NOTHING_LIKE_IT"), ErrNoSearch)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadersCannotWrite(t *testing.T) {
	d := openNew(t)
	_, err := d.readers.ExecContext(t.Context(), `DELETE FROM runs`)
	wantErr(t, failed(err, "delete"), ErrReadOnly)
}

func TestHowFilesAreOpened(t *testing.T) {
	d := openNew(t)
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "secure_delete": "1", "busy_timeout": "5000",
	} {
		var got string
		err := d.write(t.Context(), "", func(s *session) error { return s.row("PRAGMA " + pragma).Scan(&got) })
		if err != nil || got != want {
			t.Errorf("%s of the writer is %s, %v; want %s", pragma, got, err, want)
		}
	}
}

func TestKindsOfFailure(t *testing.T) { // BEHAVIOUR 11
	tests := map[string]struct {
		err  error
		want error
	}{
		"full":                 {sqlite3.Error{Code: sqlite3.ErrFull}, ErrFull},
		"full, says the disk":  {sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.ENOSPC}, ErrFull},
		"over quota":           {sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.EDQUOT}, ErrFull},
		"a read-only disk":     {sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.EROFS}, ErrReadOnly},
		"read-only":            {sqlite3.Error{Code: sqlite3.ErrReadonly}, ErrReadOnly},
		"the file was moved":   {sqlite3.Error{Code: sqlite3.ErrReadonly, ExtendedCode: sqlite3.ErrReadonlyDbMoved}, ErrReadOnly},
		"no permission":        {sqlite3.Error{Code: sqlite3.ErrPerm}, ErrReadOnly},
		"locked":               {sqlite3.Error{Code: sqlite3.ErrBusy}, ErrBusy},
		"damaged":              {sqlite3.Error{Code: sqlite3.ErrCorrupt}, ErrCorrupt},
		"not a database":       {sqlite3.Error{Code: sqlite3.ErrNotADB}, ErrNotDatabase},
		"cannot be opened":     {sqlite3.Error{Code: sqlite3.ErrCantOpen}, ErrCannotOpen},
		"a disk that fails":    {sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.EIO}, nil},
		"something unexpected": {sqlite3.Error{Code: sqlite3.ErrMisuse}, nil},
		"not of SQLite":        {io.EOF, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := kindOf(tt.err); !errors.Is(got, tt.want) {
				t.Errorf("kind = %v, want %v", got, tt.want)
			}
			err := failed(tt.err, "append to run %s", "r1")
			if !strings.HasPrefix(err.Error(), "append to run r1: ") || !errors.Is(err, tt.err) || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("err = %v", err)
			}
		})
	}
	if failed(nil, "append") != nil {
		t.Error("nothing failed, and it is an error")
	}
}

// change runs statements on a file beside the package.
func change(t *testing.T, path, statements string) {
	t.Helper()
	c, err := sql.Open("sqlite3", address(path, copyPragmas))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.ExecContext(t.Context(), statements)
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withNext are the migrations and one more.
func withNext(t *testing.T, statement string) fstest.MapFS {
	t.Helper()
	all, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, name := range all {
		text, err := migrations.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	files[fmt.Sprintf("migrations/%04d_more.sql", len(all)+1)] = &fstest.MapFile{Data: []byte(statement)}
	return files
}
