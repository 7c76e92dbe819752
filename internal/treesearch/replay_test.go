package treesearch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"planwave/internal/treesearch"
)

// recording is a run of the paper's authors with GPT-4, as a tree.
type recording struct {
	Rank         int      `json:"rank"`
	Puzzle       string   `json:"puzzle"`
	FinalAnswers []string `json:"final_answers"`
	FinalCorrect []bool   `json:"final_correct"`
	Steps        []struct {
		Selected []int          `json:"selected"`
		Nodes    []recordedNode `json:"nodes"`
	} `json:"steps"`
}

// recordedNode is a line that the model proposed, and what came of it.
type recordedNode struct {
	Parent     int      `json:"parent"` // into the selected of the level before
	Line       string   `json:"line"`
	Left       []string `json:"left"`
	Check      string   `json:"check"`
	CanReach24 *bool    `json:"can_reach_24"`
	Value      float64  `json:"value"`
	Duplicate  bool     `json:"dup"`
}

func recordings(t *testing.T) []recording {
	t.Helper()
	f, err := os.Open("testdata/tot_recorded_10.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var all []recording
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r recording
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if lines.Err() != nil || len(all) != 10 {
		t.Fatalf("%d recordings, error %v", len(all), lines.Err())
	}
	return all
}

// replayed searches with the recorded proposals and values. The engine asks for
// them by its own beams, so that a beam that differs shows in the next level.
func replayed(t *testing.T, rec recording, goal func(string) bool) (treesearch.Result, error) {
	place := map[string]int{"0.0": 0} // of a node in the selection of its level
	return treesearch.Search(t.Context(), rec.Puzzle, treesearch.Options{
		Goal: goal, Breadth: 5, MaxDepth: 4,
		Proposer: treesearch.ProposerFunc(func(_ context.Context, n treesearch.Node) (p treesearch.Proposals, err error) {
			for _, c := range rec.Steps[n.Depth].Nodes {
				if c.Parent == place[n.ID] {
					p.Children = append(p.Children, treesearch.Proposal{State: c.Line, Step: c.Line})
				}
			}
			return p, nil
		}),
		Judge: treesearch.JudgeFunc(func(_ context.Context, n treesearch.Node) (treesearch.Verdict, error) {
			return treesearch.Verdict{Score: rec.Steps[n.Depth-1].Nodes[n.Index].Value}, nil
		}),
		OnLevel: func(_ context.Context, l treesearch.Level) error {
			for i, n := range l.Kept {
				place[n.ID] = i
			}
			return nil
		},
	})
}

// answers says whether a line answers a puzzle, by the rule of the recordings:
// what stands before "=" is 24 from the four numbers.
func answers(rec recording, line string) bool {
	answer, ok := strings.CutPrefix(line, "Answer: ")
	expression, _, _ := strings.Cut(answer, "=")
	return ok && treesearch.CheckExpression(rec.Puzzle, expression) == nil
}

func TestRecordedRunsReplayToTheSameBeams(t *testing.T) {
	for _, rec := range recordings(t) {
		r, err := replayed(t, rec, func(string) bool { return false })
		if !errors.Is(err, treesearch.ErrNoGoal) || len(r.Levels) != 4 {
			t.Fatalf("%s: %d levels, error %v", rec.Puzzle, len(r.Levels), err)
		}
		for i, l := range r.Levels {
			if got, want := len(l.Nodes()), len(rec.Steps[i].Nodes); got != want {
				t.Errorf("%s: level %d has %d nodes, recorded are %d", rec.Puzzle, l.Depth, got, want)
			}
			var kept []int
			for _, n := range l.Kept {
				kept = append(kept, n.Index)
			}
			if !slices.Equal(kept, rec.Steps[i].Selected) {
				t.Errorf("%s: level %d keeps %v, recorded is %v", rec.Puzzle, l.Depth, kept, rec.Steps[i].Selected)
			}
			for _, n := range l.Nodes() {
				if n.State != rec.Steps[i].Nodes[n.Index].Line {
					t.Errorf("%s: node %s is %q, recorded is %q", rec.Puzzle, n.ID, n.State, rec.Steps[i].Nodes[n.Index].Line)
				}
			}
		}
		var last []string
		var correct []bool
		for _, n := range r.Levels[3].Kept {
			line := n.State
			if line == "" { // the model said nothing more, and its last line stands
				line = r.Path(n.ID)[3].State
			}
			last = append(last, line)
			correct = append(correct, answers(rec, line))
		}
		if !slices.Equal(last, rec.FinalAnswers) || !slices.Equal(correct, rec.FinalCorrect) {
			t.Errorf("%s: the answers are %q (%v), recorded are %q (%v)", rec.Puzzle, last, correct, rec.FinalAnswers, rec.FinalCorrect)
		}
	}
}

func TestRecordedRunsReplayToTheSameAnswers(t *testing.T) {
	solved := 0
	for _, rec := range recordings(t) {
		r, err := replayed(t, rec, func(state string) bool { return answers(rec, state) })
		first := slices.IndexFunc(rec.Steps[3].Nodes, func(n recordedNode) bool { return n.Check == "answer_correct" })
		if (first >= 0) != slices.Contains(rec.FinalCorrect, true) {
			t.Fatalf("%s: the recording disagrees with itself", rec.Puzzle)
		}
		if first < 0 {
			if !errors.Is(err, treesearch.ErrNoGoal) {
				t.Errorf("%s: goal %v, error %v, and none was recorded", rec.Puzzle, r.Goal, err)
			}
			continue
		}
		solved++
		if err != nil || r.Goal.Index != first || r.Goal.State != rec.Steps[3].Nodes[first].Line {
			t.Errorf("%s: goal %v, error %v, recorded is %q", rec.Puzzle, r.Goal, err, rec.Steps[3].Nodes[first].Line)
		}
	}
	if solved != 8 {
		t.Errorf("%d of 10 are solved, recorded are 8", solved)
	}
}

// dropped maps what the recordings say of a line to the reason to drop it.
var dropped = map[string]string{
	"rounded": treesearch.DropRounded, "wrong_left": treesearch.DropWrongLeft,
	"uses_absent_number": treesearch.DropNumberNotThere, "unparsed": treesearch.DropUnreadable,
}

func TestRecordedProposalsAreReadAsTheyWereChecked(t *testing.T) {
	seen := map[string]int{}
	judge := &treesearch.Lookahead{}
	for _, rec := range recordings(t) {
		parents := []string{rec.Puzzle}
		for _, step := range rec.Steps[:3] {
			for _, n := range step.Nodes {
				if n.Check == "parent_bad" {
					continue // a child of numbers that the rules do not lead to
				}
				seen[n.Check]++
				p, err := treesearch.ReadProposals(parents[n.Parent], n.Line)
				if err != nil {
					t.Fatal(err)
				}
				if n.Check != "ok" {
					if len(p.Children) != 0 || len(p.Dropped) != 1 || p.Dropped[0].Reason != dropped[n.Check] || p.Dropped[0].Text != n.Line {
						t.Errorf("%s: %q is read as %+v, recorded is %s", parents[n.Parent], n.Line, p, n.Check)
					}
					continue
				}
				if len(p.Children) != 1 || len(p.Dropped) != 0 {
					t.Errorf("%s: %q is read as %+v, and is legal", parents[n.Parent], n.Line, p)
					continue
				}
				state := p.Children[0].State
				slices.Sort(n.Left)
				if left := strings.Fields(state); !slices.Equal(slices.Sorted(slices.Values(left)), n.Left) {
					t.Errorf("%s: %q leaves %v, recorded is %v", parents[n.Parent], n.Line, left, n.Left)
				}
				v, err := judge.Judge(t.Context(), treesearch.Node{State: state})
				if err != nil || (v.Score == 1) != *n.CanReach24 {
					t.Errorf("%s: look-ahead says %+v, error %v, the truth is %v", state, v, err, *n.CanReach24)
				}
			}
			var next []string
			for _, i := range step.Selected {
				next = append(next, strings.Join(step.Nodes[i].Left, " "))
			}
			parents = next
		}
	}
	for check, want := range map[string]int{"ok": 562, "rounded": 19, "wrong_left": 32, "uses_absent_number": 2, "unparsed": 14} {
		if seen[check] != want {
			t.Errorf("%d lines were recorded as %s, want %d", seen[check], check, want)
		}
	}
}
