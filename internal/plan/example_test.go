package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"planwave/internal/plan"
)

// comparison is what models write: the last step forgets what it compares.
func comparison() plan.Plan {
	return plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "Look up Brindlemoor."},
		{ID: "s2", Instruction: "Look up Quillhaven."},
		{ID: "s3", Instruction: "Compare their densities."},
	}}
}

func ExampleCheck() {
	p := comparison()
	for _, v := range plan.Check(p, plan.Rules{}) {
		fmt.Println(v.Code, v.Steps)
		fmt.Println(v.Message)
		fmt.Println("Button:", v.Mend.Label)
		p = v.Mend.Apply(p)
	}
	fmt.Println("After the mend:", plan.Valid(plan.Check(p, plan.Rules{})))
	// Output:
	// no_single_final_step [s1 s2 s3]
	// A plan comes to one final step, and here s1, s2, s3 are all ends that no other step uses. Make s3 final: set its depends_on to ["s1", "s2"].
	// Button: Make s3 the final step
	// After the mend: true
}

func ExampleMended() {
	p := plan.Plan{Steps: []plan.Step{
		{ID: "s1", Instruction: "Look up."}, {ID: "s2", Instruction: "Tell.", DependsOn: []string{"s1", "s1"}},
	}}
	p, said := plan.Mended(p)
	fmt.Println(p.Steps[1].DependsOn, said)
	// Output: [s1] [Step s2 named s1 more than once in depends_on; one is kept.]
}

func ExampleWaves() {
	p := comparison()
	p.Steps[2].DependsOn = []string{"s1", "s2"}
	waves, err := plan.Waves(p)
	fmt.Println(waves, err)
	path, err := plan.CriticalPath(p, nil)
	fmt.Println(path, err)
	// Output:
	// [[s1 s2] [s3]] <nil>
	// [s1 s3] <nil>
}

func ExampleOrder_deadlock() {
	p := plan.Plan{Steps: []plan.Step{
		{ID: "a", DependsOn: []string{"b"}}, {ID: "b", DependsOn: []string{"a"}}, {ID: "c"},
	}}
	order, err := plan.Order(p)
	fmt.Println(order, err)
	// Output: [] steps remain and none of them can start: 2 of 3 steps wait on a cycle
}

func ExampleAffected() {
	p := plan.Plan{Steps: []plan.Step{
		{ID: "inspect"}, {ID: "code", DependsOn: []string{"inspect"}}, {ID: "test", DependsOn: []string{"code"}}, {ID: "docs", DependsOn: []string{"inspect"}},
	}}
	reset, err := plan.Affected(p, []string{"code"})
	fmt.Println(reset, err)
	// Output: [code test] <nil>
}

func ExampleHash() {
	written := plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "Look up.", Tool: "get_city", Input: json.RawMessage(`{ "name": "Tarnby", "all": 1.0 }`)}}}
	stored := plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "Look up.", DependsOn: []string{}, Tool: "get_city", Input: json.RawMessage(`{"all":1.0,"name":"Tarnby"}`)}}}
	a, _ := plan.Hash(written)
	b, _ := plan.Hash(stored)
	fmt.Println(a == b, strings.HasPrefix(a, "sha256:"))
	stored.Steps[0].Input = json.RawMessage(`{"all":2.0,"name":"Tarnby"}`)
	c, _ := plan.Hash(stored)
	fmt.Println(a == c)
	// Output:
	// true true
	// false
}

func ExampleFill() {
	results := map[string]plan.Result{
		"s1": {Text: "84,000 people", Data: json.RawMessage(`{"result":"84,000 people","population":84000}`)},
		"s2": {Text: "who wrote ${s1}?"},
	}
	for _, input := range []string{`{"expression":"${s1.population} / 120"}`, `{"n":"${s1.population}"}`, `{"text":"${s1}, ${s2}"}`} {
		filled, err := plan.Fill(json.RawMessage(input), results)
		fmt.Println(string(filled), err)
	}
	// Output:
	// {"expression":"84000 / 120"} <nil>
	// {"n":84000} <nil>
	// {"text":"84,000 people, who wrote ${s1}?"} <nil>
}

func ExampleReferences() {
	refs, err := plan.References(json.RawMessage(`{"a":"${s1}","b":["${s2.list.0}"]}`))
	fmt.Println(refs, err)
	// Output: [${s1} ${s2.list.0}] <nil>
}

func ExampleFold() {
	p := plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "Look up.", DependsOn: []string{}}}}
	hash, _ := plan.Hash(p)
	var events []plan.Event
	for i, what := range []plan.Payload{
		plan.RunCreated{Question: "How many?", Options: plan.DefaultOptions()},
		plan.PlanRequested{},
		plan.PlanProposed{Version: plan.Version{Number: 1, Plan: p, Hash: hash, Author: "planner"}},
		plan.PlanApproved{Version: 1, Hash: hash, By: "ann"},
		plan.RunStarted{},
		plan.WaveStarted{Wave: 1, Steps: []string{"s1"}},
		plan.StepStarted{Step: "s1", Attempt: 1, Wave: 1},
	} {
		events = append(events, plan.Event{Seq: int64(i + 1), Data: what})
	}
	run, err := plan.Fold("r1", events)
	fmt.Println(run.Status, run.Step("s1").Status, run.Seq, err)
	_, err = plan.Fold("r1", events[1:])
	fmt.Println(err)
	// Output:
	// running running 7 <nil>
	// event does not fit the state of the run: run r1 is at 0 and was given event 2
}

func ExampleShort() {
	fmt.Println(plan.Short("💰💰💰", 2), plan.Short("💰💰", 2))
	// Output: 💰💰… 💰💰
}

func ExampleCriticalPath() {
	p := plan.Plan{Steps: []plan.Step{
		{ID: "quick"}, {ID: "slow"}, {ID: "check", DependsOn: []string{"quick"}}, {ID: "end", DependsOn: []string{"check", "slow"}},
	}}
	seconds := map[string]float64{"quick": 1, "slow": 9, "check": 2, "end": 1}
	path, err := plan.CriticalPath(p, func(id string) float64 { return seconds[id] })
	fmt.Println(path, err)
	// Output: [slow end] <nil>
}

func ExampleTerminals() {
	fmt.Println(plan.Terminals(comparison()))
	// Output: [s1 s2 s3]
}
