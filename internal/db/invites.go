package db

import (
	"context"
	"database/sql"
	"errors"

	"planwave/internal/people"
)

// inviteColumns are those of inviteRow.
const inviteColumns = `i.id, i.role, coalesce(u.name, ''), i.expires_at`

func scanInvite(scan func(...any) error) (i people.Invite, err error) {
	var expires sql.NullInt64
	err = scan(&i.ID, &i.Role, &i.By, &expires)
	i.ExpiresAt = moment(expires)
	return i, err
}

// AddInvite keeps a link. The person who invites is named by id, "" for the
// program, whose links before are withdrawn.
func (d *DB) AddInvite(ctx context.Context, i people.Invite, by string) error {
	err := d.write(ctx, "", func(s *session) error {
		now := d.clock()
		if by == "" {
			if _, err := s.exec(`DELETE FROM invites WHERE invited_by IS NULL AND used_at IS NULL`); err != nil {
				return err
			}
		}
		if _, err := s.exec(`DELETE FROM invites WHERE expires_at <= ?1 AND used_at IS NULL`, millis(now)); err != nil {
			return err
		}
		_, err := s.exec(`
			INSERT INTO invites (id, hash, role, invited_by, created_at, expires_at)
			VALUES (?1, ?2, ?3, (SELECT n FROM users WHERE id = ?4), ?5, ?6)`,
			i.ID, string(i.Hash), string(i.Role), by, millis(now), millis(i.ExpiresAt))
		return err
	})
	return failed(err, "invite somebody")
}

// Invites lists the links that can still be used.
func (d *DB) Invites(ctx context.Context) ([]people.Invite, error) {
	scan := func(rows *sql.Rows) (people.Invite, error) { return scanInvite(rows.Scan) }
	all, err := readAll(ctx, d.readers, scan, `
		SELECT `+inviteColumns+`
		FROM invites AS i LEFT JOIN users AS u ON u.n = i.invited_by
		WHERE i.used_at IS NULL AND i.expires_at > ?1
		ORDER BY i.n`, millis(d.clock()))
	return all, failed(err, "list invitations")
}

// InviteOf returns the invitation of a link that can still be used, or
// [ErrNoInvite].
func (d *DB) InviteOf(ctx context.Context, hash people.Hash) (people.Invite, error) {
	i, err := scanInvite(d.readers.QueryRowContext(ctx, `
		SELECT `+inviteColumns+`
		FROM invites AS i LEFT JOIN users AS u ON u.n = i.invited_by
		WHERE i.hash = ?1 AND i.used_at IS NULL AND i.expires_at > ?2`, string(hash), millis(d.clock())).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoInvite
	}
	return i, failed(err, "look at an invitation")
}

// WithdrawInvite takes a link back. One that is not there is no error.
func (d *DB) WithdrawInvite(ctx context.Context, id string) error {
	err := d.write(ctx, "", func(s *session) error {
		_, err := s.exec(`DELETE FROM invites WHERE id = ?1 AND used_at IS NULL`, id)
		return err
	})
	return failed(err, "withdraw an invitation")
}
