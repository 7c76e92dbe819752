package treesearch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Search grows a tree from the state root until a node is a goal. The goal
// found is the first by depth, then by proposal order. The levels in done were
// finished before, by a search with the same root, proposer, judge and options;
// nothing of them is asked for or reported again.
//
// Without a goal the error is [ErrNoGoal]. Every error leaves the finished
// levels in the result. What was answered of a level that did not finish is
// lost: who pays for answers keeps them by [Node.ID], which stays the same.
func Search(ctx context.Context, root string, o Options, done ...Level) (Result, error) {
	r := Result{Root: Node{ID: id(0, 0), State: root}, Levels: slices.Clone(done)}
	o, err := o.withDefaults()
	if err != nil {
		return r, err
	}
	if err := checkLevels(r.Root, done, o.MaxDepth); err != nil {
		return r, err
	}
	if o.Goal(root) {
		r.Goal = &r.Root
	}
	for {
		kept := []Node{r.Root}
		if len(r.Levels) > 0 {
			last := r.Levels[len(r.Levels)-1]
			kept, r.Goal = last.Kept, last.Goal
		}
		switch {
		case r.Goal != nil:
			return r, nil
		case len(kept) == 0 || len(r.Levels) == o.MaxDepth:
			return r, &NoGoalError{Depth: len(r.Levels), DeadEnd: len(kept) == 0}
		}
		l, err := o.grow(ctx, len(r.Levels)+1, kept)
		if err == nil && o.OnLevel != nil {
			err = o.OnLevel(ctx, l)
		}
		if err != nil {
			return r, err
		}
		r.Levels = append(r.Levels, l)
	}
}

// id is the stable name of the node at a place.
func id(depth, index int) string { return strconv.Itoa(depth) + "." + strconv.Itoa(index) }

// grow works out the level below the parents, which stand best first.
func (o Options) grow(ctx context.Context, depth int, parents []Node) (Level, error) {
	l := Level{Depth: depth, Kept: []Node{}}
	offers, err := inOrder(ctx, len(parents), o.Parallel, func(ctx context.Context, i int) (Proposals, error) {
		return o.Proposer.Propose(ctx, parents[i])
	})
	if err != nil {
		return l, err
	}
	var nodes []Node
	for i, offer := range offers {
		for _, p := range offer.Children {
			nodes = append(nodes, Node{
				ID: id(depth, len(nodes)), ParentID: parents[i].ID, Depth: depth, Index: len(nodes), State: p.State, Step: p.Step,
			})
		}
		for _, d := range offer.Dropped {
			d.ParentID = parents[i].ID
			l.Dropped = append(l.Dropped, d)
		}
	}
	if at := slices.IndexFunc(nodes, func(n Node) bool { return o.Goal(n.State) }); at >= 0 {
		l.Goal = &nodes[at]
		l.Kept = []Node{nodes[at]}
		l.Pruned = slices.Concat(nodes[:at], nodes[at+1:])
		return l, nil
	}
	if err := o.judge(ctx, nodes); err != nil {
		return l, err
	}
	// The sort is stable, so that proposal order decides between equal scores.
	slices.SortStableFunc(nodes, func(a, b Node) int { return cmp.Compare(b.Score, a.Score) })
	keep := min(o.Breadth, len(nodes))
	l.Kept = append(l.Kept, nodes[:keep]...)
	l.Pruned = append(l.Pruned, nodes[keep:]...)
	return l, nil
}

// judge gives every node its score and reason.
func (o Options) judge(ctx context.Context, nodes []Node) error {
	verdicts, err := inOrder(ctx, len(nodes), o.Parallel, func(ctx context.Context, i int) (Verdict, error) {
		v, err := o.Judge.Judge(ctx, nodes[i])
		if err == nil && (math.IsNaN(v.Score) || math.IsInf(v.Score, 0)) {
			err = fmt.Errorf("%w, and node %s was given %v", ErrScore, nodes[i].ID, v.Score)
		}
		return v, err
	})
	if err != nil {
		return err
	}
	for i, v := range verdicts {
		nodes[i].Score, nodes[i].Reason = v.Score, v.Reason
	}
	return nil
}
