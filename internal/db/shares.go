package db

import (
	"context"
	"database/sql"
	"time"
)

// Share is a link by which others see one run.
type Share struct {
	ID, RunID string
	// By is who shared the run.
	By string
	// Trace says that prompts, outputs and the tools' arguments are shown, too.
	Trace     bool
	CreatedAt time.Time
	// ExpiresAt is zero for a link that does not expire, RevokedAt for one that
	// holds.
	ExpiresAt, RevokedAt time.Time
}

// Open says whether the link opens the run at a time.
func (s Share) Open(now time.Time) bool {
	return s.RevokedAt.IsZero() && (s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt))
}

// AddShare keeps a link under the hash of its token.
func (d *DB) AddShare(ctx context.Context, s Share, hash []byte) error {
	err := d.write(ctx, "", func(tx *session) error {
		run, _, err := tx.at(s.RunID)
		if err != nil {
			return err
		}
		_, err = tx.exec(`
			INSERT INTO shares (id, run, hash, by, trace, created_at, expires_at)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`, s.ID, run, hash, s.By, s.Trace, millis(s.CreatedAt), millis(s.ExpiresAt))
		return err
	})
	return failed(err, "share run %s", s.RunID)
}

// RevokeShare closes a link of a run. Whoever watches the run is woken, so that
// streams by that link end. One that was closed before stays so; one that is not
// there is [ErrNotFound].
func (d *DB) RevokeShare(ctx context.Context, runID, id string) error {
	err := d.write(ctx, runID, func(tx *session) error {
		run, _, err := tx.at(runID)
		if err != nil {
			return err
		}
		changed, err := tx.exec(`UPDATE shares SET revoked_at = ifnull(revoked_at, ?3) WHERE run = ?1 AND id = ?2`, run, id, millis(d.clock()))
		if err == nil && changed == 0 {
			err = ErrNotFound
		}
		return err
	})
	return failed(err, "revoke share %s of run %s", id, runID)
}

// ShareOf returns the link whose token has a hash, also one that is closed. Of an
// unknown token, and of a run that was deleted, it is [ErrNotFound].
func (d *DB) ShareOf(ctx context.Context, hash []byte) (Share, error) {
	found, err := readAll(ctx, d.readers, scanShare, shareColumns+`WHERE s.hash = ?1`, hash)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Share{}, failed(err, "look for a share")
	}
	return found[0], nil
}

// Shares returns the links of a run that are not revoked, the newest first.
func (d *DB) Shares(ctx context.Context, runID string) ([]Share, error) {
	all, err := readAll(ctx, d.readers, scanShare, shareColumns+`WHERE r.id = ?1 AND s.revoked_at IS NULL ORDER BY s.n DESC`, runID)
	return all, failed(err, "list the shares of run %s", runID)
}

const shareColumns = `
	SELECT s.id, r.id, s.by, s.trace, s.created_at, s.expires_at, s.revoked_at
	FROM shares AS s JOIN runs AS r ON r.n = s.run
	`

func scanShare(rows *sql.Rows) (Share, error) {
	var (
		s                         Share
		created, expires, revoked sql.NullInt64
	)
	err := rows.Scan(&s.ID, &s.RunID, &s.By, &s.Trace, &created, &expires, &revoked)
	s.CreatedAt, s.ExpiresAt, s.RevokedAt = moment(created), moment(expires), moment(revoked)
	return s, err
}
