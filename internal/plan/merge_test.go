package plan_test

import (
	"slices"
	"strings"
	"testing"

	"planwave/internal/plan"
)

// stepsOf reads "a=look b=sum:a" as steps with instructions and dependencies.
func stepsOf(text string) plan.Plan {
	var p plan.Plan
	for f := range strings.FieldsSeq(text) {
		id, rest, _ := strings.Cut(f, "=")
		what, deps, _ := strings.Cut(rest, ":")
		s := plan.Step{ID: id, Instruction: what}
		if deps != "" {
			s.DependsOn = strings.Split(deps, ",")
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func textOf(p plan.Plan) string {
	var out []string
	for _, s := range p.Steps {
		f := s.ID + "=" + s.Instruction
		if len(s.DependsOn) > 0 {
			f += ":" + strings.Join(s.DependsOn, ",")
		}
		out = append(out, f)
	}
	return strings.Join(out, " ")
}

func TestMerge(t *testing.T) { // BEHAVIOUR 3.2; ui: stale approval
	const base = "a=look b=look c=sum:a,b"
	tests := map[string]struct{ mine, theirs, want, both string }{
		"nothing here":                {base, "a=LOOK b=look c=sum:a,b", "a=LOOK b=look c=sum:a,b", ""},
		"nothing there":               {"a=find b=look c=sum:a,b", base, "a=find b=look c=sum:a,b", ""},
		"other steps":                 {"a=find b=look c=sum:a,b", "a=look b=LOOK c=sum:a,b", "a=find b=LOOK c=sum:a,b", ""},
		"the same change":             {"a=find b=look c=sum:a,b", "a=find b=look c=sum:a,b", "a=find b=look c=sum:a,b", ""},
		"the same step":               {"a=find b=look c=sum:a,b", "a=LOOK b=look c=sum:a,b", "a=find b=look c=sum:a,b", "a"},
		"added here":                  {"a=look x=new b=look c=sum:a,b,x", base, "a=look x=new b=look c=sum:a,b,x", ""},
		"added there":                 {base, "a=look b=look y=new c=sum:a,b,y", "a=look b=look y=new c=sum:a,b,y", ""},
		"removed here":                {"a=look c=sum:a", base, "a=look c=sum:a", ""},
		"removed there":               {base, "a=look c=sum:a", "a=look c=sum:a", ""},
		"removed here, changed there": {"a=look c=sum:a", "a=look b=LOOK c=sum:a,b", "a=look b=LOOK c=sum:a", "b"},
		"changed here, removed there": {"a=look b=find c=sum:a,b", "a=look c=sum:a", "a=look b=find c=sum:a", "b"},
	}
	for name, tt := range tests {
		got, both := plan.Merge(stepsOf(base), stepsOf(tt.mine), stepsOf(tt.theirs))
		if textOf(got) != tt.want || strings.Join(both, " ") != tt.both {
			t.Errorf("%s: %q, both %q; want %q, %q", name, textOf(got), both, tt.want, tt.both)
		}
	}
	mine := stepsOf(base)
	mine.Deliverable = "c"
	if got, _ := plan.Merge(stepsOf(base), mine, stepsOf(base)); got.Deliverable != "c" || !slices.Equal(got.IDs(), []string{"a", "b", "c"}) {
		t.Errorf("%+v", got)
	}
}
