package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// endedRun carries a run of the demo through and returns its id.
func (a *app) endedRun(t *testing.T) string {
	t.Helper()
	id := fmt.Sprint(a.call(t, http.MethodPost, "/api/v1/runs", fmt.Sprintf(`{"question":%q,"approval":"auto"}`, sampleQuestion))["id"])
	a.until(t, id, "run.succeeded")
	return id
}

func TestMetricsOfARealRun(t *testing.T) {
	a := serve(t, func(c *config) { c.demoAtOnce = true })
	a.endedRun(t)
	status, text := a.send(t, http.MethodGet, "/metrics", "")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	for _, want := range []string{
		`planwave_runs{status="succeeded",strategy="plan"} 1`, `planwave_events_appended_total{type="run.succeeded"} 1`,
		`planwave_events_appended_total{type="step.succeeded"} 4`, `planwave_model_calls_total{outcome="ok",provider="demo"} `,
		`planwave_tool_calls_total{outcome="ok"} `, `planwave_model_tokens_total{kind="input",provider="demo"} `, "planwave_commit_seconds_count ",
		"planwave_steps_running 0", "planwave_open_streams 0", "planwave_database_bytes ", "planwave_database_wal_bytes ", "go_goroutines ",
		"process_resident_memory_bytes ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("it is not told that %s", want)
		}
	}
	if strings.Contains(text, "Brindlemoor") {
		t.Error("the figures tell what was asked")
	}
}

// The trace of a run comes to the collector, and nothing of what was asked.
func TestTracesOfARealRun(t *testing.T) {
	got := make(chan []byte, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- body
	}))
	t.Cleanup(collector.Close)
	t.Run("a run", func(t *testing.T) { // at its end the program is closed, and sends what it has
		serve(t, func(c *config) { c.demoAtOnce, c.OTLPEndpoint = true, collector.URL }).endedRun(t)
	})
	close(got)
	var all []byte
	for body := range got {
		all = append(all, body...)
	}
	for _, want := range []string{"invoke_workflow plan", "invoke_agent executor", "chat", "execute_tool get_city", "gen_ai.usage.input_tokens"} {
		if !bytes.Contains(all, []byte(want)) {
			t.Errorf("there is no %s", want)
		}
	}
	if bytes.Contains(all, []byte("Brindlemoor")) {
		t.Error("the trace tells what was asked")
	}
}

// A collector that takes what it is sent and never answers slows no run.
func TestACollectorThatHangsSlowsNothing(t *testing.T) {
	gone := make(chan struct{})
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-gone }))
	t.Cleanup(collector.Close)
	a := serve(t, func(c *config) { c.demoAtOnce, c.OTLPEndpoint = true, collector.URL })
	t.Cleanup(func() { close(gone) }) // before the program ends, which would wait for its time to be over
	for range 3 {
		a.endedRun(t)
	}
}

// What is wrong with a database is told in one line that says what to do.
func TestADatabaseThatCannotServeIsToldAtTheStart(t *testing.T) { // BEHAVIOUR 11
	dir := t.TempDir()
	good := filepath.Join(dir, "good.db")
	d, err := db.Open(t.Context(), good, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	damaged := slices.Clone(content)
	for i := len(damaged) / 2; i < len(damaged); i++ {
		damaged[i] = 0xAA
	}
	tests := map[string]struct{ path, do string }{
		"damaged":      {file("damaged.db", damaged), "planwave restore FILE"},
		"cut off":      {file("cut.db", content[:len(content)/2]), "planwave restore FILE"},
		"a text":       {file("text.db", bytes.Repeat([]byte("a text "), 1000)), "name another file"},
		"no folder":    {filepath.Join(dir, "none", "p.db"), "make it first"},
		"a folder":     {dir, "name a file in it"},
		"not to write": {"/sys/planwave.db", "give this user the right to write"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run([]string{"-addr", "127.0.0.1:0", "-db", tt.path}, func(string) string { return "" }, &out, &errOut)
			said := errOut.String()
			if code != 1 || !strings.HasPrefix(said, "planwave: open database "+tt.path+": ") || !strings.Contains(said, tt.do) || strings.Count(said, "\n") != 1 {
				t.Errorf("exit status %d, said %q", code, said)
			}
		})
	}
}

// tidied is a store from which batches can be deleted.
type tidied struct {
	mu      sync.Mutex
	batches []int
	asked   []time.Time // before which
	err     error
}

func (s *tidied) DeleteEnded(_ context.Context, before time.Time, limit int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, before)
	if len(s.batches) == 0 || limit != tidyBatch {
		return 0, s.err
	}
	n := s.batches[0]
	s.batches = s.batches[1:]
	return n, s.err
}

// times is how often it was asked, and before which time last. From now on it
// fails with err.
func (s *tidied) times(err error) (n int, last time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	return len(s.asked), s.asked[len(s.asked)-1]
}

func TestRetentionDeletesAtOnceAndEveryHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		store := &tidied{batches: []int{100, 100, 7, 0, 1, 0}}
		r := &retention{store: store, keep: 90 * 24 * time.Hour, clock: time.Now, log: slog.New(slog.NewTextHandler(&log, nil))}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		began := time.Now()
		go func() {
			defer close(ended)
			r.run(ctx)
		}()
		for i, want := range []int{4, 6, 7} {
			synctest.Wait()
			var err error
			if want == 6 {
				err = errors.New("the disk is full")
			}
			n, last := store.times(err)
			if limit := began.Add(time.Duration(i)*tidyEvery - r.keep); n != want || !last.Equal(limit) {
				t.Errorf("after %d hours it was asked %d times, last for those before %s; want %d and %s", i, n, last, want, limit)
			}
			<-time.After(tidyEvery)
		}
		cancel()
		<-ended
		for _, want := range []string{"runs=207", "runs=1 ", "the disk is full"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%q is not logged: %s", want, log.String())
			}
		}
	})
}

func TestWithoutRetentionNothingIsDeleted(t *testing.T) {
	store := &tidied{batches: []int{1}}
	(&retention{store: store}).run(t.Context())
	if len(store.asked) != 0 {
		t.Error("it was asked to delete")
	}
}

func TestRetentionOfARealRun(t *testing.T) {
	a := serve(t, func(c *config) { c.demoAtOnce = true })
	ended := a.endedRun(t)
	waiting := fmt.Sprint(a.call(t, http.MethodPost, "/api/v1/runs", fmt.Sprintf(`{"question":%q}`, sampleQuestion))["id"])
	a.until(t, waiting, "plan.proposed")
	day := 24 * time.Hour
	a.retain.keep = 90 * day
	for _, tt := range []struct {
		later time.Duration
		want  int
	}{{89 * day, http.StatusOK}, {91 * day, http.StatusNotFound}} {
		a.retain.clock = func() time.Time { return time.Now().Add(tt.later) }
		if err := a.retain.runOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if status, _ := a.send(t, http.MethodGet, "/api/v1/runs/"+ended, ""); status != tt.want {
			t.Errorf("after %s the run is answered %d, want %d", tt.later, status, tt.want)
		}
	}
	if r := a.call(t, http.MethodGet, "/api/v1/runs/"+waiting, ""); r["status"] != string(plan.RunStatusAwaitingApproval) {
		t.Errorf("the run that waits is %v", r["status"])
	}
}
