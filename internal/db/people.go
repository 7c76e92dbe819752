package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"planwave/internal/people"
)

// What keeps people from being changed.
var (
	// ErrNoPerson is a person who is not there, or no longer.
	ErrNoPerson = errors.New("there is no such person, or no longer")
	// ErrNameTaken is a name that somebody has or had.
	ErrNameTaken = errors.New("somebody has or had this name: take another")
	// ErrLastOwner is a change that would leave nobody to manage people.
	ErrLastOwner = errors.New("this is the last owner: make somebody else an owner first")
	// ErrNoInvite is a link that was never given out, was used, or is over.
	ErrNoInvite = errors.New("the link was used, is over or was withdrawn: ask for a new one")
)

// NewPerson is somebody who joins.
type NewPerson struct {
	ID, Name, Key string
	// Password is its hash, "" where a proxy says who is there.
	Password string
}

// personColumns are those of [scanPerson].
const personColumns = `u.id, u.name, u.role, u.created_at, u.removed_at`

// personRow is a person as it is scanned.
type personRow struct {
	p                people.Person
	created, removed sql.NullInt64
}

func (r *personRow) columns() []any {
	return []any{&r.p.ID, &r.p.Name, &r.p.Role, &r.created, &r.removed}
}

func (r *personRow) person() people.Person {
	r.p.CreatedAt, r.p.RemovedAt = moment(r.created), moment(r.removed)
	return r.p
}

func scanPerson(rows *sql.Rows) (people.Person, error) {
	var r personRow
	err := rows.Scan(r.columns()...)
	return r.person(), err
}

// People lists those who were not removed, in the order in which they joined.
func (d *DB) People(ctx context.Context) ([]people.Person, error) {
	all, err := readAll(ctx, d.readers, scanPerson, `SELECT `+personColumns+` FROM users AS u WHERE u.removed_at IS NULL ORDER BY u.n`)
	return all, failed(err, "list people")
}

// PersonNamed returns the person with the key of a name, also a removed one, with
// the hash of their password; or [ErrNoPerson].
func (d *DB) PersonNamed(ctx context.Context, key string) (p people.Person, password string, err error) {
	var (
		r    personRow
		hash sql.NullString
	)
	err = d.readers.QueryRowContext(ctx, `SELECT `+personColumns+`, u.password FROM users AS u WHERE u.name_key = ?1`, key).
		Scan(append(r.columns(), &hash)...)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoPerson
	}
	return r.person(), hash.String, failed(err, "find a person")
}

// Join makes the person whom an invitation was for, in the role that it gives,
// and uses the invitation up. It returns [ErrNoInvite] or [ErrNameTaken].
func (d *DB) Join(ctx context.Context, invite people.Hash, p NewPerson) (people.Person, error) {
	var joined people.Person
	err := d.write(ctx, "", func(s *session) error {
		now := d.clock()
		var role people.Role
		err := s.row(`
			UPDATE invites SET used_at = ?2
			WHERE hash = ?1 AND used_at IS NULL AND expires_at > ?2
			RETURNING role`, string(invite), millis(now)).Scan(&role)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNoInvite
		}
		if err != nil {
			return err
		}
		joined, err = s.addPerson(p, role, now)
		return err
	})
	return joined, failed(err, "let somebody join")
}

// Known returns the person of a name that a proxy vouches for. A name that is new
// becomes a member, and the first of all an owner. It returns [ErrNoPerson] for
// somebody who was removed.
func (d *DB) Known(ctx context.Context, p NewPerson) (people.Person, error) {
	known, _, err := d.PersonNamed(ctx, p.Key)
	if errors.Is(err, ErrNoPerson) {
		err = d.write(ctx, "", func(s *session) error {
			role := people.Member
			owners, err := s.owners()
			if err != nil {
				return err
			}
			if owners == 0 {
				role = people.Owner
			}
			known, err = s.addPerson(p, role, d.clock())
			return err
		})
		if errors.Is(err, ErrNameTaken) { // by another request of the same person
			known, _, err = d.PersonNamed(ctx, p.Key)
		}
	}
	if err == nil && !known.RemovedAt.IsZero() {
		err = ErrNoPerson
	}
	return known, failed(err, "find who the proxy vouches for")
}

func (s *session) addPerson(p NewPerson, role people.Role, now time.Time) (people.Person, error) {
	_, err := s.exec(`
		INSERT INTO users (id, name, name_key, role, password, created_at)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
		p.ID, p.Name, p.Key, string(role), orNull(p.Password), millis(now))
	if taken(err) {
		err = ErrNameTaken
	}
	return people.Person{ID: p.ID, Name: p.Name, Role: role, CreatedAt: now}, err
}

// owners counts the owners who are there.
func (s *session) owners() (n int, err error) {
	err = s.row(`SELECT count(*) FROM users WHERE role = ?1 AND removed_at IS NULL`, string(people.Owner)).Scan(&n)
	return n, err
}

// HasOwner says whether anybody can manage people.
func (d *DB) HasOwner(ctx context.Context) (bool, error) {
	all, err := d.People(ctx)
	for _, p := range all {
		if p.Role == people.Owner {
			return true, err
		}
	}
	return false, err
}

// SetRole gives a person another role and ends their sessions. It returns
// [ErrNoPerson] or [ErrLastOwner].
func (d *DB) SetRole(ctx context.Context, id string, role people.Role) error {
	err := d.write(ctx, "", func(s *session) error {
		return s.changePerson(id, role == people.Owner, `UPDATE users SET role = ?2 WHERE n = ?1`, string(role))
	})
	return failed(err, "change the role of a person")
}

// RemovePerson keeps a person from coming back: their sessions end and their
// tokens are revoked. Their runs stay. It returns [ErrNoPerson] or
// [ErrLastOwner].
func (d *DB) RemovePerson(ctx context.Context, id string) error {
	err := d.write(ctx, "", func(s *session) error {
		now := millis(d.clock())
		if err := s.changePerson(id, false, `UPDATE users SET removed_at = ?2, password = NULL WHERE n = ?1`, now); err != nil {
			return err
		}
		_, err := s.exec(`
			UPDATE api_tokens SET revoked_at = ?2
			WHERE revoked_at IS NULL AND user = (SELECT n FROM users WHERE id = ?1)`, id, now)
		return err
	})
	return failed(err, "remove a person")
}

// changePerson changes the row of a person who is there, and ends their sessions.
// Somebody has to stay an owner.
func (s *session) changePerson(id string, staysOwner bool, change string, value any) error {
	n, err := s.person(id)
	if err != nil {
		return err
	}
	if _, err := s.exec(change, n, value); err != nil {
		return err
	}
	if owners, err := s.owners(); err != nil || owners == 0 && !staysOwner {
		return errors.Join(err, ErrLastOwner)
	}
	_, err = s.exec(`DELETE FROM sessions WHERE user = ?1`, n)
	return err
}

// person returns the number of a person who is there.
func (s *session) person(id string) (n int64, err error) {
	err = s.row(`SELECT n FROM users WHERE id = ?1 AND removed_at IS NULL`, id).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoPerson
	}
	return n, err
}

// SetPassword gives a person another password and ends their sessions but keep.
func (d *DB) SetPassword(ctx context.Context, id, password string, keep people.Hash) error {
	err := d.write(ctx, "", func(s *session) error {
		n, err := s.person(id)
		if err != nil {
			return err
		}
		if _, err := s.exec(`UPDATE users SET password = ?2 WHERE n = ?1`, n, password); err != nil {
			return err
		}
		_, err = s.exec(`DELETE FROM sessions WHERE user = ?1 AND hash <> ?2`, n, string(keep))
		return err
	})
	return failed(err, "change a password")
}

// OwnerOf returns who asked for a run, or [ErrNotFound].
func (d *DB) OwnerOf(ctx context.Context, runID string) (owner string, err error) {
	err = d.readers.QueryRowContext(ctx, `SELECT owner FROM runs WHERE id = ?1`, runID).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return owner, failed(err, "find who asked for run %s", runID)
}
