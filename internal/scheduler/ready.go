package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"planwave/internal/plan"
)

// newScheduler takes up a run where its events left it: what succeeded counts,
// what is pending is to be done, and an open wave goes on.
func newScheduler(run *plan.Run, eng Engine) (*scheduler, error) {
	p, err := approved(run)
	if err != nil {
		return nil, err
	}
	order, err := plan.Order(p)
	if err != nil {
		return nil, fmt.Errorf("order the steps: %w", err)
	}
	s := &scheduler{
		eng: eng, plan: p,
		waves:       run.Options.Schedule != plan.ScheduleReady,
		rounds:      run.Options.Replan.When == plan.ReplanEveryRound && run.Replans < run.Options.Replan.Max,
		replans:     run.Replans,
		maxParallel: min(max(run.Options.MaxParallel, 1), max(len(p.Steps), 1)),
		steps:       make([]step, len(p.Steps)),
		wave:        len(run.Waves),
		inWave:      run.WaveOpen,
	}
	s.done = make(chan completion, s.maxParallel)
	s.link(order)
	if err := s.restore(run); err != nil {
		return nil, err
	}
	s.seed(run)
	return s, nil
}

// link fills in dependents, and the longest way from each step to an end.
func (s *scheduler) link(order []string) {
	s.index = make(map[string]int, len(s.steps))
	for i, def := range s.plan.Steps {
		s.index[def.ID] = i
	}
	for i, def := range s.plan.Steps {
		for _, id := range def.DependsOn {
			d := s.index[id]
			s.steps[d].dependents = append(s.steps[d].dependents, i)
		}
	}
	for _, id := range slices.Backward(order) {
		st := &s.steps[s.index[id]]
		st.rest = 1
		for _, d := range st.dependents {
			st.rest = max(st.rest, s.steps[d].rest+1)
		}
	}
	if s.waves {
		return
	}
	for _, id := range order {
		st := &s.steps[s.index[id]]
		st.wave = max(st.wave, 1)
		for _, d := range st.dependents {
			s.steps[d].wave = max(s.steps[d].wave, st.wave+1)
		}
	}
}

// restore copies what the events say of each step.
func (s *scheduler) restore(run *plan.Run) error {
	for i, def := range s.plan.Steps {
		was := run.Step(def.ID)
		if was == nil || !was.Status.Ended() && was.Status != plan.StepStatusPending {
			return fmt.Errorf("take up step %q: its state is not one to start from", def.ID)
		}
		st := &s.steps[i]
		st.status, st.attempts, st.result, st.cause = was.Status, was.Attempts, was.Result, was.Cause
		if s.waves {
			st.wave = was.Wave
		}
	}
	return nil
}

// seed works out what is ready, what can never run, and what is left of an
// open wave.
func (s *scheduler) seed(run *plan.Run) {
	var opened []string
	if s.inWave {
		opened = run.Waves[len(run.Waves)-1]
	}
	for i := range s.steps {
		s.count(i)
		if s.steps[i].status != plan.StepStatusPending || s.steps[i].need > 0 {
			continue
		}
		if slices.Contains(opened, s.id(i)) {
			s.steps[i].wave = s.wave
			s.queue = append(s.queue, i)
			s.open++
			continue
		}
		s.makeReady(i)
	}
	s.skipBroken()
}

// count counts the dependencies of a step that have not succeeded.
func (s *scheduler) count(i int) {
	s.steps[i].need = 0
	for _, id := range s.plan.Steps[i].DependsOn {
		if s.steps[s.index[id]].status != plan.StepStatusSucceeded {
			s.steps[i].need++
		}
	}
}

// skipBroken skips what can never run, for the failure that came first.
func (s *scheduler) skipBroken() {
	for i := range s.steps {
		if st := s.steps[i].status; st.Ended() && st != plan.StepStatusSucceeded {
			s.skipBehind(i, cmp.Or(s.steps[i].cause, s.id(i)))
		}
	}
}

// retry resets a step that failed and all that need it, and nothing else.
func (s *scheduler) retry(r Retry) {
	i, known := s.index[r.Step]
	if !known || s.stop != nil || !s.steps[i].status.Broken() && s.steps[i].status != plan.StepStatusCancelled {
		r.Done <- ErrNotRetryable
		return
	}
	reset, err := plan.Affected(s.plan, []string{r.Step})
	if err != nil {
		r.Done <- err
		return
	}
	s.out = append(s.out, plan.StepReset{Steps: reset, Reason: "tried again", By: r.By})
	s.retried = append(s.retried, r.Done)
	for _, id := range reset {
		st := &s.steps[s.index[id]]
		st.status, st.cause, st.result = plan.StepStatusPending, "", plan.Result{}
	}
	for _, id := range reset {
		if s.count(s.index[id]); s.steps[s.index[id]].need == 0 {
			s.makeReady(s.index[id])
		}
	}
	s.skipBroken()
}

// makeReady queues a step whose dependencies have all succeeded.
func (s *scheduler) makeReady(i int) {
	if s.waves {
		s.next.push(i, func(a, b int) bool { return a < b })
		return
	}
	s.queue.push(i, s.before)
}

// before orders ready steps: the longest remaining path first, then plan order.
func (s *scheduler) before(a, b int) bool {
	if s.steps[a].rest != s.steps[b].rest {
		return s.steps[a].rest > s.steps[b].rest
	}
	return a < b
}

// complete takes in how an attempt ended.
func (s *scheduler) complete(ctx context.Context, c completion) {
	s.running--
	st, id, o := &s.steps[c.index], s.id(c.index), c.outcome
	if ctx.Err() != nil && o.Status != plan.StepStatusSucceeded {
		s.stop = context.Cause(ctx) // nothing is told of an attempt that was cut off
		return
	}
	if o.Stop != nil {
		st.status = plan.StepStatusPending
		s.stop = o.Stop
		s.out = append(s.out, plan.StepReset{Steps: []string{id}, Reason: plan.FaultOf(o.Stop).Message})
		return
	}
	s.open--
	st.status = o.Status
	switch o.Status {
	case plan.StepStatusSucceeded:
		st.result = o.Result
		s.out = append(s.out, plan.StepSucceeded{Step: id, Attempt: st.attempts, Result: o.Result})
		s.release(st)
	case plan.StepStatusInvalid:
		s.out = append(s.out, plan.StepInvalid{Step: id, Attempt: st.attempts, Error: o.Fault, Result: o.Result})
		s.skipBehind(c.index, id)
	default:
		st.status = plan.StepStatusFailed
		s.out = append(s.out, plan.StepFailed{Step: id, Attempt: st.attempts, Error: o.Fault})
		s.skipBehind(c.index, id)
	}
}

// release counts a success to the steps that need it.
func (s *scheduler) release(st *step) {
	for _, d := range st.dependents {
		s.steps[d].need--
		if s.steps[d].need == 0 && s.steps[d].status == plan.StepStatusPending {
			s.makeReady(d)
		}
	}
}

// skipBehind skips every pending step that needs step i, directly or through
// others. Each is skipped once, for the failure that came first.
func (s *scheduler) skipBehind(i int, cause string) {
	reached := s.reach(i)
	for _, d := range reached {
		s.steps[d].status, s.steps[d].cause = plan.StepStatusSkipped, cause
		s.out = append(s.out, plan.StepSkipped{Step: s.id(d), Cause: cause})
	}
}

// reach lists the pending steps behind step i, in plan order.
func (s *scheduler) reach(i int) []int {
	seen := map[int]bool{}
	stack := []int{i}
	var found []int
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, d := range s.steps[top].dependents {
			if !seen[d] && s.steps[d].status == plan.StepStatusPending {
				seen[d] = true
				found = append(found, d)
				stack = append(stack, d)
			}
		}
	}
	slices.Sort(found)
	return found
}

// queue is a list of step indexes in the order they start.
type queue []int

func (q *queue) pop() int {
	i := (*q)[0]
	*q = (*q)[1:]
	return i
}

// push puts i before the first step that it comes before.
func (q *queue) push(i int, before func(a, b int) bool) {
	at, _ := slices.BinarySearchFunc(*q, i, func(have, want int) int {
		if before(have, want) {
			return -1
		}
		return 1
	})
	*q = slices.Insert(*q, at, i)
}
