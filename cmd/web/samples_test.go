package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"planwave/internal/plan"
	"planwave/internal/runs"
)

// update makes the recordings of samples anew, with the demo model at the pace
// that people see.
var update = flag.Bool("update", false, "make the recordings of cmd/web/samples anew")

// sampleQuestions are asked for the recordings, by file.
var sampleQuestions = map[string]string{
	"1-densest.json":  sampleQuestion,
	"2-combined.json": "What is the combined population of Quillhaven and Atlantis?",
}

// record asks a question, approves the plan and returns the whole run.
func (a *app) record(t *testing.T, question, models string) runs.Recording {
	t.Helper()
	body, err := json.Marshal(map[string]any{"question": question, "models": json.RawMessage(models)})
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprint(a.call(t, http.MethodPost, "/api/v1/runs", string(body))["id"])
	a.until(t, id, "plan.proposed")
	a.call(t, http.MethodPost, "/api/v1/runs/"+id+"/approve", `{"version":1}`)
	a.until(t, id, "done")
	rec, err := a.runs.Export(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// happened is what a recording tells, without ids, times and the order of what
// ran side by side.
func happened(t *testing.T, rec runs.Recording) []string {
	t.Helper()
	var all []string
	for _, e := range rec.Events {
		text := string(e.Type)
		if slices.Contains([]plan.EventType{plan.EventPlanProposed, plan.EventPlanRejected, plan.EventStepSucceeded, plan.EventAnswerWritten}, e.Type) {
			var data bytes.Buffer
			if err := json.Compact(&data, e.Data); err != nil {
				t.Fatal(err)
			}
			text += " " + data.String()
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// The recordings that ship are what this program does with the demo model.
func TestSamplesAreWhatTheDemoDoes(t *testing.T) {
	a := serve(t, func(c *config) { c.demoAtOnce = !*update })
	for file, question := range sampleQuestions {
		got := a.record(t, question, `{}`)
		path := filepath.Join("samples", file)
		if *update {
			b, err := json.MarshalIndent(got, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(b, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want runs.Recording
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		if g, w := happened(t, got), happened(t, want); !slices.Equal(g, w) {
			t.Errorf("%s: the demo does\n%s\nand recorded is\n%s", file, strings.Join(g, "\n"), strings.Join(w, "\n"))
		}
	}
}

// A new database begins with the recordings, marked as what they are; one from
// which they were deleted does not get them again.
func TestANewHistoryIsNotEmpty(t *testing.T) {
	file := filepath.Join(t.TempDir(), "planwave.db")
	withSamples := func(c *config) { c.Samples, c.DB = true, file }
	list := func(a *app) []any {
		all, _ := a.call(t, http.MethodGet, "/api/v1/runs?recorded=true", "")["runs"].([]any)
		return all
	}
	t.Run("first", func(t *testing.T) {
		a := serve(t, withSamples)
		all := list(a)
		if len(all) != len(sampleQuestions) {
			t.Fatalf("%d recordings are there", len(all))
		}
		if _, page := a.send(t, http.MethodGet, "/runs", ""); strings.Count(page, "a recording") < 2 {
			t.Errorf("the history does not say that they are recordings: %s", page)
		}
		for _, r := range all {
			one, _ := r.(map[string]any)
			id := fmt.Sprint(one["id"])
			if _, page := a.send(t, http.MethodGet, "/runs/"+id, ""); !strings.Contains(page, "a recording, with the model demo") {
				t.Error("the page of a recording does not say that it is one")
			}
			if err := a.store.Delete(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("second", func(t *testing.T) {
		if all := list(serve(t, withSamples)); len(all) != 0 {
			t.Errorf("%d recordings came back", len(all))
		}
	})
}

// A run with the models replay:RUN asks nobody: the same plan, the same results,
// the same answer, at no cost.
func TestARunIsAnsweredFromARecording(t *testing.T) { // DESIGN, Models; BEHAVIOUR 12.4
	a := serve(t, func(c *config) { c.demoAtOnce = true })
	first := a.record(t, sampleQuestion, `{}`)
	name := `"replay:` + first.ID + `"`
	second := a.record(t, sampleQuestion, `{"planner":`+name+`,"executor":`+name+`,"synthesizer":`+name+`}`)
	if g, w := happened(t, second), happened(t, first); !slices.Equal(g, w) {
		t.Errorf("replayed is\n%s\nand recorded\n%s", strings.Join(g, "\n"), strings.Join(w, "\n"))
	}
	r := a.call(t, http.MethodPost, "/api/v1/runs", `{"question":"Another one?","models":{"planner":`+name+`}}`)
	if r = a.until(t, fmt.Sprint(r["id"]), "run.failed"); !strings.Contains(fmt.Sprint(r["error"]), "does not answer this") {
		t.Errorf("a question that was not recorded ends with %v", r["error"])
	}
	if status, body := a.send(t, http.MethodPost, "/api/v1/runs", `{"question":"q","models":{"planner":"replay:nothing"}}`); status != http.StatusUnprocessableEntity || !strings.Contains(body, "replay:nothing") {
		t.Errorf("a recording that is not there: %d %s", status, body)
	}
}
