package plan_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"planwave/internal/plan"
)

// shape is a plan of a known form and what follows from it, each written in
// short: waves as "a b | c", lists as "a b c".
type shape struct {
	name, order, waves, path, ends string
	lines                          []string
	affected                       map[string]string // of one step
}

func shapes() []shape {
	return []shape{
		{
			name: "one step", lines: []string{"a"},
			order: "a", waves: "a", path: "a", ends: "a", affected: map[string]string{"a": "a"},
		},
		{
			name: "chain", lines: []string{"a", "b: a", "c: b", "d: c"},
			order: "a b c d", waves: "a | b | c | d", path: "a b c d", ends: "d",
			affected: map[string]string{"a": "a b c d", "c": "c d", "d": "d"},
		},
		{
			name: "chain written backwards", lines: []string{"d: c", "c: b", "b: a", "a"},
			order: "a b c d", waves: "a | b | c | d", path: "a b c d", ends: "d",
			affected: map[string]string{"a": "d c b a", "c": "d c"},
		},
		{
			name: "comparison", lines: []string{"s1", "s2", "s3", "s4: s1 s2 s3"}, // BEHAVIOUR 13
			order: "s1 s2 s3 s4", waves: "s1 s2 s3 | s4", path: "s1 s4", ends: "s4",
			affected: map[string]string{"s2": "s2 s4", "s4": "s4"},
		},
		{
			name: "diamond", lines: []string{"a", "b: a", "c: a", "d: b c"},
			order: "a b c d", waves: "a | b c | d", path: "a b d", ends: "d",
			affected: map[string]string{"a": "a b c d", "b": "b d"},
		},
		{
			name: "diamond with a short way", lines: []string{"a", "b: a", "c: a b", "d: c a"},
			order: "a b c d", waves: "a | b | c | d", path: "a b c d", ends: "d",
			affected: map[string]string{"b": "b c d"},
		},
		{
			name: "fan out", lines: []string{"a", "b: a", "c: a", "d: a"},
			order: "a b c d", waves: "a | b c d", path: "a b", ends: "b c d",
			affected: map[string]string{"a": "a b c d", "d": "d"},
		},
		{
			name: "ties in plan order", lines: []string{"z", "m", "a", "end: a m z"},
			order: "z m a end", waves: "z m a | end", path: "a end", ends: "end",
			affected: map[string]string{"m": "m end"},
		},
		{
			name: "a late root", lines: []string{"end: a late", "a", "b: a", "late", "c: b"},
			order: "a b late end c", waves: "a late | end b | c", path: "a b c", ends: "end c",
			affected: map[string]string{"late": "end late", "a": "end a b c"},
		},
		{
			name: "apart", lines: []string{"a", "b: a", "x", "y: x"},
			order: "a b x y", waves: "a x | b y", path: "a b", ends: "b y",
			affected: map[string]string{"x": "x y"},
		},
		{
			name: "one edge twice", lines: []string{"a", "b: a a a"},
			order: "a b", waves: "a | b", path: "a b", ends: "b", affected: map[string]string{"a": "a b"},
		},
		{
			name: "two diamonds in a row", lines: []string{"a", "b: a", "c: a", "d: b c", "e: d", "f: d", "g: e f"},
			order: "a b c d e f g", waves: "a | b c | d | e f | g", path: "a b d e g", ends: "g",
			affected: map[string]string{"c": "c d e f g", "f": "f g"},
		},
		{
			name: "crossed", lines: []string{"a", "b", "c: a b", "d: a b", "e: c d"},
			order: "a b c d e", waves: "a b | c d | e", path: "a c e", ends: "e",
			affected: map[string]string{"b": "b c d e", "d": "d e"},
		},
		{
			name: "uneven ways", lines: []string{"a", "b: a", "c: b", "x", "end: c x"},
			order: "a b c x end", waves: "a x | b | c | end", path: "a b c end", ends: "end",
			affected: map[string]string{"x": "x end"},
		},
		{
			name: "nothing", order: "", waves: "", path: "", ends: "",
		},
	}
}

func TestShapes(t *testing.T) { // BEHAVIOUR 1.5
	for _, tt := range shapes() {
		t.Run(tt.name, func(t *testing.T) {
			p := steps(tt.lines...)
			order, err1 := plan.Order(p)
			waves, err2 := plan.Waves(p)
			path, err3 := plan.CriticalPath(p, nil)
			for _, err := range []error{err1, err2, err3} {
				if err != nil {
					t.Fatal(err)
				}
			}
			written := make([]string, len(waves))
			for i, w := range waves {
				written[i] = strings.Join(w, " ")
			}
			for what, pair := range map[string][2]string{
				"order": {strings.Join(order, " "), tt.order}, "waves": {strings.Join(written, " | "), tt.waves},
				"critical path": {strings.Join(path, " "), tt.path}, "ends": {strings.Join(plan.Terminals(p), " "), tt.ends},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s: %q, want %q", what, pair[0], pair[1])
				}
			}
			for _, of := range slices.Sorted(maps.Keys(tt.affected)) {
				got, err := plan.Affected(p, []string{of})
				if err != nil || strings.Join(got, " ") != tt.affected[of] {
					t.Errorf("affected by %s: %v, %v, want %s", of, got, err, tt.affected[of])
				}
			}
		})
	}
}

func TestTheOrderOfDependenciesDoesNotMatter(t *testing.T) { // BEHAVIOUR 1.5: the same every time
	for _, tt := range shapes() {
		p, turned := steps(tt.lines...), steps(tt.lines...)
		for i := range turned.Steps {
			slices.Reverse(turned.Steps[i].DependsOn)
		}
		a, err1 := plan.Order(p)
		b, err2 := plan.Order(turned)
		x, err3 := plan.Waves(p)
		y, err4 := plan.Waves(turned)
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil || !slices.Equal(a, b) || fmt.Sprint(x) != fmt.Sprint(y) {
			t.Errorf("%s: %v and %v, %v and %v", tt.name, a, b, x, y)
		}
	}
}

func TestAffectedByMoreThanOne(t *testing.T) { // BEHAVIOUR 1.5, 5.8
	p := steps("a", "b: a", "x", "y: x", "end: b y", "other")
	for _, tt := range []struct{ of, want string }{
		{"b x", "b x y end"}, {"x b", "b x y end"}, {"b b", "b end"}, {"end", "end"}, {"other a", "a b end other"}, {"", ""},
	} {
		got, err := plan.Affected(p, strings.Fields(tt.of))
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("affected by %q: %v, %v, want %s", tt.of, got, err, tt.want)
		}
	}
	if got, err := plan.Affected(p, []string{"a", "zz"}); err == nil || got != nil || !strings.Contains(err.Error(), `"zz"`) {
		t.Errorf("a step that is not there affects %v, %v", got, err)
	}
}

func TestTheHeaviestChain(t *testing.T) { // BEHAVIOUR 1.5, 3.6
	p := steps("a", "b: a", "c: b", "x", "y", "end: c x y")
	for _, tt := range []struct {
		name   string
		weight map[string]float64
		want   string
	}{
		{"all the same", nil, "a b c end"},
		{"a heavy root", map[string]float64{"x": 10, "end": 1}, "x end"},
		{"a heavy root, but not heavy enough", map[string]float64{"a": 1, "b": 1, "c": 1, "x": 2.5, "end": 1}, "a b c end"},
		{"the end weighs nothing", map[string]float64{"a": 1, "y": 1.5}, "y"},
		{"nothing weighs anything", map[string]float64{}, "a"},
		{"less than nothing", map[string]float64{"a": 3, "b": -100, "end": 1}, "a b c end"},
		{"no number", map[string]float64{"a": 3, "x": math.NaN(), "end": 1}, "a b c end"},
		{"more than any number", map[string]float64{"y": math.Inf(1), "end": 1}, "y"},
	} {
		weight := func(id string) float64 { return tt.weight[id] }
		if tt.weight == nil {
			weight = nil
		}
		got, err := plan.CriticalPath(p, weight)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestNothingIsOrderedThatCannotBe(t *testing.T) { // BEHAVIOUR 1.4
	for _, tt := range []struct {
		name     string
		lines    []string
		deadlock bool
		says     string
	}{
		{"a cycle of two", []string{"a: b", "b: a"}, true, "2 of 2 steps"},
		{"itself", []string{"a", "b: b"}, true, "1 of 2 steps"},
		{"behind a cycle", []string{"a: b", "b: a", "c: b", "free"}, true, "3 of 4 steps"},
		{"a stranger", []string{"a", "b: a zz"}, true, `"b" needs "zz"`},
		{"one id twice", []string{"a", "a", "b: a"}, false, `several steps have the id "a"`},
	} {
		p := steps(tt.lines...)
		order, err1 := plan.Order(p)
		waves, err2 := plan.Waves(p)
		path, err3 := plan.CriticalPath(p, nil)
		if order != nil || waves != nil || path != nil {
			t.Errorf("%s: partly ordered: %v, %v, %v", tt.name, order, waves, path)
		}
		for _, err := range []error{err1, err2, err3} {
			if err == nil || strings.Contains(err.Error(), plan.ErrDeadlock.Error()) != tt.deadlock || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	}
}
