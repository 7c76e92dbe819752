package handlers

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"planwave/internal/db"
	"planwave/internal/model"
	"planwave/internal/plan"
)

// sum is a plan whose tool's argument nobody sees who sees no trace.
func sum() plan.Plan {
	return plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "add", Tool: "calculate", Input: []byte(`{"expression":"4321*2"}`)},
		{ID: "s2", Instruction: "tell", DependsOn: []string{"s1"}},
	}}
}

// link keeps a share of a run and returns its path.
func (s *site) link(run string, change func(*db.Share)) (string, db.Share) {
	s.t.Helper()
	token, hash := newToken()
	l := db.Share{ID: "l-" + token, RunID: run, By: "ada", Trace: true, CreatedAt: time.Now()}
	change(&l)
	if err := s.store.AddShare(s.t.Context(), l, hash); err != nil {
		s.t.Fatal(err)
	}
	return "/s/" + token, l
}

// Every route that links open, taken from the router so that none is forgotten,
// is asked by every kind of link.
func TestWhatLinksOpen(t *testing.T) { // BEHAVIOUR 12.6; case 121
	s := newSite(t, &scriptedModel{})
	run, gone := s.start(sum()), s.start(sum())
	s.until(run, plan.RunStatusSucceeded)
	s.until(gone, plan.RunStatusSucceeded)
	r, err := s.runs.Get(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := s.store.Trace(t.Context(), run)
	if err != nil || len(calls) == 0 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	whole, _ := s.link(run, func(*db.Share) {})
	bare, _ := s.link(run, func(l *db.Share) { l.Trace = false })
	expired, _ := s.link(run, func(l *db.Share) { l.ExpiresAt = time.Now().Add(-time.Second) })
	revoked, l := s.link(run, func(*db.Share) {})
	if err := s.store.RevokeShare(t.Context(), run, l.ID); err != nil {
		t.Fatal(err)
	}
	deleted, _ := s.link(gone, func(*db.Share) {})
	s.want(http.StatusNoContent, http.MethodDelete, "/api/v1/runs/"+gone, "")

	hash := strings.TrimPrefix(r.Versions[0].Hash, "sha256:")
	filled := strings.NewReplacer(":hash", hash, ":call", calls[0].ID, ":version", "1")
	traced := map[string]bool{"/run": true, "/events": true, "/calls/:call": true, "/versions/:version": true, "/versions/:version/layout.css": true}
	query := map[string]string{"/live": "?after=1", "/play": "?at=1&play=16", "/moment": "?at=2", "/panel": "?step=s1", "/export": "?format=md", "": "?step=s1"}
	routes := 0
	for _, route := range s.echo.Routes() {
		path, ours := strings.CutPrefix(route.Path, "/s/:token")
		if !ours || route.Method == "echo_route_not_found" {
			continue
		}
		routes++
		if route.Method != http.MethodGet {
			t.Errorf("a link opens %s %s, which is not for reading", route.Method, route.Path)
		}
		at := filled.Replace(path) + query[path]
		without := http.StatusOK
		if traced[path] {
			without = http.StatusNotFound
		}
		for link, status := range map[string]int{
			whole: http.StatusOK, bare: without, expired: http.StatusNotFound, revoked: http.StatusNotFound, deleted: http.StatusNotFound,
			"/s/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": http.StatusNotFound,
		} {
			a := s.do(http.MethodGet, link+at, "")
			if a.status != status {
				t.Errorf("%s%s answered %d, not %d: %.200s", link, at, a.status, status, a.body)
			}
			if cc := a.header.Get("Cache-Control"); !strings.Contains(cc, "no-store") {
				t.Errorf("%s%s may be kept: %q", link, at, cc)
			}
			if a.header.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(a.header.Get("X-Robots-Tag"), "noindex") {
				t.Errorf("%s%s says where it came from, or is indexed", link, at)
			}
			if link == bare && strings.Contains(a.body, "4321*2") {
				t.Errorf("%s without a trace shows a tool's argument", at)
			}
			if a.status == http.StatusOK && strings.Contains(a.body, "/runs/"+run) {
				t.Errorf("%s%s leads to the run's own page", link, at)
			}
		}
	}
	if routes < 12 {
		t.Errorf("links open %d routes only", routes)
	}
	if a := s.do(http.MethodGet, whole+"?step=s1", ""); !strings.Contains(a.body, "4321*2") || !strings.Contains(a.body, "ada shared this run with you.") {
		t.Error("a link with the trace shows no argument, or not who gave it out")
	}
	if a := s.do(http.MethodGet, bare+"/export?format=json", ""); a.status != http.StatusNotFound {
		t.Errorf("the whole log by a link without a trace answered %d", a.status)
	}
	// A link shows one run: the plan of another is not there by its hash.
	other := s.start(diamond())
	o, err := s.runs.Get(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	if a := s.do(http.MethodGet, whole+"/plans/"+strings.TrimPrefix(o.Versions[0].Hash, "sha256:")+"/layout.css", ""); a.status != http.StatusNotFound {
		t.Errorf("the plan of another run answered %d", a.status)
	}
}

func TestLinksAreGivenOutAndTakenBack(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	run := s.askGiven(plan.ApprovalManual)
	shares := "/api/v1/runs/" + run + "/shares"
	var made struct{ ID, URL string }
	s.want(http.StatusCreated, http.MethodPost, shares, `{"expires_in":"168h"}`).json(t, &made)
	url := made.URL
	at, ours := strings.CutPrefix(url, s.url)
	if !ours || len(at) < len("/s/")+22 { // 22 characters are 128 bits
		t.Fatalf("the link is %q", url)
	}
	s.want(http.StatusOK, http.MethodGet, at, "")
	for _, bad := range []string{`{"expires_in":"soon"}`, `{"expires_in":"-1h"}`, `{"expires_in":""}`} {
		if a := s.want(http.StatusUnprocessableEntity, http.MethodPost, shares, bad); !strings.Contains(a.body, "168h") {
			t.Errorf("%s: %s", bad, a.body)
		}
	}
	s.want(http.StatusNotFound, http.MethodPost, "/api/v1/runs/none/shares", `{}`)
	one := shares + "/" + made.ID
	s.want(http.StatusNotFound, http.MethodDelete, shares+"/none", "")
	s.want(http.StatusNoContent, http.MethodDelete, one, "")
	s.want(http.StatusNoContent, http.MethodDelete, one, "") // once more does no harm
	if a := s.want(http.StatusNotFound, http.MethodGet, at, ""); !strings.Contains(a.body, "taken back") {
		t.Errorf("a link that was taken back says %.300s", a.body)
	}
	rows := s.want(http.StatusOK, http.MethodGet, "/runs/"+run, "")
	if strings.Contains(rows.body, strings.TrimPrefix(at, "/s/")) {
		t.Error("the page shows a token")
	}
}

func TestSharingByForms(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	run := s.askGiven(plan.ApprovalManual)
	a := s.form("/runs/"+run+"/shares", map[string][]string{"expires": {"week"}, "trace": {"1"}})
	_, rest, _ := strings.Cut(a.body, s.url+"/s/")
	if a.status != http.StatusOK || len(rest) < 43 {
		t.Fatalf("the form answered %d without a link", a.status)
	}
	s.want(http.StatusOK, http.MethodGet, "/s/"+rest[:43], "")
	if a := s.form("/runs/"+run+"/shares", map[string][]string{"expires": {"soon"}}); a.status != http.StatusUnprocessableEntity {
		t.Errorf("an unknown time answered %d", a.status)
	}
	links, err := s.store.Shares(t.Context(), run)
	if err != nil || len(links) != 1 || !links[0].Trace || links[0].ExpiresAt.IsZero() {
		t.Fatalf("%+v, %v", links, err)
	}
	if a := s.form("/runs/"+run+"/shares/"+links[0].ID+"/revoke", nil); a.status != http.StatusSeeOther {
		t.Errorf("taking it back answered %d", a.status)
	}
	s.want(http.StatusNotFound, http.MethodGet, "/s/"+rest[:43], "")
	if a := s.form("/runs/"+run+"/delete", nil); a.status != http.StatusSeeOther {
		t.Errorf("deleting answered %d", a.status)
	}
	s.want(http.StatusNotFound, http.MethodGet, "/runs/"+run, "")
}

// Streams that are open when a link is taken back, or the run deleted, end with a
// word about it.
func TestOpenStreamsEndWithTheLink(t *testing.T) { // cases 121, 123
	for name, end := range map[string]func(*site, string, db.Share) error{
		"taken back": func(s *site, run string, l db.Share) error { return s.store.RevokeShare(t.Context(), run, l.ID) },
		"deleted":    func(s *site, run string, _ db.Share) error { return s.runs.Delete(t.Context(), run, "me") },
	} {
		s := newSite(t, &scriptedModel{})
		run := s.askGiven(plan.ApprovalManual)
		at, l := s.link(run, func(*db.Share) {})
		var bodies []chan string
		for _, stream := range []string{at + "/live?after=1", at + "/events"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+stream, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := s.client.Do(req) // its headers come at once
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %v, %v", stream, resp, err)
			}
			body := make(chan string, 1)
			bodies = append(bodies, body)
			go func() {
				defer func() { _ = resp.Body.Close() }()
				text, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Error(err)
				}
				body <- string(text)
			}()
		}
		if err := end(s, run, l); err != nil {
			t.Fatal(err)
		}
		for i, body := range bodies {
			select {
			case text := <-body:
				if !strings.Contains(text, "event: done") || name == "deleted" && !strings.Contains(text, "deleted") {
					t.Errorf("%s: stream %d ended with …%s", name, i, text[max(0, len(text)-1500):])
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: stream %d goes on", name, i)
			}
		}
	}
}

// A running run is stopped before it is deleted: nothing is paid for after.
func TestDeletingStopsARun(t *testing.T) { // case 123
	begun := make(chan struct{})
	ended := make(chan struct{}, 10)
	var once sync.Once
	m := &scriptedModel{executor: func(ctx context.Context, _ model.Request) (string, error) {
		once.Do(func() { close(begun) })
		<-ctx.Done()
		ended <- struct{}{}
		return "", ctx.Err()
	}}
	s := newSite(t, m)
	run := s.start(diamond())
	<-begun
	s.want(http.StatusNoContent, http.MethodDelete, "/api/v1/runs/"+run, "")
	<-ended
	s.want(http.StatusNotFound, http.MethodGet, "/api/v1/runs/"+run, "")
	if all, err := s.store.Unfinished(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	s.want(http.StatusNotFound, http.MethodDelete, "/api/v1/runs/"+run, "")
}
