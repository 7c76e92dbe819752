package scheduler_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"planwave/internal/plan"
)

// workload is a plan whose steps take given times, by index of the step.
type workload struct {
	name  string
	plan  plan.Plan
	takes []time.Duration
	// What the source says of the plan, zero when it says nothing.
	optimal, waves time.Duration
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// nudged is w with less than 0.1 ms added to each step, so that no two steps
// end at the same instant. Of two that do, either may be taken in first, and
// the schedules that follow differ.
func (w workload) nudged() workload {
	random := rand.New(rand.NewPCG(1, 2))
	w.takes = slices.Clone(w.takes)
	for i := range w.takes {
		w.takes[i] += time.Duration(random.Int64N(int64(100 * time.Microsecond)))
	}
	return w
}

// needs lists the dependencies of each step, by index.
func (w workload) needs() [][]int {
	index := map[string]int{}
	for i, s := range w.plan.Steps {
		index[s.ID] = i
	}
	needs := make([][]int, len(w.plan.Steps))
	for i, s := range w.plan.Steps {
		for _, id := range s.DependsOn {
			needs[i] = append(needs[i], index[id])
		}
	}
	return needs
}

// longest is, for each step, the longest way over next that begins with it,
// each step counting for its weight.
func longest[T int | time.Duration](next [][]int, weight func(int) T) []T {
	far, known := make([]T, len(next)), make([]bool, len(next))
	var of func(int) T
	of = func(i int) T {
		if known[i] {
			return far[i]
		}
		var most T
		for _, j := range next[i] {
			most = max(most, of(j))
		}
		far[i], known[i] = most+weight(i), true
		return far[i]
	}
	for i := range next {
		of(i)
	}
	return far
}

func one(int) int { return 1 }

// reversed turns every edge round.
func reversed(edges [][]int) [][]int {
	back := make([][]int, len(edges))
	for i, js := range edges {
		for _, j := range js {
			back[j] = append(back[j], i)
		}
	}
	return back
}

// criticalPath is the least time the plan takes whatever may run at once.
func (w workload) criticalPath() time.Duration {
	return slices.Max(longest(w.needs(), func(i int) time.Duration { return w.takes[i] }))
}

// leastPossible is a time that no schedule of limit steps at once goes below.
func (w workload) leastPossible(limit int) time.Duration {
	var work time.Duration
	for _, d := range w.takes {
		work += d
	}
	return max(w.criticalPath(), work/time.Duration(limit))
}

// listSchedule is the time that limit workers need who each take, when free,
// the ready step with the longest remaining path in steps, the first in the
// plan of several.
func (w workload) listSchedule(limit int) time.Duration {
	rest := longest(reversed(w.needs()), one)
	order := make([]int, len(rest))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rest[b] - rest[a] })
	return workOff(order, w.needs(), w.takes, limit)
}

// waveBound is the time of a schedule that waits for each wave: the sum of
// what its waves take, the steps of each taken in plan order.
func (w workload) waveBound(limit int) time.Duration {
	waves := map[int][]int{}
	for i, wave := range longest(w.needs(), one) {
		waves[wave] = append(waves[wave], i)
	}
	var sum time.Duration
	for _, wave := range waves {
		sum += workOff(wave, make([][]int, len(w.takes)), w.takes, limit)
	}
	return sum
}

// sumOfLongest is the wave bound when a whole wave may run at once.
func (w workload) sumOfLongest() time.Duration {
	slowest := map[int]time.Duration{}
	for i, wave := range longest(w.needs(), one) {
		slowest[wave] = max(slowest[wave], w.takes[i])
	}
	var sum time.Duration
	for _, d := range slowest {
		sum += d
	}
	return sum
}

// workOff plays limit workers who take the first step of order that is ready
// whenever one of them is free, and returns when the last step ends.
func workOff(order []int, needs [][]int, takes []time.Duration, limit int) time.Duration {
	todo, ends, flying := slices.Clone(order), map[int]time.Duration{}, map[int]time.Duration{}
	var now time.Duration
	ready := func(i int) bool {
		return !slices.ContainsFunc(needs[i], func(j int) bool { _, ended := ends[j]; return !ended })
	}
	for len(todo)+len(flying) > 0 {
		for len(flying) < limit {
			at := slices.IndexFunc(todo, ready)
			if at < 0 {
				break
			}
			flying[todo[at]] = now + takes[todo[at]]
			todo = slices.Delete(todo, at, at+1)
		}
		now = earliest(flying)
		for i, end := range flying {
			if end == now {
				ends[i] = end
				delete(flying, i)
			}
		}
	}
	return now
}

func earliest(flying map[int]time.Duration) time.Duration {
	first := time.Duration(-1)
	for _, end := range flying {
		if first < 0 || end < first {
			first = end
		}
	}
	return first
}

// asyncHow reads the sample of plans for everyday tasks.
func asyncHow(t testing.TB) []workload {
	t.Helper()
	data, err := os.ReadFile("testdata/asynchow_sample.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []workload
	for line := bufio.NewScanner(bytes.NewReader(data)); line.Scan(); {
		var in struct {
			ID       string
			OptimalS float64 `json:"optimal_s"`
			WavesS   float64 `json:"waves_s"`
			Steps    []struct {
				ID        string
				DurationS float64  `json:"duration_s"`
				DependsOn []string `json:"depends_on"`
			}
		}
		if err := json.Unmarshal(line.Bytes(), &in); err != nil {
			t.Fatal(err)
		}
		w := workload{name: in.ID, optimal: seconds(in.OptimalS), waves: seconds(in.WavesS)}
		for _, s := range in.Steps {
			w.plan.Steps = append(w.plan.Steps, plan.Step{ID: s.ID, Instruction: "do", DependsOn: s.DependsOn})
			w.takes = append(w.takes, seconds(s.DurationS))
		}
		all = append(all, w)
	}
	return all
}

// workflow reads a recorded workflow: nodes with durations, and edges from a
// node to one that needs it.
func workflow(t testing.TB, path string) workload {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var in struct {
		Nodes []struct {
			ID        string
			DurationS float64 `json:"duration_s"`
		}
		Edges [][2]string
	}
	if err := json.Unmarshal(data, &in); err != nil {
		t.Fatalf("read the workflow %s: %v", path, err)
	}
	w := workload{name: strings.TrimSuffix(filepath.Base(path), ".json")}
	needs := map[string][]string{}
	for _, e := range in.Edges {
		needs[e[1]] = append(needs[e[1]], e[0])
	}
	for _, n := range in.Nodes {
		w.plan.Steps = append(w.plan.Steps, plan.Step{ID: n.ID, Instruction: "do", DependsOn: needs[n.ID]})
		w.takes = append(w.takes, seconds(n.DurationS))
	}
	return w
}
