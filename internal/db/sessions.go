package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"planwave/internal/people"
)

const (
	// sessionIdle is how long a session lasts that nobody uses.
	sessionIdle = 7 * 24 * time.Hour
	// seenEvery is how often it is noted that a session or a token is used.
	seenEvery = 10 * time.Minute
)

// ErrNoSession is a session or token that was never there, is over or was
// ended.
var ErrNoSession = errors.New("the session or token is over")

// AddSession keeps the session of a person who has just logged in, and forgets
// those that are over.
func (d *DB) AddSession(ctx context.Context, hash people.Hash, personID string, expires time.Time) error {
	err := d.write(ctx, "", func(s *session) error {
		now := d.clock()
		n, err := s.person(personID)
		if err != nil {
			return err
		}
		if _, err := s.exec(`DELETE FROM sessions WHERE expires_at <= ?1`, millis(now)); err != nil {
			return err
		}
		_, err = s.exec(`
			INSERT INTO sessions (hash, user, created_at, seen_at, expires_at)
			VALUES (?1, ?2, ?3, ?3, ?4)`, string(hash), n, millis(now), millis(expires))
		return err
	})
	return failed(err, "log somebody in")
}

// Session returns the session of a secret, or [ErrNoSession], and notes that it is
// used.
func (d *DB) Session(ctx context.Context, hash people.Hash) (people.Session, error) {
	now := d.clock()
	var (
		r             personRow
		seen, expires sql.NullInt64
	)
	err := d.readers.QueryRowContext(ctx, `
		SELECT `+personColumns+`, s.seen_at, s.expires_at
		FROM sessions AS s JOIN users AS u ON u.n = s.user
		WHERE s.hash = ?1 AND s.expires_at > ?2 AND s.seen_at > ?3 AND u.removed_at IS NULL`,
		string(hash), millis(now), millis(now.Add(-sessionIdle))).Scan(append(r.columns(), &seen, &expires)...)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoSession
	}
	if err == nil && now.Sub(moment(seen)) >= seenEvery {
		err = d.write(ctx, "", func(s *session) error {
			_, err := s.exec(`UPDATE sessions SET seen_at = ?2 WHERE hash = ?1`, string(hash), millis(now))
			return err
		})
	}
	return people.Session{Hash: hash, Person: r.person(), SeenAt: moment(seen), ExpiresAt: moment(expires)}, failed(err, "find a session")
}

// EndSession ends one session.
func (d *DB) EndSession(ctx context.Context, hash people.Hash) error {
	err := d.write(ctx, "", func(s *session) error {
		_, err := s.exec(`DELETE FROM sessions WHERE hash = ?1`, string(hash))
		return err
	})
	return failed(err, "log somebody out")
}

// EndSessions ends all sessions of a person.
func (d *DB) EndSessions(ctx context.Context, personID string) error {
	err := d.write(ctx, "", func(s *session) error {
		_, err := s.exec(`DELETE FROM sessions WHERE user = (SELECT n FROM users WHERE id = ?1)`, personID)
		return err
	})
	return failed(err, "log somebody out everywhere")
}
