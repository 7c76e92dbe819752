package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	// keysKept is how long the answer to a request is kept for its repeats.
	keysKept = 24 * time.Hour
	// claimHeld is how long a request that shows no sign of life keeps its
	// claim: longer than any request takes.
	claimHeld = 2 * time.Minute
)

// Key names a request that may be sent more than once and must be carried out
// once.
type Key struct {
	// Scope is who sent it and to where; a key means nothing outside its scope.
	Scope string
	// Key is what the sender named it.
	Key string
	// Fingerprint tells the content of the request from any other.
	Fingerprint string
}

// Answer is the first answer to a request.
type Answer struct {
	// RunID is the run that the request made or changed, "" for none. The
	// answer is forgotten when that run is deleted.
	RunID string
	// Status is 0 when the request was carried out and its answer got lost:
	// what it did to the run is in the run.
	Status int
	Header map[string][]string
	Body   []byte
}

// Claim is called before a request is carried out. It returns nil when the
// caller is to do so, and then to call Keep or Release; or the first answer when
// it was carried out before. It returns [ErrInFlight] while another is carrying it out, and
// [ErrKeyReused] when the key belongs to a different request.
func (d *DB) Claim(ctx context.Context, k Key) (*Answer, error) {
	now := d.clock()
	var answer *Answer
	err := d.write(ctx, "", func(s *session) error {
		answer = nil
		if _, err := s.exec(`DELETE FROM keys WHERE claimed_at <= ?1`, millis(now.Add(-keysKept))); err != nil {
			return err
		}
		changed, err := s.exec(`
			INSERT INTO keys (scope, key, fingerprint, claimed_at)
			VALUES (?1, ?2, ?3, ?4)
			ON CONFLICT (scope, key) DO UPDATE SET
				claimed_at = ?4
			WHERE fingerprint = ?3 AND status IS NULL AND run IS NULL AND claimed_at <= ?5`,
			k.Scope, k.Key, k.Fingerprint, millis(now), millis(now.Add(-claimHeld)))
		if err != nil || changed == 1 {
			return err
		}
		answer, err = s.keptAnswer(k)
		return err
	})
	if err != nil {
		return nil, failed(err, "claim the key %q", k.Key)
	}
	return answer, nil
}

// keptAnswer returns the first answer to the request, or why there is none.
func (s *session) keptAnswer(k Key) (*Answer, error) {
	var (
		a           Answer
		fingerprint string
		run, header sql.NullString
		status      sql.NullInt64
	)
	err := s.row(`
		SELECT k.fingerprint, k.status, k.header, k.body, r.id
		FROM keys AS k LEFT JOIN runs AS r ON r.n = k.run
		WHERE k.scope = ?1 AND k.key = ?2`, k.Scope, k.Key).
		Scan(&fingerprint, &status, &header, &a.Body, &run)
	switch {
	case err != nil:
		return nil, err
	case fingerprint != k.Fingerprint:
		return nil, ErrKeyReused
	case !status.Valid && !run.Valid:
		return nil, ErrInFlight
	}
	a.RunID, a.Status = run.String, int(status.Int64)
	if header.Valid {
		err = json.Unmarshal([]byte(header.String), &a.Header)
	}
	return &a, err
}

// Keep stores the answer to a claimed request for its repeats.
func (d *DB) Keep(ctx context.Context, k Key, a Answer) error {
	header, err := json.Marshal(a.Header)
	if err != nil {
		return fmt.Errorf("keep the answer to key %q: %w", k.Key, err)
	}
	err = d.write(ctx, "", func(s *session) error {
		var run any
		if a.RunID != "" {
			n, _, err := s.at(a.RunID)
			if errors.Is(err, ErrNotFound) {
				// The run was deleted meanwhile, and its answers with it.
				_, err = s.exec(`DELETE FROM keys WHERE scope = ?1 AND key = ?2`, k.Scope, k.Key)
				return err
			}
			if err != nil {
				return err
			}
			run = n
		}
		_, err := s.exec(`
			UPDATE keys SET
				status = ?4,
				header = ?5,
				body = ?6,
				run = coalesce(?7, run)
			WHERE scope = ?1 AND key = ?2 AND fingerprint = ?3 AND status IS NULL`,
			k.Scope, k.Key, k.Fingerprint, a.Status, string(header), a.Body, run)
		return err
	})
	return failed(err, "keep the answer to key %q", k.Key)
}

// Release gives up a claim, so that a repeat is carried out. A request that has
// changed a run keeps it.
func (d *DB) Release(ctx context.Context, k Key) error {
	err := d.write(ctx, "", func(s *session) error {
		_, err := s.exec(`
			DELETE FROM keys
			WHERE scope = ?1 AND key = ?2 AND fingerprint = ?3 AND status IS NULL AND run IS NULL`,
			k.Scope, k.Key, k.Fingerprint)
		return err
	})
	return failed(err, "release the key %q", k.Key)
}

// carryOut marks the request as carried out on the run, in the transaction
// that does so. Of two at once, one does.
func (s *session) carryOut(run int64, k *Key, now time.Time) error {
	if k == nil {
		return nil
	}
	changed, err := s.exec(`
		INSERT INTO keys (scope, key, fingerprint, claimed_at, run)
		VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (scope, key) DO UPDATE SET
			run = ?5
		WHERE fingerprint = ?3 AND status IS NULL AND run IS NULL`,
		k.Scope, k.Key, k.Fingerprint, millis(now), run)
	if err == nil && changed == 0 {
		return ErrInFlight
	}
	return err
}
