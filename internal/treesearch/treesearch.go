package treesearch

import (
	"context"
	"fmt"
	"slices"
)

// Widths of a search that nobody asked to be different.
const (
	DefaultBreadth  = 5 // states kept of a level
	DefaultMaxDepth = 4 // levels below the root
)

// Node is a state that the search came to.
type Node struct {
	// ID is "depth.index": stable, since neither depends on timing. The root is 0.0.
	ID string `json:"id"`
	// ParentID is the node it was proposed from; empty at the root.
	ParentID string `json:"parent_id,omitempty"`
	// Depth is the number of steps from the root.
	Depth int `json:"depth"`
	// Index is its place in the proposal order of its level, from 0: by the
	// parents, best first, then by the proposer's order.
	Index int `json:"index"`
	// State is the state in the words of the proposer.
	State string `json:"state"`
	// Step says how the parent's state became this one.
	Step string `json:"step,omitempty"`
	// Score and Reason are the judge's. A level that holds a goal is not
	// judged, and nor is the root: they have 0 and no reason.
	Score  float64 `json:"score"`
	Reason string  `json:"reason,omitempty"`
}

// Level is everything that was proposed at one depth. A caller stores it, and
// hands it to [Search] to carry on from it.
type Level struct {
	// Depth is 1 for the children of the root.
	Depth int `json:"depth"`
	// Kept are the nodes that the next level grows from, best first, of equal
	// scores in proposal order. At a goal it is the goal alone.
	Kept []Node `json:"kept"`
	// Pruned are the others, in the same order. No score is above one of Kept.
	Pruned []Node `json:"pruned,omitempty"`
	// Goal is the first node in proposal order that is a goal, if one is.
	Goal *Node `json:"goal,omitempty"`
	// Dropped is what was proposed and could not be made a node.
	Dropped []Drop `json:"dropped,omitempty"`
}

// Nodes returns kept and pruned nodes together, in proposal order.
func (l Level) Nodes() []Node {
	all := slices.Concat(l.Kept, l.Pruned)
	slices.SortFunc(all, func(a, b Node) int { return a.Index - b.Index })
	return all
}

// Drop is a proposal that was refused. Its text is foreign and stays untrusted.
type Drop struct {
	// ParentID is the node that it was proposed from; the engine fills it in.
	ParentID string `json:"parent_id"`
	// Reason is a word such as those of [ReadProposals].
	Reason string `json:"reason"`
	// Text is what was proposed, cut to a length that can be shown.
	Text string `json:"text,omitempty"`
}

// Proposal is a child that a proposer offers.
type Proposal struct{ State, Step string }

// Proposals is what a proposer offers for one node.
type Proposals struct {
	Children []Proposal // in the order that breaks ties
	Dropped  []Drop
}

// Proposer offers the children of a node. It may be called from several
// goroutines at once. No children are a dead end; an error ends the search.
type Proposer interface {
	Propose(ctx context.Context, n Node) (Proposals, error)
}

// Verdict is what a judge thinks of a node. Score is finite; more is better.
type Verdict struct {
	Score  float64
	Reason string
}

// Judge scores a node that has no score yet. It may be called from several
// goroutines at once. An error ends the search.
type Judge interface {
	Judge(ctx context.Context, n Node) (Verdict, error)
}

// ProposerFunc is a function that is a [Proposer].
type ProposerFunc func(ctx context.Context, n Node) (Proposals, error)

// Propose calls the function.
func (f ProposerFunc) Propose(ctx context.Context, n Node) (Proposals, error) { return f(ctx, n) }

// JudgeFunc is a function that is a [Judge].
type JudgeFunc func(ctx context.Context, n Node) (Verdict, error)

// Judge calls the function.
func (f JudgeFunc) Judge(ctx context.Context, n Node) (Verdict, error) { return f(ctx, n) }

// Options say how a search goes.
type Options struct {
	// Proposer, Judge and Goal are required. Goal is asked for every node, in
	// proposal order, before any of its level is judged.
	Proposer Proposer
	Judge    Judge
	Goal     func(state string) bool
	// Breadth is the number of nodes kept of a level; 0 is [DefaultBreadth].
	Breadth int
	// MaxDepth is the number of levels; 0 is [DefaultMaxDepth].
	MaxDepth int
	// Parallel is the number of calls under way at once; 0 is one.
	Parallel int
	// OnLevel, when there is one, gets every level once, as soon as it is
	// finished and before anything of the next one is asked for. It must not
	// change it. Its error ends the search, and the level counts as not done.
	OnLevel func(ctx context.Context, l Level) error
}

// withDefaults fills in what was left out, or returns [ErrOptions].
func (o Options) withDefaults() (Options, error) {
	if o.Proposer == nil || o.Judge == nil || o.Goal == nil {
		return o, fmt.Errorf("%w: a proposer, a judge and a goal are needed", ErrOptions)
	}
	for _, of := range []struct {
		name     string
		value    *int
		standard int
	}{{"breadth", &o.Breadth, DefaultBreadth}, {"max_depth", &o.MaxDepth, DefaultMaxDepth}, {"parallel", &o.Parallel, 1}} {
		if *of.value < 0 {
			return o, fmt.Errorf("%w: %s is %d: give a number from 1, or leave it out", ErrOptions, of.name, *of.value)
		}
		if *of.value == 0 {
			*of.value = of.standard
		}
	}
	return o, nil
}

// Result is how far a search came, also when it ended with an error.
type Result struct {
	Root   Node
	Levels []Level // finished ones, those it carried on from first
	Goal   *Node   // nil when none was found
}

// Path returns the nodes from the root to the one with this id, or nil when
// there is none.
func (r Result) Path(id string) []Node {
	nodes := map[string]Node{r.Root.ID: r.Root}
	for _, l := range r.Levels {
		for _, n := range l.Nodes() {
			nodes[n.ID] = n
		}
	}
	var path []Node
	for id != "" {
		n, ok := nodes[id]
		if !ok {
			return nil
		}
		path = append(path, n)
		id = n.ParentID
	}
	slices.Reverse(path)
	return path
}
