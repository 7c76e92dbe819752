package db

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"planwave/internal/people"
)

// house is a database of people whose clock is moved by hand.
type house struct {
	*DB
	t   *testing.T
	now time.Time
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, now: epoch}
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), Options{Clock: func() time.Time { return h.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	h.DB = d
	return h
}

// ok fails the test at an error.
func (h *house) ok(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// is fails the test at any other error.
func (h *house) is(err, want error) {
	h.t.Helper()
	if !errors.Is(err, want) {
		h.t.Errorf("%v, want %v", err, want)
	}
}

// invite keeps a link of a secret.
func (h *house) invite(secret string, role people.Role, by string) {
	h.t.Helper()
	h.ok(h.AddInvite(h.t.Context(), people.Invite{ID: "i-" + secret, Hash: people.HashOf(secret), Role: role, ExpiresAt: h.now.Add(time.Hour)}, by))
}

// add makes a person.
func (h *house) add(name string, role people.Role) people.Person {
	h.t.Helper()
	h.invite(name, role, "")
	p, err := h.Join(h.t.Context(), people.HashOf(name), NewPerson{ID: "id-" + name, Name: name, Key: name, Password: "hash of " + name})
	h.ok(err)
	return p
}

func TestJoiningUsesALinkUp(t *testing.T) {
	h := newHouse(t)
	ada := h.add("ada", people.Owner)
	if ada.Role != people.Owner || !ada.CreatedAt.Equal(epoch) {
		t.Errorf("joined %+v", ada)
	}
	_, err := h.Join(t.Context(), people.HashOf("ada"), NewPerson{ID: "x", Name: "x", Key: "x"})
	h.is(err, ErrNoInvite)
	h.invite("second", people.Viewer, ada.ID)
	_, err = h.Join(t.Context(), people.HashOf("second"), NewPerson{ID: "y", Name: "Ada", Key: "ada"})
	h.is(err, ErrNameTaken)
	open, err := h.Invites(t.Context())
	h.ok(err)
	if len(open) != 1 || open[0].By != "ada" || open[0].Role != people.Viewer {
		t.Errorf("a name that is taken used the link up, or %+v", open)
	}
	i, err := h.InviteOf(t.Context(), people.HashOf("second"))
	h.ok(err)
	h.ok(h.WithdrawInvite(t.Context(), i.ID))
	_, err = h.InviteOf(t.Context(), people.HashOf("second"))
	h.is(err, ErrNoInvite)
	h.invite("third", people.Member, ada.ID)
	h.now = h.now.Add(time.Hour)
	_, err = h.Join(t.Context(), people.HashOf("third"), NewPerson{ID: "z", Name: "z", Key: "z"})
	h.is(err, ErrNoInvite)
}

func TestALinkIsUsedOnceOfManyAtOnce(t *testing.T) {
	h := newHouse(t)
	h.invite("one", people.Owner, "")
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() {
			name := fmt.Sprint("p", i)
			_, errs[i] = h.Join(t.Context(), people.HashOf("one"), NewPerson{ID: name, Name: name, Key: name})
		})
	}
	wg.Wait()
	joined := 0
	for _, err := range errs {
		if err == nil {
			joined++
		} else {
			h.is(err, ErrNoInvite)
		}
	}
	if all, err := h.People(t.Context()); err != nil || len(all) != 1 || joined != 1 {
		t.Errorf("%d joined: %v, %v", joined, all, err)
	}
}

func TestTheProgramsOwnLinkReplacesTheOneBefore(t *testing.T) {
	h := newHouse(t)
	h.invite("first start", people.Owner, "")
	h.invite("second start", people.Owner, "")
	_, err := h.InviteOf(t.Context(), people.HashOf("first start"))
	h.is(err, ErrNoInvite)
	i, err := h.InviteOf(t.Context(), people.HashOf("second start"))
	if h.ok(err); i.By != "" {
		t.Errorf("it is from %q", i.By)
	}
}

func TestWhoIsRemovedKeepsTheirName(t *testing.T) {
	h := newHouse(t)
	ada, ben := h.add("ada", people.Owner), h.add("ben", people.Member)
	h.ok(h.AddSession(t.Context(), "s1", ben.ID, h.now.Add(time.Hour)))
	h.ok(h.AddToken(t.Context(), people.Token{ID: "t1", Hash: "t1", Label: "l"}, ben.ID))
	h.ok(h.RemovePerson(t.Context(), ben.ID))
	_, err := h.Session(t.Context(), "s1")
	h.is(err, ErrNoSession)
	_, err = h.PersonOfToken(t.Context(), "t1")
	h.is(err, ErrNoSession)
	gone, password, err := h.PersonNamed(t.Context(), "ben")
	if h.ok(err); gone.RemovedAt.IsZero() || password != "" {
		t.Errorf("removed: %+v with password %q", gone, password)
	}
	h.invite("again", people.Member, ada.ID)
	_, err = h.Join(t.Context(), people.HashOf("again"), NewPerson{ID: "new", Name: "Ben", Key: "ben"})
	h.is(err, ErrNameTaken)
	h.is(h.RemovePerson(t.Context(), ben.ID), ErrNoPerson)
	h.is(h.SetRole(t.Context(), ben.ID, people.Owner), ErrNoPerson)
	h.is(h.SetPassword(t.Context(), ben.ID, "x", ""), ErrNoPerson)
	h.is(h.AddSession(t.Context(), "s2", ben.ID, h.now.Add(time.Hour)), ErrNoPerson)
	h.is(h.AddToken(t.Context(), people.Token{ID: "t2", Hash: "t2"}, ben.ID), ErrNoPerson)
	_, _, err = h.PersonNamed(t.Context(), "nobody")
	h.is(err, ErrNoPerson)
}

func TestSomebodyStaysAnOwner(t *testing.T) {
	h := newHouse(t)
	if has, err := h.HasOwner(t.Context()); err != nil || has {
		t.Errorf("nobody is there, and there is an owner: %v", err)
	}
	ada, ben := h.add("ada", people.Owner), h.add("ben", people.Owner)
	var wg sync.WaitGroup
	errs := make([]error, 2)
	wg.Go(func() { errs[0] = h.RemovePerson(t.Context(), ada.ID) })
	wg.Go(func() { errs[1] = h.SetRole(t.Context(), ben.ID, people.Viewer) })
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("of two owners both went, or neither: %v", errs)
	}
	h.is(errors.Join(errs...), ErrLastOwner)
	if has, err := h.HasOwner(t.Context()); err != nil || !has {
		t.Errorf("nobody is left: %v", err)
	}
}

func TestARoleThatChangesEndsSessions(t *testing.T) {
	h := newHouse(t)
	ada, ben := h.add("ada", people.Owner), h.add("ben", people.Member)
	h.ok(h.AddSession(t.Context(), "a", ada.ID, h.now.Add(time.Hour)))
	h.ok(h.AddSession(t.Context(), "b", ben.ID, h.now.Add(time.Hour)))
	h.ok(h.SetRole(t.Context(), ben.ID, people.Viewer))
	_, err := h.Session(t.Context(), "b")
	h.is(err, ErrNoSession)
	_, err = h.Session(t.Context(), "a")
	h.ok(err)
}

func TestSessionsEnd(t *testing.T) {
	h := newHouse(t)
	ada := h.add("ada", people.Owner)
	for _, s := range []people.Hash{"one", "two", "three"} {
		h.ok(h.AddSession(t.Context(), s, ada.ID, h.now.Add(30*24*time.Hour)))
	}
	s, err := h.Session(t.Context(), "one")
	if h.ok(err); s.Person.Name != "ada" || !s.ExpiresAt.Equal(h.now.Add(30*24*time.Hour)) || !s.Person.CreatedAt.Equal(epoch) {
		t.Errorf("%+v", s)
	}
	h.ok(h.EndSession(t.Context(), "one"))
	_, err = h.Session(t.Context(), "one")
	h.is(err, ErrNoSession)
	h.ok(h.SetPassword(t.Context(), ada.ID, "new", "two"))
	_, err = h.Session(t.Context(), "three")
	h.is(err, ErrNoSession)
	for range 5 {
		h.now = h.now.Add(sessionIdle - time.Second)
		if _, err = h.Session(t.Context(), "two"); h.now.Before(epoch.Add(30 * 24 * time.Hour)) {
			h.ok(err)
		}
	}
	h.is(err, ErrNoSession)
	h.ok(h.AddSession(t.Context(), "four", ada.ID, h.now.Add(time.Hour)))
	var kept int
	h.ok(h.readers.QueryRowContext(t.Context(), `SELECT count(*) FROM sessions`).Scan(&kept))
	if kept != 1 {
		t.Errorf("%d sessions are kept, want those that are not over", kept)
	}
	h.ok(h.EndSessions(t.Context(), ada.ID))
	_, err = h.Session(t.Context(), "four")
	h.is(err, ErrNoSession)
}

func TestTokensAreOnesOwn(t *testing.T) {
	h := newHouse(t)
	ada, ben := h.add("ada", people.Owner), h.add("ben", people.Member)
	h.ok(h.AddToken(t.Context(), people.Token{ID: "t1", Hash: "h1", Label: "ci"}, ada.ID))
	p, err := h.PersonOfToken(t.Context(), "h1")
	if h.ok(err); p.ID != ada.ID {
		t.Errorf("it is %+v's", p)
	}
	list, err := h.Tokens(t.Context(), ada.ID)
	if h.ok(err); len(list) != 1 || list[0].Label != "ci" || !list[0].SeenAt.Equal(epoch) {
		t.Errorf("tokens %+v", list)
	}
	_, err = h.RevokeToken(t.Context(), ben.ID, "t1")
	h.is(err, ErrNoSession)
	hash, err := h.RevokeToken(t.Context(), ada.ID, "t1")
	if h.ok(err); hash != "h1" {
		t.Errorf("revoked %q", hash)
	}
	_, err = h.PersonOfToken(t.Context(), "h1")
	h.is(err, ErrNoSession)
	if list, err := h.Tokens(t.Context(), ada.ID); err != nil || len(list) > 0 {
		t.Errorf("tokens %+v, %v", list, err)
	}
}

func TestWhomAProxyVouchesFor(t *testing.T) {
	h := newHouse(t)
	var wg sync.WaitGroup
	got := make([]people.Person, 10)
	errs := make([]error, 10)
	for i := range got {
		wg.Go(func() {
			got[i], errs[i] = h.Known(t.Context(), NewPerson{ID: fmt.Sprint("id", i), Name: "ada", Key: "ada"})
		})
	}
	wg.Wait()
	for i := range got {
		h.ok(errs[i])
		if got[i].ID != got[0].ID || got[i].Role != people.Owner {
			t.Errorf("one person is two: %+v, %+v", got[0], got[i])
		}
	}
	ben, err := h.Known(t.Context(), NewPerson{ID: "ben", Name: "ben", Key: "ben"})
	if h.ok(err); ben.Role != people.Member {
		t.Errorf("the second is %s", ben.Role)
	}
	h.ok(h.RemovePerson(t.Context(), ben.ID))
	_, err = h.Known(t.Context(), NewPerson{ID: "ben2", Name: "ben", Key: "ben"})
	h.is(err, ErrNoPerson)
}

func TestWhoAskedForARun(t *testing.T) {
	d := openNew(t)
	s := whole(t, d, "r1", "q", "r", "a")
	if owner, err := d.OwnerOf(t.Context(), "r1"); err != nil || owner != s.run.By {
		t.Errorf("%q, %v; want %q", owner, err, s.run.By)
	}
	if _, err := d.OwnerOf(t.Context(), "nothere"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
