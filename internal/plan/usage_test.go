package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

func TestMoneyInJSON(t *testing.T) { // BEHAVIOUR 8.4
	for _, tt := range []struct {
		amount plan.USD
		want   string
	}{
		{0, "0"},
		{plan.Dollar, "1"},
		{1, "0.000000001"},
		{2_100_000, "0.0021"},
		{-plan.Dollar / 2, "-0.5"},
		{1_234_567*plan.Dollar + 890_000_000, "1234567.89"},
		{plan.DollarsOf(0.1) + plan.DollarsOf(0.2), "0.3"},
	} {
		b, err := json.Marshal(tt.amount)
		if err != nil || string(b) != tt.want {
			t.Errorf("%d is written %s, %v, want %s", int64(tt.amount), b, err, tt.want)
		}
		var back plan.USD
		if err := json.Unmarshal(b, &back); err != nil || back != tt.amount {
			t.Errorf("%s is read as %d, %v", b, int64(back), err)
		}
	}
	for text, want := range map[string]plan.USD{"1e-9": 1, "0.0000000004": 0, "0.0000000006": 1, "2.5": 5 * plan.Dollar / 2} {
		var u plan.USD
		if err := json.Unmarshal([]byte(text), &u); err != nil || u != want {
			t.Errorf("%s is read as %d, %v, want %d", text, int64(u), err, int64(want))
		}
	}
	for _, text := range []string{`"1"`, `{}`, `1e10`, `-1e10`, `1e400`, `true`} {
		var u plan.USD
		if err := json.Unmarshal([]byte(text), &u); err == nil || !strings.Contains(err.Error(), "dollars") {
			t.Errorf("%s is read as %d, %v", text, int64(u), err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		u := plan.USD(rapid.Int64Range(-1_000_000*int64(plan.Dollar), 1_000_000*int64(plan.Dollar)).Draw(t, "amount"))
		b, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		var back plan.USD
		if err := json.Unmarshal(b, &back); err != nil || back != u {
			t.Fatalf("%d is written %s and read as %d, %v", int64(u), b, int64(back), err)
		}
	})
}

func TestAMissingLimitIsNoLimit(t *testing.T) { // BEHAVIOUR 8.1
	b := plan.DefaultBudget()
	if *b.Requests != 40 || *b.Tokens != 200_000 || b.CostUSD != nil || b.Steps != nil {
		t.Errorf("the default is %+v", b)
	}
	raw, err := json.Marshal(b)
	if err != nil || string(raw) != `{"requests":40,"tokens":200000,"cost_usd":null,"steps":null}` {
		t.Errorf("%s, %v", raw, err)
	}
	var back plan.Budget
	if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(back, b) {
		t.Errorf("read back %+v, %v", back, err)
	}
	o := plan.DefaultOptions()
	if o.MaxSteps != 6 || o.MaxParallel != 5 || o.Approval != plan.ApprovalManual || o.Schedule != plan.ScheduleWaves || o.Replan.Max != 3 {
		t.Errorf("the default options are %+v", o)
	}
}

func anyUsage(t *rapid.T, name string) plan.Usage {
	n := rapid.IntRange(0, 1_000)
	u := plan.Usage{
		Requests: n.Draw(t, name), InputTokens: n.Draw(t, name), OutputTokens: n.Draw(t, name),
		CachedTokens: n.Draw(t, name), ThinkingTokens: n.Draw(t, name), TotalTokens: n.Draw(t, name),
	}
	if rapid.Bool().Draw(t, name+" has a price") {
		c := plan.USD(rapid.Int64Range(0, 1_000).Draw(t, name))
		u.CostUSD = &c
	}
	return u
}

func TestAddingUsage(t *testing.T) { // BEHAVIOUR 8.4
	c := plan.Dollar
	known, unknown := plan.Usage{Requests: 1, TotalTokens: 5, CostUSD: &c}, plan.Usage{Requests: 1, TotalTokens: 7}
	if sum := known.Add(known); *sum.CostUSD != 2*plan.Dollar || sum.TotalTokens != 10 || c != plan.Dollar {
		t.Errorf("known and known: %+v", sum)
	}
	for name, sum := range map[string]plan.Usage{"known and unknown": known.Add(unknown), "unknown and known": unknown.Add(known)} {
		if sum.CostUSD != nil || sum.TotalTokens != 12 || sum.Requests != 2 {
			t.Errorf("%s: %+v", name, sum)
		}
	}
	if sum := known.Add(plan.Usage{}); !reflect.DeepEqual(sum, known) {
		t.Errorf("known and nothing: %+v", sum)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyUsage(t, "a"), anyUsage(t, "b"), anyUsage(t, "c")
		if x, y := a.Add(b).Add(c), a.Add(b.Add(c)); !reflect.DeepEqual(x, y) {
			t.Fatalf("(a+b)+c = %+v, a+(b+c) = %+v", x, y)
		}
		if x, y := a.Add(b), b.Add(a); !reflect.DeepEqual(x, y) {
			t.Fatalf("a+b = %+v, b+a = %+v", x, y)
		}
		if x := (plan.Usage{}).Add(a); !reflect.DeepEqual(x, a) {
			t.Fatalf("nothing and a = %+v", x)
		}
		if raw, err := json.Marshal(a); err != nil || !strings.Contains(string(raw), `"cost_usd":`) {
			t.Fatalf("%s, %v", raw, err)
		}
	})
}

func TestAmounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1_000)
		draw := func(name string) plan.Amount {
			return plan.Amount{Requests: n.Draw(t, name), Tokens: n.Draw(t, name), CostUSD: plan.USD(n.Draw(t, name)), Steps: n.Draw(t, name)}
		}
		a, b := draw("a"), draw("b")
		if a.Plus(b) != b.Plus(a) || a.Plus(b).Minus(b) != a || a.Minus(a) != (plan.Amount{}) {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
	if got := (plan.Amount{Requests: 1, Tokens: 2, CostUSD: 3, Steps: 4}).Plus(plan.Amount{Requests: 10, Tokens: 20, CostUSD: 30, Steps: 40}); got != (plan.Amount{Requests: 11, Tokens: 22, CostUSD: 33, Steps: 44}) {
		t.Errorf("sum %+v", got)
	}
}

func TestApplyingMends(t *testing.T) {
	tool, none, deliverable, deps := "calc", "", "s1", []string{"x", "y"}
	for name, tt := range map[string]struct {
		mend   plan.Mend
		change func(*plan.Plan)
	}{
		"dependencies":        {plan.Mend{Step: "s2", DependsOn: &deps}, func(p *plan.Plan) { p.Steps[1].DependsOn = []string{"x", "y"} }},
		"no dependencies":     {plan.Mend{Step: "s2", DependsOn: &[]string{}}, func(p *plan.Plan) { p.Steps[1].DependsOn = []string{} }},
		"deliverable":         {plan.Mend{Deliverable: &deliverable}, func(p *plan.Plan) { p.Deliverable = "s1" }},
		"no deliverable":      {plan.Mend{Deliverable: &none}, func(p *plan.Plan) { p.Deliverable = "" }},
		"another tool":        {plan.Mend{Step: "s1", Tool: &tool}, func(p *plan.Plan) { p.Steps[0].Tool = "calc" }},
		"no tool, no input":   {plan.Mend{Step: "s1", Tool: &none}, func(p *plan.Plan) { p.Steps[0].Tool, p.Steps[0].Input = "", nil }},
		"a step not there":    {plan.Mend{Step: "s9", DependsOn: &deps, Tool: &tool}, func(*plan.Plan) {}},
		"nothing to be done":  {plan.Mend{Label: "x", Step: "s1"}, func(*plan.Plan) {}},
		"no step, only edits": {plan.Mend{DependsOn: &deps}, func(*plan.Plan) {}},
	} {
		before, want := full(), full()
		tt.change(&want)
		got := tt.mend.Apply(before)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if !reflect.DeepEqual(before, full()) {
			t.Errorf("%s: the plan that was given is changed", name)
		}
	}
	got := plan.Mend{Step: "s2", DependsOn: &deps}.Apply(full())
	got.Steps[1].DependsOn[0] = "z"
	if deps[0] != "x" {
		t.Error("the mended plan shares its dependencies with the mend")
	}
}

func TestErrorsHideTheirCause(t *testing.T) { // BEHAVIOUR 11
	cause := errors.New("dial 10.0.0.1: secret")
	e := plan.NewError(plan.CodeToolFailed, "The tool failed. Try again.", cause)
	if !errors.Is(e, cause) || e.Error() != "tool_failed: The tool failed. Try again.: dial 10.0.0.1: secret" {
		t.Errorf("%v", e)
	}
	if bare := plan.NewError(plan.CodeConflict, "m", nil); bare.Error() != "conflict: m" || bare.Unwrap() != nil {
		t.Errorf("%v", bare)
	}
	wrapped := fmt.Errorf("run step s1: %w", e)
	if got := plan.AsError(wrapped); got != e {
		t.Errorf("a wrapped error is %v", got)
	}
	if f := plan.FaultOf(wrapped); f != (plan.Fault{Code: plan.CodeToolFailed, Message: "The tool failed. Try again."}) {
		t.Errorf("kept of it is %+v", f)
	}
	foreign := plan.FaultOf(cause)
	if foreign.Code != plan.CodeInternal || strings.Contains(foreign.Message, "secret") || !strings.Contains(foreign.Message, "log") {
		t.Errorf("kept of a foreign error is %+v", foreign)
	}
	if !errors.Is(plan.AsError(cause), cause) {
		t.Error("the cause of a foreign error is lost to the log")
	}
	for _, tt := range []struct {
		err  error
		want plan.Code
	}{{nil, ""}, {wrapped, plan.CodeToolFailed}, {cause, plan.CodeInternal}} {
		if got := plan.CodeOf(tt.err); got != tt.want {
			t.Errorf("the code of %v is %q, want %q", tt.err, got, tt.want)
		}
	}
}

func TestRolesAreListedOnce(t *testing.T) {
	roles := plan.Roles()
	want := []plan.Role{plan.RolePlanner, plan.RoleExecutor, plan.RoleSynthesizer, plan.RoleJudge, plan.RoleProposer}
	if !slices.Equal(roles, want) {
		t.Errorf("roles %v", roles)
	}
}

func TestViolationsInJSON(t *testing.T) { // BEHAVIOUR 1.2
	deps := []string{"s1"}
	v := plan.Violation{Code: plan.CodeNoSingleFinalStep, Steps: []string{"s1", "s2"}, Message: "m", Mend: &plan.Mend{Label: "l", Step: "s2", DependsOn: &deps}}
	b, err := json.Marshal(v)
	want := `{"code":"no_single_final_step","steps":["s1","s2"],"message":"m","mend":{"label":"l","step":"s2","depends_on":["s1"]}}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
	var back plan.Violation
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, v) {
		t.Errorf("read back %+v, %v", back, err)
	}
	if plan.Valid([]plan.Violation{{Warning: true}, v}) || !plan.Valid([]plan.Violation{{Warning: true}}) || !plan.Valid(nil) {
		t.Error("warnings keep a plan from running, or violations do not")
	}
}
