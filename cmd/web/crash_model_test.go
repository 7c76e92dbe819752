package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"planwave/internal/plan"
)

// script is what the model answers in one run, by turn: the first answer of a
// conversation is turn 1, and the last answer of a list repeats.
type script struct {
	plans   []reply
	steps   map[string][]reply // by step
	answers []reply
}

// reply is one answer of the model: words, calls of tools, or a refusal.
type reply struct {
	text   string
	calls  []use
	refuse bool
	once   bool // refused the first time it is asked only
}

// use is one call of a tool that the model asks for.
type use struct{ tool, arguments string }

// agentOf is one agent of a run: the planner, the synthesizer, or the executor
// of a step.
type agentOf struct {
	role plan.Role
	step string
}

// String names the agent.
func (a agentOf) String() string { return strings.TrimSpace(string(a.role) + " " + a.step) }

// asked is one request as it reached the model server.
type asked struct {
	agentOf
	tag  string // of the run
	life int    // of the process that asks
	turn int
	body [sha256.Size]byte
}

// scripted is an OpenAI-compatible server that answers by script, keeps every
// request, and tells the harness of each before and after it is answered.
type scripted struct {
	*httptest.Server
	seed uint64
	// script finds the script of a run. happened says that this is the moment
	// at which the asking process dies.
	script   func(tag string) (script, bool)
	happened func(life int, what happening) bool

	mu    sync.Mutex
	log   []asked
	wrong []string // requests that no script is for
}

func newScripted(t *testing.T, seed uint64) *scripted {
	m := &scripted{seed: seed}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *scripted) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // its process died while it asked
	}
	a, err := readAsked(r.Header.Get("Authorization"), body)
	s, ok := m.script(a.tag)
	m.mu.Lock()
	if err != nil || !ok {
		m.wrong = append(m.wrong, fmt.Sprintf("%v, in %s", err, body))
	}
	before := slices.ContainsFunc(m.log, func(b asked) bool { return b.tag == a.tag && b.body == a.body })
	m.log = append(m.log, a)
	m.mu.Unlock()
	if m.happened(a.life, beforeAnswer) {
		<-r.Context().Done() // the connection breaks with the process
		return
	}
	late := time.NewTimer(m.latency(a))
	defer late.Stop()
	select {
	case <-late.C:
	case <-r.Context().Done():
		return
	}
	answer := s.reply(a)
	if answer.once && before {
		answer = script{}.reply(a)
	}
	writeReply(w, answer)
	m.happened(a.life, afterAnswer)
}

// latency is how long a request takes, the same whenever it is asked.
func (m *scripted) latency(a asked) time.Duration {
	h := fnv.New32a()
	_, _ = fmt.Fprintln(h, m.seed, a.tag, a.agentOf, a.turn)
	const least, most = 2, 30
	return time.Duration(least+h.Sum32()%(most-least)) * time.Millisecond
}

// requests returns what was asked so far, in order, and what no script is for.
func (m *scripted) requests() (log []asked, wrong []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.log), slices.Clone(m.wrong)
}

func (s script) reply(a asked) reply {
	list := s.answers
	switch a.role {
	case plan.RolePlanner:
		list = s.plans
	case plan.RoleExecutor:
		list = s.steps[a.step]
	default:
	}
	if len(list) == 0 {
		return reply{text: fmt.Sprintf(`{"result":"what %s found"}`, a.agentOf)}
	}
	return list[min(a.turn, len(list))-1]
}

// tagged and stepped find in a prompt the run that it belongs to and the step.
const (
	tagged  = `\[crash run (\d+)\]`
	stepped = `<step id="([^"]+)">`
)

func readAsked(key string, body []byte) (asked, error) {
	a := asked{turn: 1, agentOf: agentOf{role: plan.RoleSynthesizer}}
	if _, err := fmt.Sscanf(key, "Bearer life-%d", &a.life); err != nil {
		return a, fmt.Errorf("read the key %q: %w", key, err)
	}
	var req struct {
		Messages []struct{ Role, Content string } `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return a, err
	}
	same, err := withoutStream(body)
	if err != nil {
		return a, err
	}
	a.body = sha256.Sum256(same)
	for _, said := range req.Messages {
		switch said.Role {
		case "system":
			if strings.HasPrefix(said.Content, "You write plans") {
				a.role = plan.RolePlanner
			}
		case "assistant":
			a.turn++
		case "user":
			a.tag = firstOf(a.tag, found(tagged, said.Content))
			a.step = firstOf(a.step, found(stepped, said.Content))
		}
	}
	if a.step != "" && a.role != plan.RolePlanner {
		a.role = plan.RoleExecutor
	}
	return a, nil
}

// withoutStream is a request as it is however it is answered: who is asked the
// same while somebody watches is asked the same.
func withoutStream(body []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	delete(fields, "stream")
	delete(fields, "stream_options")
	return json.Marshal(fields)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func found(pattern, in string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(in); m != nil {
		return m[1]
	}
	return ""
}

// writeReply sends an answer whole: when it returns, the program can read it.
func writeReply(w http.ResponseWriter, r reply) {
	status, body := http.StatusBadRequest, []byte(`{"error":{"message":"this is refused by the script"}}`)
	if !r.refuse {
		status, body = http.StatusOK, r.completion()
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a process that is dead reads nothing
	_ = http.NewResponseController(w).Flush()
}

// completion is the reply as the server writes it.
func (r reply) completion() []byte {
	calls := []any{}
	for i, c := range r.calls {
		calls = append(calls, map[string]any{
			"id": fmt.Sprintf("call_%d", i+1), "type": "function",
			"function": map[string]string{"name": c.tool, "arguments": c.arguments},
		})
	}
	body, err := json.Marshal(map[string]any{
		"model": "m", "usage": map[string]int{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": r.text, "tool_calls": calls}}},
	})
	if err != nil {
		panic(err) // it is made of texts
	}
	return body
}
