package runs_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"planwave/internal/plan"
	"planwave/internal/runs"
)

// bare is what a state says apart from when and whose it was.
func bare(r *plan.Run) string {
	var said []any
	for _, s := range r.Steps {
		said = append(said, s.ID, s.Status, s.Wave, s.Attempts, s.Result, s.Error, s.Cause)
	}
	b, err := json.Marshal(append(said, r.Status, r.Question, r.Plan(), r.Waves, r.Answer, r.Usage, r.Corrections(), r.Error))
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestReplay(t *testing.T) { // BEHAVIOUR 12.4
	p := &turns{texts: []string{written(t, loose()), written(t, diamond()), written(t, plan.Plan{Steps: []plan.Step{{ID: "s4", Instruction: "x", DependsOn: []string{"s1"}}}})}}
	h := newHarness(t, &script{planner: p.answer, executor: fails("s2")})
	was := h.end(h.ask(auto, replans(plan.ReplanOnFailure, 1)).ID)
	asked := len(h.model.asked)
	now, err := h.Replay(t.Context(), was.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.model.asked) != asked {
		t.Errorf("the model was asked %d times", len(h.model.asked)-asked)
	}
	if bare(now) != bare(was) || !now.Recorded || now.ID == was.ID {
		t.Errorf("replayed\n%s\nof\n%s", bare(now), bare(was))
	}
	if a, b := types(h.events(now.ID)), types(h.events(was.ID)); !reflect.DeepEqual(a, b) {
		t.Errorf("events %v of %v", a, b)
	}
	if now.FinishedAt.Sub(now.CreatedAt) != was.FinishedAt.Sub(was.CreatedAt) || now.FinishedAt.Before(was.FinishedAt) {
		t.Errorf("it took from %v to %v", now.CreatedAt, now.FinishedAt)
	}
	calls, err := h.store.Trace(t.Context(), now.ID)
	recorded, err2 := h.store.Trace(t.Context(), was.ID)
	if err != nil || err2 != nil || len(calls) != len(recorded) || string(calls[0].Request) != string(recorded[0].Request) {
		t.Errorf("%d calls of %d, %v", len(calls), len(recorded), err)
	}
}

func TestARecordingGoesToAnotherInstallation(t *testing.T) { // BEHAVIOUR 12.4, 12.5
	h := newHarness(t, &script{})
	p := diamond()
	p.Steps[0].Tool, p.Steps[0].Input = "get_city", json.RawMessage(`"Tarnby"`)
	was := h.end(h.ask(auto, given(p)).ID)
	rec, err := h.Export(t.Context(), was.ID)
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	var read runs.Recording
	if err := json.Unmarshal(file, &read); err != nil {
		t.Fatal(err)
	}
	there := openHarness(t, filepath.Join(t.TempDir(), "there.db"), &script{})
	now, err := there.Import(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	if bare(now) != bare(was) || !now.CreatedAt.Equal(was.CreatedAt) {
		t.Errorf("imported\n%s\nof\n%s", bare(now), bare(was))
	}
	again, err := there.Export(t.Context(), now.ID)
	if err != nil || len(again.Calls) != len(rec.Calls) {
		t.Errorf("%d calls of %d, %v", len(again.Calls), len(rec.Calls), err)
	}
}

func TestWhatIsNoRecording(t *testing.T) { // BEHAVIOUR 11
	h := newHarness(t, &script{planner: writes(diamond())})
	waits := h.until(h.ask().ID, is(plan.RunStatusAwaitingApproval))
	if _, err := h.Export(t.Context(), waits.ID); plan.CodeOf(err) != plan.CodeUnexpected {
		t.Errorf("a run that goes on: %v", err)
	}
	ended := h.end(h.ask(auto).ID)
	for want, change := range map[string]func(*runs.Recording){
		"its format is 2":        func(r *runs.Recording) { r.Format = 2 },
		"unknown type":           func(r *runs.Recording) { r.Events[3].Type = "run.exploded" },
		"does not fit the state": func(r *runs.Recording) { r.Events = r.Events[1:] },
		"has not ended":          func(r *runs.Recording) { r.Events = r.Events[:len(r.Events)-1] },
		"not the one that its hash": func(r *runs.Recording) {
			for i, e := range r.Events {
				r.Events[i].Data = json.RawMessage(strings.Replace(string(e.Data), `"instruction":"one"`, `"instruction":"two"`, 1))
			}
		},
	} {
		rec, err := h.Export(t.Context(), ended.ID)
		if err != nil {
			t.Fatal(err)
		}
		change(&rec)
		if _, err := h.Import(t.Context(), rec); plan.CodeOf(err) != plan.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestNothingGoesOnInARecording(t *testing.T) { // BEHAVIOUR 3.4, 4.6: what it says was allowed, nobody allowed here
	h := newHarness(t, &script{executor: fails("s2")})
	r, err := h.Replay(t.Context(), h.end(h.ask(auto, given(diamond())).ID).ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Retry(t.Context(), r.ID, "s2", "me"); plan.CodeOf(err) != plan.CodeUnexpected {
		t.Errorf("retry: %v", err)
	}
	if _, err := h.AnswerAgain(t.Context(), r.ID, nil, "me"); plan.CodeOf(err) != plan.CodeUnexpected {
		t.Errorf("answer: %v", err)
	}
	f, err := h.Fork(t.Context(), r.ID, runs.Fork{From: []string{"s2"}, By: "me"})
	if err != nil || f.Recorded || f.ForkedFrom != r.ID {
		t.Errorf("%+v, %v", f, err)
	}
	h.end(f.ID)
}
