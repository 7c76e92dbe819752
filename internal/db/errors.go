package db

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// What can go wrong, for errors.Is. The error around it says with which
// operation and file.
var (
	// ErrNotFound is a run that is not there, or not any more.
	ErrNotFound = errors.New("there is no such run")
	// ErrConflict is an event whose number is taken or leaves a gap: another
	// writer was there first. Nothing of the batch is written.
	ErrConflict = errors.New("the log of the run is not where the writer took it to be: read the run again")
	// ErrFull is a disk, or a quota, without room.
	ErrFull = errors.New("the disk is full: free some space and try again; nothing was written")
	// ErrReadOnly is a file or folder that cannot be written.
	ErrReadOnly = errors.New("the database cannot be written: give this user the right to write the file and its folder")
	// ErrBusy is a file that another program keeps locked.
	ErrBusy = errors.New("the database is locked by another program: end that program or try again")
	// ErrCorrupt is a file that is damaged.
	ErrCorrupt = errors.New("the database file is damaged: put a backup in its place, with \"planwave restore FILE\"")
	// ErrNotDatabase is a file that is something else.
	ErrNotDatabase = errors.New("the file is not a Planwave database: name another file, or move this one away")
	// ErrNewer is a file written by a newer program than this.
	ErrNewer = errors.New("the database was written by a newer Planwave: use that, or go back to the copy made before it was upgraded")
	// ErrCannotOpen is a file that cannot be opened at all.
	ErrCannotOpen = errors.New("the database file cannot be opened: check that its folder is there and can be read")
	// ErrNoSearch is a program built without full-text search.
	ErrNoSearch = errors.New("this program was built without SQLite's full-text search: build it with -tags sqlite_fts5")
	// ErrClosed is a database that was closed.
	ErrClosed = errors.New("the database is closed")
	// ErrCursor is a cursor that no list gave out.
	ErrCursor = errors.New("the cursor is not one that a list gave out: start again without it")
	// ErrInFlight is a request whose key is claimed by one that is still being
	// carried out.
	ErrInFlight = errors.New("a request with this key is being carried out: wait for its answer")
	// ErrKeyReused is a key that belongs to a different request.
	ErrKeyReused = errors.New("the key was used for a different request: use a new key for a new request")
)

// failed says which operation failed, and adds what kind of failure it is
// where SQLite tells.
func failed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if kind := kindOf(err); kind != nil && !errors.Is(err, kind) {
		return fmt.Errorf("%s: %w (%w)", what, kind, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// kindOf is the one table from SQLite's codes to errors of this package.
func kindOf(err error) error {
	e, ok := errors.AsType[sqlite3.Error](err)
	if !ok {
		return nil
	}
	switch e.Code {
	case sqlite3.ErrFull:
		return ErrFull
	case sqlite3.ErrReadonly, sqlite3.ErrPerm:
		return ErrReadOnly
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrProtocol:
		return ErrBusy
	case sqlite3.ErrCorrupt:
		return ErrCorrupt
	case sqlite3.ErrNotADB:
		return ErrNotDatabase
	case sqlite3.ErrCantOpen:
		return ErrCannotOpen
	case sqlite3.ErrIoErr:
		return kindOfIO(e)
	}
	return nil
}

// kindOfIO tells a full disk from one that fails.
func kindOfIO(e sqlite3.Error) error {
	is := func(no ...syscall.Errno) bool { return slices.Contains(no, e.SystemErrno) }
	switch {
	case is(syscall.ENOSPC, syscall.EDQUOT):
		return ErrFull
	case is(syscall.EROFS, syscall.EACCES, syscall.EPERM):
		return ErrReadOnly
	}
	return nil
}

// taken says whether err is a row that is there already.
func taken(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && (e.ExtendedCode == sqlite3.ErrConstraintPrimaryKey || e.ExtendedCode == sqlite3.ErrConstraintUnique)
}
