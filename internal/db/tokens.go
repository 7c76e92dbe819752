package db

import (
	"context"
	"database/sql"
	"errors"

	"planwave/internal/people"
)

// AddToken keeps a token of a person.
func (d *DB) AddToken(ctx context.Context, t people.Token, personID string) error {
	err := d.write(ctx, "", func(s *session) error {
		n, err := s.person(personID)
		if err != nil {
			return err
		}
		_, err = s.exec(`
			INSERT INTO api_tokens (id, hash, user, label, created_at)
			VALUES (?1, ?2, ?3, ?4, ?5)`, t.ID, string(t.Hash), n, t.Label, millis(d.clock()))
		return err
	})
	return failed(err, "keep a token")
}

// Tokens lists the tokens of a person that were not revoked.
func (d *DB) Tokens(ctx context.Context, personID string) ([]people.Token, error) {
	scan := func(rows *sql.Rows) (t people.Token, err error) {
		var created, seen sql.NullInt64
		err = rows.Scan(&t.ID, &t.Label, &created, &seen)
		t.CreatedAt, t.SeenAt = moment(created), moment(seen)
		return t, err
	}
	all, err := readAll(ctx, d.readers, scan, `
		SELECT t.id, t.label, t.created_at, t.seen_at
		FROM api_tokens AS t JOIN users AS u ON u.n = t.user
		WHERE u.id = ?1 AND t.revoked_at IS NULL
		ORDER BY t.n`, personID)
	return all, failed(err, "list tokens")
}

// PersonOfToken returns who a token belongs to, or [ErrNoSession], and notes that
// it is used.
func (d *DB) PersonOfToken(ctx context.Context, hash people.Hash) (people.Person, error) {
	now := d.clock()
	var (
		r    personRow
		seen sql.NullInt64
	)
	err := d.readers.QueryRowContext(ctx, `
		SELECT `+personColumns+`, t.seen_at
		FROM api_tokens AS t JOIN users AS u ON u.n = t.user
		WHERE t.hash = ?1 AND t.revoked_at IS NULL AND u.removed_at IS NULL`, string(hash)).Scan(append(r.columns(), &seen)...)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoSession
	}
	if err == nil && now.Sub(moment(seen)) >= seenEvery {
		err = d.write(ctx, "", func(s *session) error {
			_, err := s.exec(`UPDATE api_tokens SET seen_at = ?2 WHERE hash = ?1`, string(hash), millis(now))
			return err
		})
	}
	return r.person(), failed(err, "find a token")
}

// RevokeToken ends a token of a person, and returns its hash; it returns
// [ErrNoSession] when the person has no such token.
func (d *DB) RevokeToken(ctx context.Context, personID, id string) (hash people.Hash, err error) {
	err = d.write(ctx, "", func(s *session) error {
		err := s.row(`
			UPDATE api_tokens SET revoked_at = ?3
			WHERE id = ?2 AND user = (SELECT n FROM users WHERE id = ?1) AND revoked_at IS NULL
			RETURNING hash`, personID, id, millis(d.clock())).Scan(&hash)
		if errors.Is(err, sql.ErrNoRows) {
			err = ErrNoSession
		}
		return err
	})
	return hash, failed(err, "revoke a token")
}
