package treesearch_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"planwave/internal/treesearch"
)

// tree is a search space written down: the children of each state, and scores
// of states. A state has no children and the score 0 unless it says so.
type tree struct {
	children map[string]string
	scores   map[string]float64
	goals    []string
}

func (tr tree) Propose(_ context.Context, n treesearch.Node) (p treesearch.Proposals, err error) {
	for c := range strings.FieldsSeq(tr.children[n.State]) {
		p.Children = append(p.Children, treesearch.Proposal{State: c, Step: n.State + ">" + c})
	}
	return p, nil
}

func (tr tree) Judge(_ context.Context, n treesearch.Node) (treesearch.Verdict, error) {
	return treesearch.Verdict{Score: tr.scores[n.State], Reason: "of " + n.State}, nil
}

func (tr tree) options() treesearch.Options {
	return treesearch.Options{Proposer: tr, Judge: tr, Goal: func(s string) bool { return slices.Contains(tr.goals, s) }}
}

// states are the states of nodes, in order.
func states(nodes []treesearch.Node) string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.State)
	}
	return strings.Join(all, " ")
}

func TestTheBestAreKeptAndProposalOrderBreaksTies(t *testing.T) {
	tr := tree{
		children: map[string]string{"root": "a b c d e", "b": "b1 b2", "d": "d1", "a": "a1"},
		scores:   map[string]float64{"a": 1, "b": 2, "c": -1, "d": 2, "e": 1, "b2": 7, "d1": 7, "a1": 7, "b1": 7},
	}
	o := tr.options()
	o.Breadth, o.MaxDepth = 3, 2
	r, err := treesearch.Search(t.Context(), "root", o)
	if !errors.Is(err, treesearch.ErrNoGoal) || r.Goal != nil || len(r.Levels) != 2 {
		t.Fatalf("got goal %v, %d levels, error %v", r.Goal, len(r.Levels), err)
	}
	for i, want := range []struct{ kept, pruned, all string }{
		{"b d a", "e c", "a b c d e"},
		{"b1 b2 d1", "a1", "b1 b2 d1 a1"}, // the parents come best first
	} {
		l := r.Levels[i]
		if states(l.Kept) != want.kept || states(l.Pruned) != want.pruned || states(l.Nodes()) != want.all {
			t.Errorf("level %d keeps %q and prunes %q of %q, want %+v", l.Depth, states(l.Kept), states(l.Pruned), states(l.Nodes()), want)
		}
	}
	want := treesearch.Node{ID: "2.2", ParentID: "1.3", Depth: 2, Index: 2, State: "d1", Step: "d>d1", Score: 7, Reason: "of d1"}
	if got := r.Levels[1].Kept[2]; got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := states(r.Path("2.2")); got != "root d d1" {
		t.Errorf("the path to d1 is %q", got)
	}
	if got := states(r.Path("2.3")); got != "root a a1" {
		t.Errorf("the path to the pruned a1 is %q", got)
	}
	if got := r.Path("9.9"); got != nil {
		t.Errorf("the path to no node is %v", got)
	}
}

func TestTheFirstGoalInProposalOrderEndsTheSearch(t *testing.T) {
	tr := tree{
		children: map[string]string{"root": "a b", "a": "x a2", "b": "b1 y z"},
		scores:   map[string]float64{"a": 1, "b": 2},
		goals:    []string{"x", "y", "z"},
	}
	o := tr.options()
	judged := 0
	o.Judge = treesearch.JudgeFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Verdict, error) {
		judged++
		return tr.Judge(ctx, n)
	})
	r, err := treesearch.Search(t.Context(), "root", o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Goal == nil || r.Goal.State != "y" || r.Goal.ID != "2.1" {
		t.Fatalf("the goal is %+v, want y: the parent b is better than a", r.Goal)
	}
	l := r.Levels[1]
	if states(l.Kept) != "y" || states(l.Pruned) != "b1 z x a2" || *l.Goal != *r.Goal {
		t.Errorf("the level of the goal keeps %q and prunes %q", states(l.Kept), states(l.Pruned))
	}
	if judged != 2 {
		t.Errorf("%d nodes were judged, want those of level 1 only", judged)
	}
}

func TestARootThatIsAGoalNeedsNoLevel(t *testing.T) {
	o := tree{goals: []string{"root"}}.options()
	o.OnLevel = func(_ context.Context, l treesearch.Level) error {
		t.Errorf("level %d is reported", l.Depth)
		return nil
	}
	r, err := treesearch.Search(t.Context(), "root", o)
	if err != nil || r.Goal == nil || r.Goal.ID != "0.0" || len(r.Levels) != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestNoGoalSaysWhereTheSearchEnded(t *testing.T) {
	for name, c := range map[string]struct {
		tr      tree
		depth   int
		deadEnd bool
		says    string
	}{
		"at the last level": {tree{children: map[string]string{"root": "root"}}, 4, false, "a larger max_depth"},
		"at a dead end":     {tree{children: map[string]string{"root": "a"}}, 2, true, "nothing was left to try at depth 2"},
		"at once":           {tree{}, 1, true, "nothing was left to try at depth 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := treesearch.Search(t.Context(), "root", c.tr.options())
			var none *treesearch.NoGoalError
			if !errors.As(err, &none) || !errors.Is(err, treesearch.ErrNoGoal) {
				t.Fatalf("error %v", err)
			}
			if none.Depth != c.depth || none.DeadEnd != c.deadEnd || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v: %v", none, err)
			}
			if len(r.Levels) != c.depth {
				t.Errorf("%d levels are left, want %d", len(r.Levels), c.depth)
			}
		})
	}
}

func TestTheStandardWidthsAreFiveAndFour(t *testing.T) {
	r, _ := treesearch.Search(t.Context(), "s", tree{children: map[string]string{"s": "s s s"}}.options())
	if len(r.Levels) != 4 || len(r.Levels[3].Kept) != 5 || len(r.Levels[3].Pruned) != 10 {
		t.Errorf("%d levels", len(r.Levels))
	}
}

func TestALevelIsReportedBeforeTheNextStarts(t *testing.T) {
	tr := tree{children: map[string]string{"s": "s s"}}
	var log []string
	o := tr.options()
	o.Breadth, o.MaxDepth = 1, 3
	o.Proposer = treesearch.ProposerFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Proposals, error) {
		log = append(log, "propose "+n.ID)
		return tr.Propose(ctx, n)
	})
	o.Judge = treesearch.JudgeFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Verdict, error) {
		log = append(log, "judge "+n.ID)
		return tr.Judge(ctx, n)
	})
	stop := errors.New("the disk is full")
	o.OnLevel = func(_ context.Context, l treesearch.Level) error {
		log = append(log, fmt.Sprintf("level %d", l.Depth))
		if l.Depth == 2 {
			return stop
		}
		return nil
	}
	r, err := treesearch.Search(t.Context(), "s", o)
	want := []string{"propose 0.0", "judge 1.0", "judge 1.1", "level 1", "propose 1.0", "judge 2.0", "judge 2.1", "level 2"}
	if !slices.Equal(log, want) {
		t.Errorf("got  %q\nwant %q", log, want)
	}
	if err != stop || len(r.Levels) != 1 { //nolint:errorlint // the very error, not wrapped
		t.Errorf("%d levels are done, error %v: a level that was not stored is not done", len(r.Levels), err)
	}
}

func TestErrorsComeBackAsTheyAre(t *testing.T) {
	exhausted := errors.New("budget exhausted")
	tr := tree{children: map[string]string{"root": "a b", "a": "c"}}
	for name, change := range map[string]func(*treesearch.Options){
		"of a proposer": func(o *treesearch.Options) {
			o.Proposer = treesearch.ProposerFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Proposals, error) {
				if n.Depth == 1 {
					return treesearch.Proposals{}, exhausted
				}
				return tr.Propose(ctx, n)
			})
		},
		"of a judge": func(o *treesearch.Options) {
			o.Judge = treesearch.JudgeFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Verdict, error) {
				if n.Depth == 2 {
					return treesearch.Verdict{}, exhausted
				}
				return tr.Judge(ctx, n)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := tr.options()
			change(&o)
			r, err := treesearch.Search(t.Context(), "root", o)
			if err != exhausted { //nolint:errorlint // the very error, not wrapped
				t.Errorf("error %v", err)
			}
			if len(r.Levels) != 1 || states(r.Levels[0].Kept) != "a b" {
				t.Errorf("the finished level is lost: %+v", r.Levels)
			}
		})
	}
}

func TestAScoreIsAFiniteNumber(t *testing.T) {
	for _, score := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		o := tree{children: map[string]string{"root": "a"}, scores: map[string]float64{"a": score}}.options()
		if _, err := treesearch.Search(t.Context(), "root", o); !errors.Is(err, treesearch.ErrScore) {
			t.Errorf("a score of %v: error %v", score, err)
		}
	}
}

func TestOptionsThatNoSearchCanFollow(t *testing.T) {
	for name, change := range map[string]func(*treesearch.Options){
		"no proposer": func(o *treesearch.Options) { o.Proposer = nil },
		"no judge":    func(o *treesearch.Options) { o.Judge = nil },
		"no goal":     func(o *treesearch.Options) { o.Goal = nil },
		"breadth":     func(o *treesearch.Options) { o.Breadth = -1 },
		"max_depth":   func(o *treesearch.Options) { o.MaxDepth = -1 },
		"parallel":    func(o *treesearch.Options) { o.Parallel = -1 },
	} {
		o := tree{}.options()
		change(&o)
		_, err := treesearch.Search(t.Context(), "root", o)
		if !errors.Is(err, treesearch.ErrOptions) || !strings.Contains(err.Error(), strings.TrimPrefix(name, "no ")) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestDropsKnowTheirParent(t *testing.T) {
	o := tree{}.options()
	o.MaxDepth = 1
	o.Proposer = treesearch.ProposerFunc(func(context.Context, treesearch.Node) (treesearch.Proposals, error) {
		return treesearch.Proposals{Dropped: []treesearch.Drop{{ParentID: "of no account", Reason: "unreadable", Text: "hm"}}}, nil
	})
	r, _ := treesearch.Search(t.Context(), "root", o)
	want := []treesearch.Drop{{ParentID: "0.0", Reason: "unreadable", Text: "hm"}}
	if len(r.Levels) != 1 || !reflect.DeepEqual(r.Levels[0].Dropped, want) {
		t.Errorf("got %+v, want %+v", r.Levels, want)
	}
}

func TestLevelsThatNoSearchLeft(t *testing.T) {
	tr := tree{children: map[string]string{"root": "a b", "a": "c", "b": "d x"}, goals: []string{"x"}}
	full, err := treesearch.Search(t.Context(), "root", tr.options())
	if err != nil || len(full.Levels) != 2 {
		t.Fatalf("%d levels, error %v", len(full.Levels), err)
	}
	for name, change := range map[string]func(ls []treesearch.Level) []treesearch.Level{
		"a level is missing": func(ls []treesearch.Level) []treesearch.Level { return ls[1:] },
		"a level twice":      func(ls []treesearch.Level) []treesearch.Level { return append(ls[:1], ls[0]) },
		"a node is missing":  func(ls []treesearch.Level) []treesearch.Level { ls[0].Kept = ls[0].Kept[1:]; return ls },
		"a foreign parent":   func(ls []treesearch.Level) []treesearch.Level { ls[1].Pruned[0].ParentID = "1.7"; return ls },
		"a level of nothing": func(ls []treesearch.Level) []treesearch.Level { ls[0].Kept = nil; return ls },
		"a goal not kept":    func(ls []treesearch.Level) []treesearch.Level { ls[1].Goal = &ls[1].Pruned[0]; return ls },
		"a goal too early": func(ls []treesearch.Level) []treesearch.Level {
			a, b := ls[0].Kept[0], ls[0].Kept[1]
			below := treesearch.Node{ID: "2.0", ParentID: a.ID, Depth: 2}
			return []treesearch.Level{
				{Depth: 1, Kept: []treesearch.Node{a}, Pruned: []treesearch.Node{b}, Goal: &a},
				{Depth: 2, Kept: []treesearch.Node{below}},
			}
		},
		"too many levels": func(ls []treesearch.Level) []treesearch.Level { return slices.Repeat(ls, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			r, err := treesearch.Search(t.Context(), "root", tr.options(), change(stored(t, full.Levels))...)
			if !errors.Is(err, treesearch.ErrLevels) || r.Goal != nil {
				t.Errorf("goal %v, error %v", r.Goal, err)
			}
		})
	}
}
