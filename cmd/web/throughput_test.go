package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	crowd      = 1_000           // runs at once
	modelTakes = 2 * time.Second // for each call
	inARow     = 5               // calls of a run that wait for each other: planner, three waves, synthesizer
	lookEvery  = 50 * time.Millisecond
)

// threeWaves is the plan of every run: three steps, then two, then one.
const threeWaves = `{"steps":[
	{"id":"s1","instruction":"look up one","depends_on":[]},
	{"id":"s2","instruction":"look up another","depends_on":[]},
	{"id":"s3","instruction":"look up a third","depends_on":[]},
	{"id":"s4","instruction":"compare","depends_on":["s1","s2"]},
	{"id":"s5","instruction":"compare","depends_on":["s2","s3"]},
	{"id":"s6","instruction":"bring together","depends_on":["s4","s5"]}]}`

// slowModel answers every role, each call after modelTakes.
func slowModel(b *testing.B) *httptest.Server {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		answer := threeWaves
		switch {
		case bytes.Contains(body, []byte("You write the answer")):
			answer = `{"result":"It is **Quillhaven**, with 1,200.0 people per km².","rests_on":["s6"]}`
		case bytes.Contains(body, []byte("step id=")):
			answer = `{"result":"Quillhaven has 156,000 people on 130.0 km²."}`
		}
		select {
		case <-time.After(modelTakes):
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"model": "m", "usage": map[string]int{"prompt_tokens": 400, "completion_tokens": 50, "total_tokens": 450},
			"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": answer}}},
		})
	}))
	b.Cleanup(s.Close)
	return s
}

// load is the program in a process of its own, and its clients.
type load struct {
	*testing.B
	program
	client *http.Client
	said   bytes.Buffer // on standard error; whole when the process has ended
}

func startLoad(b *testing.B, models string) *load {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	l := &load{B: b, client: &http.Client{Transport: &http.Transport{MaxConnsPerHost: 64, MaxIdleConnsPerHost: 64}}}
	l.cmd = exec.CommandContext(context.Background(), self, "-addr", "127.0.0.1:0", "-db", filepath.Join(b.TempDir(), "p.db"),
		"-openai-base-url", models, "-model", "openai:m", "-in-flight", strconv.Itoa(3*crowd))
	l.cmd.Env = append(os.Environ(), asProgram+"=1", "PLANWAVE_SAMPLES=off")
	l.cmd.Stderr = &l.said
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "Planwave is at ")
	if err != nil || !ok {
		l.kill()
		b.Fatalf("the program said %q, %v: %s", line, err, l.said.String())
	}
	l.url = url
	return l
}

// send sends a request and returns the body of its answer.
func (l *load) send(method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(l.Context(), method, l.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, text)
	}
	return text, err
}

// askAll asks crowd questions at once and returns the ids of the runs.
func (l *load) askAll() []string {
	ids := make([]string, crowd)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			text, err := l.send(http.MethodPost, "/api/v1/runs", fmt.Sprintf(`{"question":"Which of the cities of county %d is the densest?","approval":"auto"}`, i))
			var run struct{ ID string }
			if err = cmp.Or(err, json.Unmarshal(text, &run)); err != nil {
				l.Errorf("ask: %v", err)
			}
			ids[i] = run.ID
		})
	}
	wg.Wait()
	return ids
}

// left asks whether there is a run that has not ended.
func (l *load) left() bool {
	text, err := l.send(http.MethodGet, "/api/v1/runs?limit=1&status=planning&status=running&status=synthesizing", "")
	var list struct{ Runs []json.RawMessage }
	if err = cmp.Or(err, json.Unmarshal(text, &list)); err != nil {
		l.Fatalf("list the runs that go on: %v", err)
	}
	return len(list.Runs) > 0
}

// look opens pages in turn, one every lookEvery, until ctx ends, and returns
// how long each took, in order.
func (l *load) look(ctx context.Context, page func(i int) string) []time.Duration {
	var took []time.Duration
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			slices.Sort(took)
			return took
		case <-ticks.C:
		}
		began := time.Now()
		if _, err := l.send(http.MethodGet, page(i), ""); err != nil {
			l.Errorf("look at a page: %v", err)
		}
		took = append(took, time.Since(began))
	}
}

// peak is the most memory that the process has had, in MB.
func (l *load) peak() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.cmd.Process.Pid))
	if err != nil {
		l.Logf("peak memory is not known here: %v", err)
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kB, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		l.Fatal(err)
	}
	return float64(kB) / 1000
}

// sum holds that every run succeeded and nothing was locked.
func (l *load) sum(ids []string) {
	for _, id := range ids {
		text, err := l.send(http.MethodGet, "/api/v1/runs/"+id, "")
		var run struct {
			Status string
			Error  json.RawMessage
			Usage  struct{ Requests int }
		}
		if err = cmp.Or(err, json.Unmarshal(text, &run)); err != nil {
			l.Fatal(err)
		}
		if run.Status != "succeeded" || run.Usage.Requests != 8 {
			l.Fatalf("run %s %s after %d calls: %s", id, run.Status, run.Usage.Requests, run.Error)
		}
	}
	l.kill()
	if said := l.said.String(); strings.Contains(said, "locked") || strings.Contains(said, "level=ERROR") {
		l.Errorf("the program said: %s", said)
	}
}

// BenchmarkThroughput1000 is what the program costs beside its model: 1,000
// runs at once of six steps in three waves, in one process. "ratio" is the wall
// time to what the model's latency alone gives; the pages are opened meanwhile.
func BenchmarkThroughput1000(b *testing.B) {
	models := slowModel(b)
	for b.Loop() {
		l := startLoad(b, models.URL)
		ctx, stop := context.WithCancel(b.Context())
		var looking sync.WaitGroup
		var home, run []time.Duration
		asked := make(chan []string, 1)
		began := time.Now()
		looking.Go(func() { home = l.look(ctx, func(int) string { return "/" }) })
		looking.Go(func() {
			ids := <-asked
			run = l.look(ctx, func(i int) string { return "/runs/" + ids[i*7%crowd] })
		})
		ids := l.askAll()
		all := time.Since(began)
		asked <- ids
		for polls := time.NewTicker(lookEvery); l.left(); <-polls.C {
		}
		wall := time.Since(began)
		stop()
		looking.Wait()
		b.ReportMetric(wall.Seconds()/(inARow*modelTakes).Seconds(), "ratio")
		b.ReportMetric(all.Seconds(), "s-to-ask")
		b.ReportMetric(l.peak(), "MB-peak")
		b.ReportMetric(p95(home), "ms-home-p95")
		b.ReportMetric(p95(run), "ms-run-p95")
		l.sum(ids)
		b.ReportMetric((l.cmd.ProcessState.UserTime() + l.cmd.ProcessState.SystemTime()).Seconds(), "s-cpu")
		l.client.CloseIdleConnections()
	}
}

// p95 is in milliseconds; took is in order.
func p95(took []time.Duration) float64 {
	return float64(took[len(took)*95/100].Microseconds()) / 1000
}
