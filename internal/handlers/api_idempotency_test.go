package handlers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/labstack/echo/v4"

	"planwave/internal/db"
	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/internal/tools"
)

// A repeat returns the first answer, as it was, and makes nothing.
func TestIdempotencyKeyReturnsTheFirstAnswer(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	body := `{"question":"q","plan":` + planText(diamond()) + `}`
	first := s.want(201, "POST", "/api/v1/runs", body, "Idempotency-Key", "k-1")
	s.want(202, "POST", first.header.Get("Location")+"/cancel", "")
	again := s.want(201, "POST", "/api/v1/runs", body, "Idempotency-Key", "k-1")
	if again.body != first.body || again.header.Get("Location") != first.header.Get("Location") ||
		again.header.Get("Content-Type") != first.header.Get("Content-Type") || again.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the repeat answers %v %s", again.header, again.body)
	}
	other := s.want(201, "POST", "/api/v1/runs", body, "Idempotency-Key", "k-2")
	plain := s.want(201, "POST", "/api/v1/runs", body)
	if n := len(s.list("").Runs); n != 3 || other.body == first.body || plain.body == first.body {
		t.Errorf("%d runs, want 3", n)
	}
}

// A refusal is a first answer, too; another body under the key is refused.
func TestIdempotencyKeyOfARefusal(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	first := s.want(422, "POST", "/api/v1/runs", `{"question":""}`, "Idempotency-Key", "k")
	again := s.want(422, "POST", "/api/v1/runs", `{"question":""}`, "Idempotency-Key", "k")
	if first.body != again.body || first.header.Get("Content-Type") != again.header.Get("Content-Type") {
		t.Errorf("first %s, then %s", first.body, again.body)
	}
	p := problemIn(t, s.want(422, "POST", "/api/v1/runs", `{"question":"q"}`, "Idempotency-Key", "k"))
	if len(p.Errors) != 1 || p.Errors[0].Field != "Idempotency-Key" || !strings.Contains(p.Detail, "new key") {
		t.Errorf("%+v", p)
	}
	if len(s.list("").Runs) != 0 {
		t.Error("a run was made")
	}
}

// A repeat of each call that changes a run returns the first answer, and does
// nothing.
func TestIdempotencyKeyOnEachCall(t *testing.T) {
	s := newSiteOf(t, &scriptedModel{executor: failing("s1")}, parts{tools: []tools.Tool{&notifier{}}})
	partial := s.askGiven(plan.ApprovalAuto)
	s.until(partial, plan.RunStatusPartial)
	spent, _ := outOfBudget(s)
	again := s.askGiven(plan.ApprovalAuto)
	s.until(again, plan.RunStatusPartial)
	waiting := s.askToNotify("hello")
	for _, c := range []struct {
		id, path, body string
		status         int
	}{
		{partial, "/steps/s1/retry", "", 202},
		{spent, "/continue", `{"budget":{"requests":50}}`, 202},
		{again, "/answer", "", 202},
		{again, "/fork", `{"from":["s3"]}`, 201},
		{waiting.ID, "/approvals/" + waiting.Pending[0].ID, `{"decision":"allow"}`, 202},
	} {
		t.Run(c.path, func(t *testing.T) {
			at := "/api/v1/runs/" + c.id
			first := s.want(c.status, "POST", at+c.path, c.body, "Idempotency-Key", "k")
			ended := s.wait(c.id, func(r *plan.Run) bool { return r.Status.Ended() })
			had := len(s.list("").Runs)
			repeat := s.want(c.status, "POST", at+c.path, c.body, "Idempotency-Key", "k")
			if repeat.body != first.body || repeat.header.Get("Location") != first.header.Get("Location") {
				t.Errorf("the repeat answers %s\nthe first %s", repeat.body, first.body)
			}
			now, err := s.runs.Get(t.Context(), c.id)
			if err != nil || now.Seq != ended.Seq || len(s.list("").Runs) != had {
				t.Errorf("the repeat changed the run from %d to %d, %d runs from %d, %v", ended.Seq, now.Seq, len(s.list("").Runs), had, err)
			}
			if other := s.do("POST", at+c.path, `{"other":1}`, "Idempotency-Key", "k"); other.status != 422 {
				t.Errorf("another body under the key answered %d", other.status)
			}
		})
	}
}

// A key means nothing at another address.
func TestIdempotencyKeyIsOfOneAddress(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	one, two := s.askGiven(plan.ApprovalManual), s.askGiven(plan.ApprovalManual)
	for _, id := range []string{one, two, one, two} {
		s.want(202, "POST", "/api/v1/runs/"+id+"/approve", `{"version":1}`, "Idempotency-Key", "k")
	}
	s.until(one, plan.RunStatusSucceeded)
	s.until(two, plan.RunStatusSucceeded)
	s.want(409, "POST", "/api/v1/runs/"+one+"/approve", `{"version":1}`, "Idempotency-Key", "l")
}

func TestIdempotencyKeyThatIsNone(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, key := range []string{strings.Repeat("x", 256), "a b", "ä"} {
		p := problemIn(t, s.want(400, "POST", "/api/v1/runs", `{"question":"q"}`, "Idempotency-Key", key))
		if len(p.Errors) != 1 || p.Errors[0].Field != "Idempotency-Key" {
			t.Errorf("%q: %+v", key, p)
		}
	}
	s.want(201, "POST", "/api/v1/runs", `{"question":"q"}`, "Idempotency-Key", strings.Repeat("x", 255))
}

// Of many at once under one key, one makes a run; the others are told to wait,
// or get its answer.
func TestIdempotencyKeyManyAtOnce(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	const n = 12
	answers := make([]answer, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			answers[i] = s.do("POST", "/api/v1/runs", `{"question":"q","plan":`+planText(diamond())+`}`, "Idempotency-Key", "k")
		})
	}
	wg.Wait()
	places := map[string]bool{}
	for _, a := range answers {
		switch a.status {
		case http.StatusCreated:
			places[a.header.Get("Location")] = true
		case http.StatusConflict:
			if p := problemIn(t, a); p.Code != plan.CodeConflict || a.header.Get("Location") != "" || a.header.Get("Retry-After") != "1" {
				t.Errorf("%v %+v", a.header, p)
			}
		default:
			t.Errorf("answered %d %s", a.status, a.body)
		}
	}
	if len(places) != 1 || len(s.list("").Runs) != 1 {
		t.Errorf("runs at %v, %d in the list", places, len(s.list("").Runs))
	}
}

// A request that was carried out, and whose answer got lost in a crash, is not
// carried out again.
func TestIdempotencyKeyAfterACrash(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	body := `{"question":"q"}`
	// What a server that dies before it answers leaves: the claim, and the run
	// committed with the key.
	k := keyFor("POST", "/api/v1/runs", "k", body)
	if _, err := s.store.Claim(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	p := diamond()
	ask := runs.Ask{Question: "q", Options: plan.DefaultOptions(), Plan: &p, By: "local"}
	r, err := s.runs.Ask(runs.WithKey(t.Context(), k), ask)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a := s.want(201, "POST", "/api/v1/runs", body, "Idempotency-Key", "k")
		if got := a.header.Get("Location"); got != "/api/v1/runs/"+r.ID {
			t.Errorf("Location %q, want the run %s", got, r.ID)
		}
	}
	k = keyFor("POST", "/api/v1/runs/"+r.ID+"/approve", "k", `{"version":1}`)
	if _, err := s.store.Claim(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if _, err := s.runs.Approve(runs.WithKey(t.Context(), k), r.ID, 1, "local"); err != nil {
		t.Fatal(err)
	}
	s.want(202, "POST", "/api/v1/runs/"+r.ID+"/approve", `{"version":1}`, "Idempotency-Key", "k")
	if n := len(s.list("").Runs); n != 1 {
		t.Errorf("%d runs", n)
	}
	s.until(r.ID, plan.RunStatusSucceeded)
}

// After an error of the server the request is carried out again under its key.
func TestIdempotencyKeyAfterAnErrorOfTheServer(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	srv := &server{Config: Config{Store: s.store, Runs: s.runs, Logger: slog.New(slog.NewTextHandler(s.log, nil))}}
	var failures []error
	s.echo.POST("/api/v1/test/flaky", func(c echo.Context) error {
		failures = append(failures, errors.New("no luck"))
		switch len(failures) {
		case 1:
			return failures[0]
		case 2:
			panic("no luck")
		}
		return writeJSON(c, 200, map[string]int{"times": len(failures)})
	}, srv.idempotent)
	var statuses []int
	for range 4 {
		a := s.do("POST", "/api/v1/test/flaky", "", "Idempotency-Key", "k")
		statuses = append(statuses, a.status)
		if a.status == 200 && a.body != `{"times":3}`+"\n" {
			t.Errorf("answered %s", a.body)
		}
	}
	if !slices.Equal(statuses, []int{500, 500, 200, 200}) {
		t.Errorf("answered %v", statuses)
	}
}

// Every error of the database is told in words that say whether anything was
// lost and what to do, and without the cause.
func TestErrorsOfTheDatabase(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), "POST", "/api/v1/runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{db.ErrFull, 507, "Free some space"},
		{db.ErrReadOnly, 503, "right to write"},
		{db.ErrBusy, 503, "locked by another program"},
		{db.ErrClosed, 503, "stopping"},
		{db.ErrConflict, 409, "Look at the run again"},
		{db.ErrInFlight, 409, "Wait a moment"},
		{db.ErrKeyReused, 422, "new key"},
		{db.ErrCursor, 422, "without it"},
		{db.ErrNotFound, 404, "no such run"},
		{db.ErrCorrupt, 500, "log has the details"},
		{fmt.Errorf("%w; and read it again: %w", db.ErrFull, db.ErrNotFound), 507, "was not made"},
	} {
		e := shownTo(r, fmt.Errorf("append to run x: %w (secret cause)", c.err))
		status, _ := kindOf(e.Code)
		if status != c.status || !strings.Contains(e.Message, c.says) || strings.Contains(e.Message, "secret") {
			t.Errorf("%v is shown as %d %q", c.err, status, e.Message)
		}
	}
}

// keyFor is the key of a request of the one person that there is.
func keyFor(method, path, name, body string) db.Key {
	r := httptest.NewRequestWithContext(context.Background(), method, path, nil)
	c := echo.New().NewContext(r, nil)
	c.Set(personKey, local())
	return keyOf(c, name, []byte(body))
}
