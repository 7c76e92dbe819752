package treesearch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"planwave/internal/treesearch"
)

// world is a random search space: whatever is asked of a node is a hash of the
// seed, the question and the node.
type world struct {
	seed     uint64
	breadth  int
	depth    int
	parallel int
	goals    uint64 // one state in so many is a goal; 0 for none
	failures uint64 // one call in so many fails; 0 for none
}

func drawWorld(t *rapid.T) world {
	return world{
		seed:     rapid.Uint64().Draw(t, "seed"),
		breadth:  rapid.IntRange(1, 4).Draw(t, "breadth"),
		depth:    rapid.IntRange(1, 5).Draw(t, "depth"),
		parallel: rapid.IntRange(1, 6).Draw(t, "parallel"),
		goals:    rapid.SampledFrom([]uint64{0, 15, 60}).Draw(t, "goals"),
		failures: rapid.SampledFrom([]uint64{0, 0, 0, 4, 15, 60}).Draw(t, "failures"),
	}
}

func (w world) hash(question, of string) uint64 {
	h := fnv.New64a()
	if _, err := fmt.Fprintf(h, "%d %s %s", w.seed, question, of); err != nil {
		panic(err) // a hash takes everything
	}
	return h.Sum64() >> 8
}

func (w world) one(in uint64, question, of string) bool {
	return in > 0 && w.hash(question, of)%in == 0
}

func (w world) goal(state string) bool { return w.one(w.goals, "goal", state) }

func (w world) Propose(_ context.Context, n treesearch.Node) (p treesearch.Proposals, err error) {
	if w.one(w.failures, "propose", n.ID) {
		return p, errors.New("proposing from " + n.ID)
	}
	for i := range w.hash("children", n.State) % 5 {
		p.Children = append(p.Children, treesearch.Proposal{State: fmt.Sprintf("%s/%d", n.State, i), Step: fmt.Sprint(i)})
	}
	for i := range w.hash("dropped", n.State) % 2 {
		p.Dropped = append(p.Dropped, treesearch.Drop{Reason: "unreadable", Text: fmt.Sprint(i)})
	}
	return p, nil
}

func (w world) Judge(_ context.Context, n treesearch.Node) (treesearch.Verdict, error) {
	if w.one(w.failures, "judge", n.ID) {
		return treesearch.Verdict{}, errors.New("judging " + n.ID)
	}
	score := w.hash("score", n.State) % 4 // many are equal
	return treesearch.Verdict{Score: float64(score), Reason: fmt.Sprint("a ", score)}, nil
}

func (w world) options() treesearch.Options {
	return treesearch.Options{Proposer: w, Judge: w, Goal: w.goal, Breadth: w.breadth, MaxDepth: w.depth, Parallel: w.parallel}
}

// outcome is a result as it would be stored, and the error beside it.
func outcome(r treesearch.Result, err error) string {
	data, jsonErr := json.Marshal(r)
	if jsonErr != nil {
		return jsonErr.Error()
	}
	return fmt.Sprintf("%s\n%v", data, err)
}

// expected is the reference: the search by its definition, one call at a time.
func (w world) expected() string {
	r := treesearch.Result{Root: treesearch.Node{ID: "0.0", State: "root"}}
	if w.goal("root") {
		r.Goal = &r.Root
		return outcome(r, nil)
	}
	beam := []treesearch.Node{r.Root}
	for depth := 1; depth <= w.depth; depth++ {
		l := treesearch.Level{Depth: depth, Kept: []treesearch.Node{}}
		var all []treesearch.Node
		for _, parent := range beam {
			p, err := w.Propose(context.Background(), parent)
			if err != nil {
				return outcome(r, err)
			}
			for _, c := range p.Children {
				all = append(all, treesearch.Node{
					ID: fmt.Sprintf("%d.%d", depth, len(all)), ParentID: parent.ID, Depth: depth, Index: len(all), State: c.State, Step: c.Step,
				})
			}
			for _, d := range p.Dropped {
				l.Dropped = append(l.Dropped, treesearch.Drop{ParentID: parent.ID, Reason: d.Reason, Text: d.Text})
			}
		}
		if err := w.settle(&l, all); err != nil {
			return outcome(r, err)
		}
		r.Levels = append(r.Levels, l)
		if r.Goal = l.Goal; r.Goal != nil {
			return outcome(r, nil)
		}
		if beam = l.Kept; len(beam) == 0 {
			return outcome(r, &treesearch.NoGoalError{Depth: depth, DeadEnd: true})
		}
	}
	return outcome(r, &treesearch.NoGoalError{Depth: w.depth})
}

// settle divides the nodes of a level, by picking the best again and again.
func (w world) settle(l *treesearch.Level, all []treesearch.Node) error {
	for i, n := range all {
		if w.goal(n.State) {
			l.Goal, l.Kept = &n, []treesearch.Node{n}
			l.Pruned = append(append(l.Pruned, all[:i]...), all[i+1:]...)
			return nil
		}
	}
	for i := range all {
		v, err := w.Judge(context.Background(), all[i])
		if err != nil {
			return err
		}
		all[i].Score, all[i].Reason = v.Score, v.Reason
	}
	for len(all) > 0 {
		best := 0
		for i, n := range all {
			if n.Score > all[best].Score {
				best = i
			}
		}
		if len(l.Kept) < w.breadth {
			l.Kept = append(l.Kept, all[best])
		} else {
			l.Pruned = append(l.Pruned, all[best])
		}
		all = slices.Delete(all, best, best+1)
	}
	return nil
}

// gate holds every call until it is let through, one at a time.
type gate struct {
	mu      sync.Mutex
	waiting []chan struct{}
	most    int // calls that waited together
}

func (g *gate) wait() {
	through := make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, through)
	g.most = max(g.most, len(g.waiting))
	g.mu.Unlock()
	<-through
}

// letOne lets one of the waiting calls through; false when none waits.
func (g *gate) letOne(pick func(n int) int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		return false
	}
	at := pick(len(g.waiting))
	close(g.waiting[at])
	g.waiting = slices.Delete(g.waiting, at, at+1)
	return true
}

// searchInAnyOrder runs a search whose calls end in an order drawn from a seed.
// It returns the outcome and the most calls that were under way together.
func searchInAnyOrder(t *testing.T, w world, order uint64) (string, int) {
	var got string
	var g gate
	synctest.Test(t, func(t *testing.T) {
		o := w.options()
		o.Proposer = treesearch.ProposerFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Proposals, error) {
			g.wait()
			return w.Propose(ctx, n)
		})
		o.Judge = treesearch.JudgeFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Verdict, error) {
			g.wait()
			return w.Judge(ctx, n)
		})
		done := make(chan string, 1)
		go func() { done <- outcome(treesearch.Search(t.Context(), "root", o)) }()
		random := rand.New(rand.NewPCG(order, 0))
		for synctest.Wait(); g.letOne(random.IntN); synctest.Wait() {
			// The calls that can go on have, and wait again.
		}
		got = <-done
	})
	return got, g.most
}

func TestTheResultDependsOnNoTiming(t *testing.T) {
	together, goals, failures := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		want := w.expected()
		got, most := searchInAnyOrder(t, w, rapid.Uint64().Draw(rt, "order"))
		if got != want {
			rt.Fatalf("got  %s\nwant %s", got, want)
		}
		if most > w.parallel {
			rt.Fatalf("%d calls were under way together, and %d may be", most, w.parallel)
		}
		together = max(together, most)
		if strings.HasSuffix(want, "<nil>") {
			goals++
		} else if !strings.Contains(want, "no goal found") {
			failures++
		}
	})
	if together < 6 || goals == 0 || failures == 0 {
		t.Errorf("up to %d calls together, %d goals and %d failures were seen: the property says nothing", together, goals, failures)
	}
}

// stored returns levels as they come back from a store.
func stored(t testing.TB, levels []treesearch.Level) []treesearch.Level {
	data, err := json.Marshal(levels)
	if err != nil {
		t.Fatal(err)
	}
	var back []treesearch.Level
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(levels, back) {
		t.Fatalf("stored  %+v\nread back %+v", levels, back)
	}
	return back
}

func TestASearchCarriesOnFromAnyLevel(t *testing.T) {
	carried := 0
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		var levels []treesearch.Level
		o := w.options()
		o.OnLevel = func(_ context.Context, l treesearch.Level) error { levels = append(levels, l); return nil }
		full, err := treesearch.Search(t.Context(), "root", o)
		if len(levels) != len(full.Levels) {
			rt.Fatalf("%d levels are reported, and %d in the result", len(levels), len(full.Levels))
		}
		for done := range len(levels) + 1 {
			var mu sync.Mutex
			o := w.options()
			next := done + 1
			o.OnLevel = func(_ context.Context, l treesearch.Level) error {
				if l.Depth != next {
					rt.Errorf("level %d is reported where %d belongs", l.Depth, next)
				}
				next++
				return nil
			}
			o.Proposer = treesearch.ProposerFunc(func(ctx context.Context, n treesearch.Node) (treesearch.Proposals, error) {
				mu.Lock()
				defer mu.Unlock()
				if n.Depth < done {
					rt.Errorf("%s is asked for children again", n.ID)
				}
				return w.Propose(ctx, n)
			})
			got := outcome(treesearch.Search(t.Context(), "root", o, stored(t, levels[:done])...))
			if want := outcome(full, err); got != want {
				rt.Fatalf("after %d levels\ngot  %s\nwant %s", done, got, want)
			}
			carried = max(carried, done)
		}
	})
	if carried < 3 {
		t.Errorf("no search was longer than %d levels: the property says nothing", carried)
	}
}

func TestNoPrunedScoreIsAboveAKeptOne(t *testing.T) {
	pruned := 0
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		r, _ := treesearch.Search(t.Context(), "root", w.options())
		for _, l := range r.Levels {
			for _, p := range l.Pruned {
				pruned++
				for _, k := range l.Kept {
					if k.Score < p.Score || k.Score == p.Score && k.Index > p.Index && l.Goal == nil {
						rt.Fatalf("level %d keeps %+v and prunes %+v", l.Depth, k, p)
					}
				}
			}
			if len(l.Kept) > w.breadth || len(l.Kept) < w.breadth && len(l.Pruned) > 0 && l.Goal == nil {
				rt.Fatalf("level %d keeps %d of %d, with a breadth of %d", l.Depth, len(l.Kept), len(l.Nodes()), w.breadth)
			}
		}
	})
	if pruned == 0 {
		t.Error("nothing was pruned: the property says nothing")
	}
}
