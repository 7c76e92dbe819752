package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/a-h/templ"

	"planwave/internal/plan"
	"planwave/web/templates"
)

// fakeRun serves the gallery, and behind its canned run a stream and forms that
// a test drives.
type fakeRun struct {
	events chan string // what the stream sends next
	opened chan string // the query of each stream that was opened
	closed chan struct{}
	quit   chan struct{}
	once   sync.Once

	mu    sync.Mutex
	posts []string // path and op of each form that came
}

func newFakeRun() *fakeRun {
	return &fakeRun{events: make(chan string), opened: make(chan string, 100), closed: make(chan struct{}, 100), quit: make(chan struct{})}
}

func (f *fakeRun) stop() { f.once.Do(func() { close(f.quit) }) }

func (f *fakeRun) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", handler())
	mux.HandleFunc("GET "+runURL+"/stream", f.stream)
	mux.HandleFunc("GET "+runURL+"/panel", func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Query().Get("step")
		if r.Header.Get("Hx-Trigger") != "nudge" {
			w.Header().Set("Hx-Push-Url", runURL+"?step="+id)
		}
		nudge := templates.StreamProps{URL: "x", Step: id, PanelURL: runURL + "/panel?step=" + id, OOB: true}
		_ = templates.Panel(templates.PanelProps{RunURL: runURL, Step: step(id, plan.StepStatusSucceeded), Nudge: &nudge}).Render(r.Context(), w)
	})
	mux.HandleFunc("POST "+runURL+"/{what}", f.form)
	return mux
}

func (f *fakeRun) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := func() { _ = http.NewResponseController(w).Flush() }
	flush()
	f.opened <- r.URL.RawQuery
	defer func() { f.closed <- struct{}{} }()
	for {
		select {
		case e := <-f.events:
			_, _ = fmt.Fprint(w, e) // a viewer that is gone is told nothing
			flush()
		case <-r.Context().Done():
			return
		case <-f.quit:
			return
		}
	}
}

// form answers what the page's forms send: a typed draft with violations, an
// edit with one more step, and anything else with a conflict.
func (f *fakeRun) form(w http.ResponseWriter, r *http.Request) {
	what := r.PathValue("what")
	f.mu.Lock()
	f.posts = append(f.posts, what+" "+r.PostFormValue("op"))
	f.mu.Unlock()
	var c templ.Component
	switch what {
	case "draft":
		c = templates.DraftPatch(*runEditInvalid(page("")).Editor)
	case "plan":
		longer := cities()
		longer.Steps = append(longer.Steps, plan.Step{ID: "s5"})
		p := runEdit(page(""))
		p.Editor = editor(longer)
		p.Editor.Focus = 4
		c = templates.Run(p)
	default:
		w.WriteHeader(http.StatusConflict)
		c = templates.ErrorPage(errorPage(page(""), http.StatusConflict))
	}
	_ = c.Render(r.Context(), w)
}

func (f *fakeRun) posted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.posts...)
}

// event writes one server-sent event.
func event(name, id string, parts ...templ.Component) string {
	var html bytes.Buffer
	for _, c := range parts {
		_ = c.Render(context.Background(), &html)
	}
	lines := strings.Split(html.String(), "\n")
	return "id: " + id + "\nevent: " + name + "\ndata: " + strings.Join(lines, "\ndata: ") + "\n\n"
}
