package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"planwave/internal/plan"
)

// form posts a form as a browser on the page does, without following where it leads.
func (s *site) form(path string, fields url.Values) answer {
	s.t.Helper()
	req := s.request(http.MethodPost, path, strings.NewReader(fields.Encode()), "Content-Type", "application/x-www-form-urlencoded")
	client := *s.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	was := s.client
	s.client = &client
	defer func() { s.client = was }()
	return s.send(req)
}

func askForm(question string) url.Values {
	return url.Values{
		"question": {question}, "approval": {"manual"}, "schedule": {"waves"}, "max_steps": {"6"}, "max_parallel": {"5"},
		"requests": {"40"}, "tokens": {"200000"}, "nonce": {"n1"}, "strategy": {"plan"}, "replan": {"never"}, "max_replans": {"3"}, "replan_approval": {"same"},
	}
}

// editForm is the editor's form for a plan.
func editForm(p plan.Plan, op string) url.Values {
	f := url.Values{"version": {"1"}, "op": {op}}
	for i, st := range p.Steps {
		at := "steps." + string(rune('0'+i)) + "."
		f.Set(at+"id", st.ID)
		f.Set(at+"instruction", st.Instruction)
		f[at+"depends_on"] = st.DependsOn
		f.Set(at+"tool", st.Tool)
	}
	return f
}

func TestAskingByForm(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	first := s.form("/runs", askForm("What is it?"))
	if first.status != http.StatusSeeOther || !strings.HasPrefix(first.header.Get("Location"), "/runs/") {
		t.Fatalf("asking answered %d to %q", first.status, first.header.Get("Location"))
	}
	// ui: double submit. A second click is the same run.
	again := s.form("/runs", askForm("What is it?"))
	if again.status != http.StatusSeeOther || again.header.Get("Location") != first.header.Get("Location") {
		t.Errorf("a double click led to %d %q, the first to %q", again.status, again.header.Get("Location"), first.header.Get("Location"))
	}
}

func TestAFormWithMistakesIsShownAgainAsItWas(t *testing.T) { // BEHAVIOUR 11
	s := newSite(t, &scriptedModel{})
	tests := map[string]struct {
		field, value, want string
	}{
		"empty question": {"question", "  ", "The question is empty"},
		"no number":      {"max_steps", "six", "Write a whole number."},
		"too many":       {"max_steps", "99999", "it can be 1 to 2000"},
		"no amount":      {"cost", "cheap", "amount in dollars"},
		"unknown model":  {"model", "acme:large", "acme:large"},
		"no budget":      {"requests", "0", "at least 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := askForm("A question to keep?")
			f.Set("nonce", name)
			f.Set(tt.field, tt.value)
			a := s.form("/runs", f)
			if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, tt.want) {
				t.Errorf("answered %d, without %q", a.status, tt.want)
			}
			if tt.field != "question" && !strings.Contains(a.body, "A question to keep?") {
				t.Error("what was typed is lost")
			}
		})
	}
	if page, err := s.store.Unfinished(t.Context()); err != nil || len(page) > 0 {
		t.Errorf("runs were made: %v %v", page, err)
	}
}

func TestEditingByForms(t *testing.T) { // BEHAVIOUR 3.2, UX: without JavaScript
	s := newSite(t, &scriptedModel{})
	r := s.askGiven(plan.ApprovalManual)
	path := "/runs/" + r + "/plan"

	loose := diamond()
	loose.Steps[2].DependsOn = nil
	shown := s.form(path, editForm(loose, "save"))
	if shown.status != http.StatusUnprocessableEntity || !strings.Contains(shown.body, "Make s3 the final step") {
		t.Errorf("a broken plan answered %d, without its mend", shown.status)
	}
	mended := s.form(path, editForm(loose, "mend:0"))
	if mended.status != http.StatusOK || strings.Contains(mended.body, "Make s3 the final step") {
		t.Errorf("the mend answered %d and did not mend", mended.status)
	}
	added := s.form(path, editForm(diamond(), "add:after:s1"))
	if !strings.Contains(added.body, `name="steps.3.id" value="s3"`) || !strings.Contains(added.body, `name="steps.1.id" value="s4"`) {
		t.Error("no step was added after s1")
	}
	removed := s.form(path, editForm(diamond(), "remove:s1"))
	if strings.Contains(removed.body, `value="s1"`) {
		t.Error("s1 is still named in the form")
	}
	moved := s.form(path, editForm(diamond(), "down:s1"))
	if !strings.Contains(moved.body, `name="steps.1.id" value="s1"`) {
		t.Error("s1 did not move")
	}
	for _, op := range []string{"explode", "mend:99", "remove:zz"} {
		if a := s.form(path, editForm(diamond(), op)); a.status != http.StatusUnprocessableEntity {
			t.Errorf("op %q answered %d", op, a.status)
		}
	}
	if run, err := s.runs.Get(t.Context(), r); err != nil || len(run.Versions) != 1 {
		t.Errorf("something was saved: %d versions, %v", len(run.Versions), err)
	}

	edited := diamond()
	edited.Steps[0].Instruction = "one, by hand"
	saved := s.form(path, editForm(edited, "save"))
	if saved.status != http.StatusSeeOther {
		t.Fatalf("saving answered %d", saved.status)
	}
	// ui: lost update. A form made from version 1 does not overwrite version 2, and is not lost.
	other := diamond()
	other.Steps[1].Instruction = "two, in another tab"
	stale := s.form(path, editForm(other, "approve"))
	if stale.status != http.StatusConflict || !strings.Contains(stale.body, "two, in another tab") {
		t.Errorf("a stale save answered %d; its text is kept: %v", stale.status, strings.Contains(stale.body, "two, in another tab"))
	}
	if run, err := s.runs.Get(t.Context(), r); err != nil || len(run.Versions) != 2 || run.Status != plan.RunStatusAwaitingApproval {
		t.Errorf("%d versions, %s, %v", len(run.Versions), run.Status, err)
	}
}

func TestWhileTypingNothingIsSaved(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	r := s.askGiven(plan.ApprovalManual)
	loose := diamond()
	loose.Steps[2].DependsOn = nil
	a := s.form("/runs/"+r+"/draft", editForm(loose, ""))
	if a.status != http.StatusOK || !strings.Contains(a.body, `id="violations-2"`) || !strings.Contains(a.body, "hx-swap-oob") {
		t.Errorf("answered %d:\n%.300s", a.status, a.body)
	}
	if strings.Contains(a.body, "<textarea") {
		t.Error("the fields come back while somebody types in them")
	}
}

func TestApprovingTwiceByForm(t *testing.T) { // BEHAVIOUR 3.3; ui: double submit
	s := newSite(t, &scriptedModel{})
	r := s.askGiven(plan.ApprovalManual)
	for range 2 {
		if a := s.form("/runs/"+r+"/approve", url.Values{"version": {"1"}}); a.status != http.StatusSeeOther {
			t.Errorf("approving answered %d", a.status)
		}
	}
	if a := s.form("/runs/"+r+"/approve", url.Values{"version": {"x"}}); a.status != http.StatusUnprocessableEntity {
		t.Errorf("approving nothing answered %d", a.status)
	}
	s.until(r, plan.RunStatusSucceeded)
	if n := s.model.asked.Load(); n != 4 {
		t.Errorf("the model was asked %d times, want 3 steps and an answer", n)
	}
}

func TestPagesHoldThePolicyAndTextIsText(t *testing.T) { // BEHAVIOUR 11; text: HTML injection
	evil := `<img src=x onerror=alert(1)><script>alert(2)</script>"'` + "`"
	p := diamond()
	p.Steps[0].Instruction = evil
	s := newSite(t, &scriptedModel{})
	r := s.ask(`{"question":` + quote(evil) + `,"plan":` + planText(p) + `}`)
	for _, path := range []string{"/", "/?q=" + url.QueryEscape(evil), "/runs", "/runs?q=" + url.QueryEscape(evil), "/runs/latest", "/runs/" + r, "/runs/" + r + "?step=s1", "/runs/" + r + "?edit=1", "/runs/" + r + "/panel?step=s1", "/runs/nothere" + url.PathEscape(evil)} {
		a := s.do(http.MethodGet, path, "", "Accept", "text/html")
		document(t, a.body).Find("*").Each(func(_ int, el *goquery.Selection) {
			tag := goquery.NodeName(el)
			src, _ := el.Attr("src")
			if tag == "img" || tag == "script" && src == "" {
				t.Errorf("%s holds an element made of text: <%s>", path, tag)
			}
			for _, at := range el.Nodes[0].Attr {
				if strings.HasPrefix(at.Key, "on") || at.Key == "style" {
					t.Errorf("%s holds the attribute %s on <%s>", path, at.Key, tag)
				}
			}
		})
		if csp := a.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s has the policy %q", path, csp)
		}
	}
}

func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func TestThemeGoesBackToOwnPagesOnly(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	for to, want := range map[string]string{
		"/runs?q=x": "/runs?q=x", "https://evil.example/": "/", "//evil.example": "/", `/\evil.example`: "/", "": "/",
	} {
		a := s.form("/theme", url.Values{"theme": {"dark"}, "return": {to}})
		if a.status != http.StatusSeeOther || a.header.Get("Location") != want {
			t.Errorf("return %q led to %d %q", to, a.status, a.header.Get("Location"))
		}
	}
	if a := s.form("/theme", url.Values{"theme": {"pink"}}); a.status != http.StatusUnprocessableEntity {
		t.Errorf("an unknown theme answered %d", a.status)
	}
}

func TestLayoutStylesheet(t *testing.T) {
	s := newSite(t, &scriptedModel{})
	r := s.askGiven(plan.ApprovalManual)
	run, err := s.runs.Get(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := run.Version()
	a := s.want(http.StatusOK, http.MethodGet, "/plans/"+strings.TrimPrefix(v.Hash, "sha256:")+"/layout.css", "")
	if !strings.Contains(a.body, `#node-s3{left:`) || !strings.Contains(a.header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s\n%s", a.header.Get("Cache-Control"), a.body)
	}
	s.want(http.StatusNotFound, http.MethodGet, "/plans/00/layout.css", "")
}

func TestHistoryFindsAndPages(t *testing.T) { // BEHAVIOUR 12.3
	s := newSite(t, &scriptedModel{})
	s.ask(`{"question":"Where do swifts sleep?","plan":` + planText(diamond()) + `}`)
	r := s.ask(`{"question":"How deep is the lake?","approval":"auto","plan":` + planText(diamond()) + `}`)
	s.until(r, plan.RunStatusSucceeded)
	tests := map[string]struct{ has, not string }{
		"/runs?q=swif":           {"Where do swifts sleep?", "How deep is the lake?"},
		"/runs?status=succeeded": {"How deep is the lake?", "Where do swifts sleep?"},
		"/runs?status=succeeded&status=awaiting_approval&q=the": {"How deep is the lake?", "Where do swifts sleep?"},
		"/runs": {"Where do swifts sleep?", "There is nothing here"},
	}
	for path, tt := range tests {
		a := s.want(http.StatusOK, http.MethodGet, path, "")
		if !strings.Contains(a.body, tt.has) || strings.Contains(a.body, ">"+tt.not) {
			t.Errorf("%s: has %q: %v, has %q: %v", path, tt.has, strings.Contains(a.body, tt.has), tt.not, strings.Contains(a.body, tt.not))
		}
	}
	if a := s.do(http.MethodGet, "/runs?cursor=nonsense", "", "Accept", "text/html"); a.status != http.StatusUnprocessableEntity && a.status != http.StatusBadRequest {
		t.Errorf("a made-up cursor answered %d", a.status)
	}
}

func TestOnlyItsOwnNameIsAnsweredTo(t *testing.T) { // DNS rebinding
	s := newSite(t, &scriptedModel{})
	for host, want := range map[string]int{
		"evil.example": http.StatusForbidden, "evil.example:80": http.StatusForbidden, "10.0.0.1": http.StatusForbidden, "127.0.0.1.evil.example": http.StatusForbidden,
		"localhost:8080": http.StatusOK, "127.0.0.1": http.StatusOK, "[::1]:8080": http.StatusOK,
	} {
		req := s.request(http.MethodGet, "/api/v1/tools", strings.NewReader(""))
		req.Host = host
		if a := s.send(req); a.status != want {
			t.Errorf("host %q answered %d, want %d", host, a.status, want)
		}
	}
}
