package planner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"planwave/internal/agent"
	"planwave/internal/model"
	"planwave/internal/model/demo"
	"planwave/internal/model/gemini"
	"planwave/internal/model/modeltest"
	"planwave/internal/model/openai"
	"planwave/internal/plan"
	"planwave/internal/planner"
	"planwave/internal/tools"
)

// provider returns the real provider of a protocol, asking a server.
func provider(t *testing.T, p modeltest.Protocol, url string) model.Model {
	t.Helper()
	var m interface {
		model.Model
		Close() error
	}
	var err error
	if p == modeltest.Gemini {
		m, err = gemini.New(t.Context(), gemini.Config{Key: "key", BaseURL: url})
	} else {
		m, err = openai.New(openai.Config{BaseURL: url})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// Every plan text comes out of a provider as the model wrote it, streamed or
// not, and is read as it is here without one.
func TestPlansFromTheWildThroughProviders(t *testing.T) { // BEHAVIOUR 2.2
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("all", func(t *testing.T) {
		for _, protocol := range []modeltest.Protocol{modeltest.OpenAI, modeltest.Gemini} {
			var text string
			server := modeltest.NewServer(t, protocol, func(context.Context, modeltest.Asked) modeltest.Reply { return modeltest.Reply{Text: text} })
			whole := provider(t, protocol, server.URL)
			for name, m := range map[string]model.Model{"whole": whole, "streamed": modeltest.Watched(t, whole)} {
				for _, w := range wilds(t) {
					text = w.Input
					req := planner.Request{Question: question, Rules: rules()}
					for _, r := range rules().Tools {
						req.Tools = append(req.Tools, planner.Tool{Name: r.Name, Description: r.Name})
					}
					got, rejected := planned(t, m, req)
					want, wantRejected := planned(t, &repeating{text}, req)
					if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(rejected, wantRejected) {
						t.Errorf("%d %s, %s %s: %+v, %+v, want %+v, %+v", w.N, w.Kind, protocol, name, got, rejected, want, wantRejected)
					}
				}
			}
		}
	})
}

// repeating is a model that always says the same.
type repeating struct{ text string }

func (r *repeating) Generate(context.Context, model.Request) (model.Response, error) {
	return model.Response{Text: r.text}, nil
}

// planned asks for a plan with one correction, and returns what was rejected.
func planned(t *testing.T, m model.Model, req planner.Request) (plan.Plan, []plan.PlanRejected) {
	t.Helper()
	p := planner.Planner{Model: m, ModelName: "m", MaxCorrections: 1}
	var rejected []plan.PlanRejected
	got, err := p.Plan(t.Context(), req, func(r plan.PlanRejected) error {
		rejected = append(rejected, r)
		return nil
	})
	if e, ok := err.(*plan.Error); err != nil && (!ok || e.Code != plan.CodePlanInvalid) { //nolint:errorlint // the planner returns it itself
		t.Errorf("%T %v", err, err)
	}
	return got.Plan, rejected
}

// awkward is a server as people have them: what the demo model would say, in
// the way of that server.
type awkward struct {
	refuses func(modeltest.Asked) string           // words of a 400
	says    func(text string) string               // how it puts what it says
	sends   func(message, answer map[string]any)   // what it sends
	watched func(modeltest.Asked) (refusal string) // of streams
}

func awkwardServers() map[string]awkward {
	form := func(refused ...string) func(modeltest.Asked) string {
		return func(a modeltest.Asked) string {
			if slices.Contains(refused, a.Form) {
				return "response_format of this kind is not supported"
			}
			return ""
		}
	}
	fenced := func(text string) string { return "```json\n" + text + "\n```" }
	thinking := func(text string) string {
		return "<think>\nThe person wants {\"steps\": []}? No, [more] than that.\n</think>\n\n" + text
	}
	asObjects := func(message, _ map[string]any) {
		calls, _ := message["tool_calls"].([]any)
		for _, c := range calls {
			c := c.(map[string]any)                //nolint:errcheck // it was written a moment ago
			f := c["function"].(map[string]any)    //nolint:errcheck // the same
			raw := []byte(f["arguments"].(string)) //nolint:errcheck // the same
			f["arguments"] = json.RawMessage(raw)
			delete(c, "id")
			delete(c, "type")
		}
	}
	noUsage := func(_, answer map[string]any) { delete(answer, "usage") }
	return map[string]awkward{
		"as it should be":      {},
		"no JSON schema":       {refuses: form("json_schema")},
		"no forced tool":       {refuses: form("json_schema", "tool")},
		"no form at all":       {refuses: form("json_schema", "tool", "json_object")},
		"ignores the form":     {says: func(text string) string { return "Sure, here it is [as JSON]:\n\n" + text + "\n\nAnything else?" }},
		"fences":               {says: fenced},
		"thinks aloud":         {says: thinking},
		"arguments as objects": {sends: asObjects},
		"objects in a forced":  {refuses: form("json_schema"), sends: asObjects},
		"no usage":             {sends: noUsage},
		"does not stream":      {watched: func(modeltest.Asked) string { return "stream is not supported" }},
		"no streams of tools": {watched: func(a modeltest.Asked) string {
			return map[bool]string{true: "tools cannot be streamed"}[len(a.Tools) > 0]
		}},
		"all of it":              {refuses: form("json_schema", "tool", "json_object"), says: func(text string) string { return thinking(fenced(text)) }, sends: func(m, a map[string]any) { asObjects(m, a); noUsage(m, a) }},
		"fences after thoughts":  {refuses: form("json_schema", "tool"), says: func(text string) string { return thinking("Here:\n" + fenced(text)) }},
		"reasons beside content": {sends: func(m, _ map[string]any) { m["reasoning_content"] = "hm, {\"steps\":[]}" }},
	}
}

// serve is the script of an awkward server.
func (w awkward) serve(t *testing.T, p modeltest.Protocol) modeltest.Script {
	brain := demo.New(demo.Pace{})
	return func(ctx context.Context, asked modeltest.Asked) modeltest.Reply {
		said := ""
		if w.refuses != nil {
			said = w.refuses(asked)
		}
		if w.watched != nil && asked.Stream && said == "" {
			said = w.watched(asked)
		}
		if said != "" {
			return modeltest.Reply{Status: http.StatusBadRequest, Body: fmt.Sprintf(`{"error":{"message":%q}}`, said)}
		}
		asked.Role = plan.Role(asked.Model)
		resp, err := brain.Generate(ctx, asked.Request)
		if err != nil {
			t.Errorf("the demo model: %v", err)
		}
		if w.says != nil && resp.Text != "" {
			resp.Text = w.says(resp.Text)
		}
		reply := modeltest.Reply{Text: resp.Text, Calls: resp.Calls, Usage: &resp.Usage}
		if p == modeltest.Gemini || w.sends == nil {
			return reply
		}
		var answer map[string]any
		whole := asked
		whole.Stream = false
		if err := json.Unmarshal([]byte(modeltest.Body(p, whole, reply)), &answer); err != nil {
			t.Error(err)
		}
		w.sends(answer["choices"].([]any)[0].(map[string]any)["message"].(map[string]any), answer) //nolint:errcheck // it was written a moment ago
		body, err := json.Marshal(answer)
		if err != nil {
			t.Error(err)
		}
		if asked.Stream {
			return modeltest.Reply{Pieces: slices.Values(modeltest.StreamOf(p, string(body)))}
		}
		return modeltest.Reply{Status: http.StatusOK, Body: string(body)}
	}
}

// The sample question is answered through every awkward server: planned,
// corrected, carried out with tools, and written. DESIGN.md, Models.
func TestTheSampleQuestionThroughAwkwardServers(t *testing.T) { // BEHAVIOUR 2.1, 2.2, 4.1
	for name, w := range awkwardServers() {
		for _, protocol := range []modeltest.Protocol{modeltest.OpenAI, modeltest.Gemini} {
			for _, watched := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, watched %v", name, protocol, watched), func(t *testing.T) {
					server := modeltest.NewServer(t, protocol, w.serve(t, protocol))
					m := provider(t, protocol, server.URL)
					if watched {
						m = modeltest.Watched(t, m)
					}
					if got := answered(t, m); !strings.Contains(got.Result, "Quillhaven") {
						t.Errorf("answered %+v", got)
					}
				})
			}
		}
	}
}

// answered plans the sample question, carries the steps out one by one and
// writes the answer.
func answered(t *testing.T, m model.Model) plan.Answer {
	t.Helper()
	box, err := tools.New(tools.City(), tools.Calculate())
	if err != nil {
		t.Fatal(err)
	}
	req := planner.Request{Question: question, Rules: plan.Rules{}}
	for _, i := range box.List() {
		req.Tools = append(req.Tools, planner.Tool{Name: i.Name, Description: i.Description, Schema: i.Schema})
		req.Rules.Tools = append(req.Rules.Tools, plan.ToolRule{Name: i.Name})
	}
	p := planner.Planner{Model: m, ModelName: string(plan.RolePlanner)}
	rejections := 0
	got, err := p.Plan(t.Context(), req, func(plan.PlanRejected) error { rejections++; return nil })
	if err != nil || rejections != 1 {
		t.Fatalf("%v after %d rejections, want one", err, rejections)
	}
	results := map[string]plan.Result{}
	var reports []agent.StepReport
	for _, s := range got.Plan.Steps { // the demo model writes what is needed first
		task := agent.Task{Question: question, Step: s}
		for _, d := range s.DependsOn {
			task.Inputs = append(task.Inputs, agent.Input{Step: d, Result: results[d]})
		}
		e := agent.Executor{Model: m, ModelName: string(plan.RoleExecutor), Tools: box}
		result, err := e.Execute(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		results[s.ID] = result
		reports = append(reports, agent.StepReport{Step: s.ID, Instruction: s.Instruction, Result: &result})
	}
	s := agent.Synthesizer{Model: m, ModelName: string(plan.RoleSynthesizer)}
	answer, err := s.Write(t.Context(), agent.SynthesisInput{Question: question, Steps: reports})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
