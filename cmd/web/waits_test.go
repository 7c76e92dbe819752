package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"planwave/internal/runs"
)

// busyModel is an OpenAI-compatible server that is too busy for the first
// executor that asks, and counts what is asked while it said to wait.
type busyModel struct {
	*httptest.Server
	seconds int // to wait

	mu       sync.Mutex
	steps    int       // requests of executors
	refused  time.Time // when the first one was refused
	tooEarly int       // requests before the wait was over
}

func newBusyModel(t *testing.T, seconds int) *busyModel {
	m := &busyModel{seconds: seconds}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *busyModel) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	answer := `{"result":"done"}`
	if bytes.Contains(body, []byte("step id=")) && m.refuses() {
		w.Header().Set("Retry-After", fmt.Sprint(m.seconds))
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"message":"slow down, please"}}`)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model": "m", "usage": map[string]int{"prompt_tokens": 40, "completion_tokens": 5, "total_tokens": 45},
		"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": answer}}},
	})
}

// refuses refuses the first request of an executor, and notes those that come
// before the wait is over.
func (m *busyModel) refuses() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps++
	if m.refused.IsZero() {
		m.refused = time.Now()
		return true
	}
	if time.Since(m.refused) < time.Duration(m.seconds)*time.Second {
		m.tooEarly++
	}
	return false
}

// eightSteps is a plan of eight steps that need nothing, and one that needs
// them all.
func eightSteps() string {
	var steps, all []string
	for i := range 8 {
		id := fmt.Sprintf("s%d", i+1)
		steps = append(steps, fmt.Sprintf(`{"id":%q,"instruction":"look","depends_on":[]}`, id))
		all = append(all, fmt.Sprintf("%q", id))
	}
	steps = append(steps, fmt.Sprintf(`{"id":"join","instruction":"join","depends_on":[%s]}`, strings.Join(all, ",")))
	return `{"question":"What is it?","approval":"manual","max_steps":9,"max_parallel":8,"plan":{"steps":[` + strings.Join(steps, ",") + `]}}`
}

// A model that asks for 3 s is waited for: the page says so while it lasts, no
// step of the eight asks meanwhile, and the run ends well.
func TestARateLimitIsWaitedForAndShown(t *testing.T) { // BEHAVIOUR 11
	m := newBusyModel(t, 3)
	a := serve(t, func(c *config) {
		c.OpenAIBaseURL, c.OpenAIKey, c.Model = m.URL, "k", "openai:m"
		c.InFlight = perProvider{"": 1}
	})
	id := fmt.Sprint(a.call(t, http.MethodPost, "/api/v1/runs", eightSteps())["id"])
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(a.URL()+"/runs/"+id))
	await(t, ctx, pageReady)
	click(t, ctx, "#run-actions button.primary")
	await(t, ctx, `(said => /waits? for openai:m/.test(said) && said.includes("goes on in") && said.includes("slow down, please"))(document.querySelector("#now").innerText)`)
	await(t, ctx, `document.querySelector("#run-head").innerText.includes("Succeeded") && document.querySelector("#now").innerText === ""`)
	if m.tooEarly > 0 || m.steps != 10 {
		t.Errorf("executors asked %d times, %d of them before the wait was over; want 10 and 0", m.steps, m.tooEarly)
	}
}

// A run that is cancelled while it waits for a model ends at once: the wait of
// this test is longer than the test may take.
func TestCancelEndsAWaitAtOnce(t *testing.T) { // BEHAVIOUR 5.7
	m := newBusyModel(t, 3600)
	a := serve(t, func(c *config) {
		c.OpenAIBaseURL, c.OpenAIKey, c.Model = m.URL, "k", "openai:m"
		c.Retry.MaxWait = 2 * time.Hour
	})
	id := fmt.Sprint(a.call(t, http.MethodPost, "/api/v1/runs", eightSteps())["id"])
	a.call(t, http.MethodPost, "/api/v1/runs/"+id+"/approve", `{"version":1}`)
	changed, stop := a.runs.WatchNow(id)
	defer stop()
	for !slices.ContainsFunc(a.runs.Now(id), func(n runs.Now) bool { return n.Waiting.Try > 0 }) {
		<-changed
	}
	a.call(t, http.MethodPost, "/api/v1/runs/"+id+"/cancel", ``)
	if r := a.until(t, id, "run.cancelled"); r["status"] != "cancelled" || fmt.Sprint(r["failed"]) != "[]" {
		t.Errorf("the run is %v, failed are %v", r["status"], r["failed"])
	}
}
