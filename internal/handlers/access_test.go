package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"planwave/internal/people"
	"planwave/internal/plan"
)

// expected is what a route is thought to do, written down a second time: what is
// not listed reads by GET and changes its run else.
func expected(method, path string) action {
	route := method + " " + path
	for what, routes := range map[action][]string{
		toPass: {
			"GET /static/*", "GET /healthz", "GET /readyz", "POST /theme", "GET /login", "POST /login", "GET /join/:token", "POST /join/:token",
		},
		toRead: {"POST /api/v1/plans/check", "POST /api/v1/plans/affected", "POST /api/v1/plans/layout"},
		toAsk: {
			"POST /runs", "POST /runs/import", "POST /runs/:id/fork", "POST /settings/test", "POST /api/v1/runs", "POST /api/v1/runs/import",
			"POST /api/v1/runs/:id/fork", "POST /api/v1/runs/:id/replay",
		},
		toKeepAccount: {
			"POST /logout", "POST /logout/everywhere", "POST /settings/password", "POST /settings/tokens", "POST /settings/tokens/:token/revoke",
		},
		toManage: {
			"POST /settings/people/:person/role", "POST /settings/people/:person/remove", "POST /settings/invites", "POST /settings/invites/:invite/withdraw",
			"POST /settings/backup",
		},
	} {
		if slices.Contains(routes, route) {
			return what
		}
	}
	if method == http.MethodGet {
		return toRead
	}
	return toChange
}

// Every route × everybody: who is let in, who is asked to log in, who is refused.
func TestEveryRouteIsOpenToThoseWhoMay(t *testing.T) { // issue 6, 4 and 6
	s := newTeam(t, &scriptedModel{})
	mia := s.joined("mia", people.Member)
	who := map[string]people.Person{
		"viewer": s.joined("vic", people.Viewer), "other member": s.joined("max", people.Member), "own member": mia, "owner": s.joined("olga", people.Owner),
	}
	lets := map[string][]action{
		"viewer": {toPass, toRead, toKeepAccount}, "other member": {toPass, toRead, toKeepAccount, toAsk},
		"own member": {toPass, toRead, toKeepAccount, toAsk, toChange}, "owner": {toPass, toRead, toKeepAccount, toAsk, toChange, toManage},
	}
	ended := s.askAs(s.cookie(mia))
	s.until(ended, plan.RunStatusSucceeded)
	seen := 0
	for _, r := range s.echo.Routes() {
		if strings.HasPrefix(r.Path, sharedPrefix) {
			continue // the share decides
		}
		what := expected(r.Method, r.Path)
		send := func(headers ...string) answer {
			id := ended
			if r.Method != http.MethodGet && strings.Contains(r.Path, ":id") {
				id = s.askAs(s.cookie(mia))
			}
			path := strings.NewReplacer(":id", id, ":version", "1", ":step", "s1", ":person", s.joined("p"+people.NewSecret(), people.Member).ID,
				":token", "x", ":invite", "x", ":call", "x", ":hash", "x", ":share", "x", ":approval", "x", "*", "x").Replace(r.Path)
			kind := "application/x-www-form-urlencoded"
			if strings.HasPrefix(path, "/api/") {
				kind = "application/json"
			}
			return s.do(r.Method, path, "{}", append([]string{"Content-Type", kind, "Accept", "text/html"}, headers...)...)
		}
		t.Run(r.Method+" "+r.Path, func(t *testing.T) {
			seen++
			a := send()
			leads := strings.HasPrefix(a.header.Get("Location"), "/login")
			program := strings.HasPrefix(r.Path, "/api/") || strings.HasSuffix(r.Path, "/live") || strings.HasSuffix(r.Path, "/play") || r.Path == "/metrics"
			switch {
			case what == toPass && (a.status == http.StatusUnauthorized || leads):
				t.Errorf("nobody is let in: %d", a.status)
			case what != toPass && program && a.status != http.StatusUnauthorized, what != toPass && !program && (a.status != http.StatusSeeOther || !leads):
				t.Errorf("nobody is answered %d to %q", a.status, a.header.Get("Location"))
			}
			for name, p := range who {
				a := send(s.cookie(p)...)
				in := a.status != http.StatusUnauthorized && a.status != http.StatusForbidden && a.status < http.StatusInternalServerError
				if want := slices.Contains(lets[name], what); in != want || !in && a.status != http.StatusForbidden {
					t.Errorf("%s is answered %d; let in: %v, want %v\n%.300s", name, a.status, in, want, a.body)
				}
			}
		})
	}
	if seen < len(actions()) {
		t.Errorf("%d routes, and %d are in the table", seen, len(actions()))
	}
}

func TestARouteOfWhichNobodySaysWhoMayIsRefused(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for _, r := range s.echo.Routes() {
		if _, ok := actions()[r.Method+" "+r.Path]; !ok && !strings.HasPrefix(r.Path, sharedPrefix) {
			t.Errorf("%s %s is not in the table of actions", r.Method, r.Path)
		}
	}
	forgotten := &server{actions: actions(), routed: map[string]bool{"GET /new": true}}
	e := echo.New()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/new", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := e.NewContext(r, nil)
	c.SetPath("/new")
	if _, err := forgotten.needOf(c); err == nil {
		t.Error("a route that is not in the table is let through")
	}
	c.SetPath("/s/:token")
	if what, err := forgotten.needOf(c); err != nil || what != toPass {
		t.Errorf("a shared run needs %q, %v", what, err)
	}
}

func TestAnUnknownRoleMayNothing(t *testing.T) {
	p := person{Person: people.Person{Name: "x", Role: "admin"}}
	for _, what := range []action{toAsk, toChange, toManage} {
		if may(p, what, "x") == nil {
			t.Errorf("an unknown role may %s", what)
		}
	}
	if may(person{}, toRead, "") == nil || may(person{}, toChange, "") == nil {
		t.Error("nobody may read or change")
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	s := newTeam(t, &scriptedModel{})
	mia, max, vic, olga := s.joined("mia", people.Member), s.joined("max", people.Member), s.joined("vic", people.Viewer), s.joined("olga", people.Owner)
	run := s.askAs(s.cookie(mia))
	s.says(s.post("/runs/"+run+"/cancel", nil, s.cookie(max)...), http.StatusForbidden, "This run is mia&#39;s")
	s.says(s.post("/runs", askForm("q"), s.cookie(vic)...), http.StatusForbidden, "change nothing")
	s.says(s.post("/settings/invites", url.Values{"role": {"owner"}}, s.cookie(mia)...), http.StatusForbidden, "Only owners")
	s.says(s.post("/settings/invites", url.Values{"role": {"owner"}}, s.token(olga)...), http.StatusForbidden, "A token cannot")
	s.says(s.do("GET", "/api/v1/runs", ""), http.StatusUnauthorized, "Authorization: Bearer")
	s.says(s.do("GET", "/api/v1/runs", "", "Authorization", "Bearer nonsense"), http.StatusUnauthorized, "was revoked")
	if a := s.do("GET", "/api/v1/runs", ""); a.header.Get("WWW-Authenticate") == "" {
		t.Error("a program is not told how to log in")
	}
	s.says(s.post("/runs/nothere/cancel", nil, s.cookie(max)...), http.StatusNotFound, "nothere")
	s.says(s.get("/nothere", s.cookie(max)...), http.StatusNotFound, "There is nothing at")
	s.leads(s.get("/nothere"), "/login?return=%2Fnothere")
	if a := s.get("/runs/"+run+"/panel?step=s1", "HX-Request", "true"); a.header.Get("HX-Redirect") != "/login" || a.status != http.StatusUnauthorized {
		t.Errorf("a fragment is answered %d, HX-Redirect %q", a.status, a.header.Get("HX-Redirect"))
	}
	s.says(s.get("/metrics"), http.StatusUnauthorized, "Nobody is logged in")
	var doc struct {
		Runs []struct{ Owner string } `json:"runs"`
	}
	s.want(200, "GET", "/api/v1/runs", "", s.token(vic)...).json(t, &doc)
	if len(doc.Runs) != 1 || doc.Runs[0].Owner != "mia" {
		t.Errorf("the runs are %+v, want one of mia's", doc.Runs)
	}
}
