package main

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"planwave/internal/agent"
	"planwave/internal/plan"
)

// judge holds a run that is over to everything that must be true of it.
func (h *harness) judge(k *book, e *errand, log []asked) {
	wrong := func(format string, args ...any) { h.problem(k.tag, format, args...) }
	if !slices.Contains(e.ends, k.run.Status) {
		wrong("the run is %s (%v), and it should have ended as one of %v", k.run.Status, k.run.Error, e.ends)
	}
	if e.rejected >= 0 && len(k.run.Rejections) != e.rejected {
		wrong("%d plans were rejected, and the model wrote %d that had to be", len(k.run.Rejections), e.rejected)
	}
	if used := k.run.Used().Requests; e.budget > 0 && max(used, len(log)) > e.budget {
		wrong("%d requests were charged and %d made with a budget of %d", used, len(log), e.budget)
	}
	if len(k.run.Open) > 0 {
		wrong("these calls are over and were not settled: %v", k.run.Open)
	}
	for _, p := range []string{callsInTurn(k), onlyWhatIsNeeded(k, log), reservedFirst(k, log)} {
		if p != "" {
			wrong("%s", p)
		}
	}
	for _, p := range repeatedOnce(k, log, e.repeats) {
		wrong("%s", p)
	}
}

// callsInTurn holds that at most one call of an agent lies between two commits
// (BEHAVIOUR 12.2), that none is made for a step that has succeeded, and that
// no version is approved twice.
func callsInTurn(k *book) string {
	open, succeeded, approved := map[agentOf]string{}, map[string]bool{}, map[int]bool{}
	for _, ev := range k.events {
		switch p := ev.Data.(type) {
		case plan.UsageReserved:
			a := agentOf{p.Agent, p.Step}
			if open[a] != "" || succeeded[p.Step] {
				return fmt.Sprintf("event %d reserves a call of the %s, with call %q open; its step succeeded: %t", ev.Seq, a, open[a], succeeded[p.Step])
			}
			open[a] = p.Call
		case plan.UsageSettled:
			delete(open, agentOf{p.Agent, p.Step})
		case plan.RunResumed:
			clear(open)
		case plan.StepSucceeded:
			succeeded[p.Step] = true
		case plan.PlanApproved:
			if approved[p.Version] {
				return fmt.Sprintf("event %d approves version %d again", ev.Seq, p.Version)
			}
			approved[p.Version] = true
		default:
			for _, id := range resetBy(ev) {
				delete(succeeded, id)
			}
		}
	}
	return ""
}

// resetBy are the steps that an event lets run again.
func resetBy(ev plan.Event) []string {
	if p, ok := ev.Data.(plan.StepReset); ok {
		return p.Steps
	}
	return nil
}

// resets counts how often a step was reset after one event, up to another.
func (k *book) resets(step string, after, upTo int64) int {
	n := 0
	for _, ev := range k.events {
		if ev.Seq > after && ev.Seq <= upTo && slices.Contains(resetBy(ev), step) {
			n++
		}
	}
	return n
}

// onlyWhatIsNeeded holds that no process asked for a step that had succeeded
// when it took over.
func onlyWhatIsNeeded(k *book, log []asked) string {
	for _, ev := range k.events {
		p, ok := ev.Data.(plan.StepSucceeded)
		if !ok || k.resets(p.Step, ev.Seq, k.run.Seq) > 0 {
			continue
		}
		for _, a := range log {
			if before, ok := k.ends[a.life-1]; ok && a.step == p.Step && ev.Seq <= before {
				return fmt.Sprintf("process %d asked for step %s, which had succeeded with event %d", a.life, p.Step, ev.Seq)
			}
		}
	}
	return ""
}

// reservedFirst holds that every request was charged before it was made.
func reservedFirst(k *book, log []asked) string {
	made, reserved := map[agentOf]int{}, map[agentOf]int{}
	for _, a := range log {
		made[a.agentOf]++
	}
	for _, ev := range k.events {
		if p, ok := ev.Data.(plan.UsageReserved); ok {
			reserved[agentOf{p.Agent, p.Step}]++
		}
	}
	for a, n := range made {
		if n > reserved[a] {
			return fmt.Sprintf("%d requests of the %s were made and %d of them reserved", n, a, reserved[a])
		}
	}
	return ""
}

// repeats counts, by agent and process, the requests that had been made before.
func repeats(log []asked) map[agentOf]map[int]int {
	type exact struct {
		agentOf
		body [sha256.Size]byte
	}
	before := map[exact]bool{}
	counts := map[agentOf]map[int]int{}
	for _, a := range log {
		if before[exact{a.agentOf, a.body}] {
			if counts[a.agentOf] == nil {
				counts[a.agentOf] = map[int]int{}
			}
			counts[a.agentOf][a.life]++
		}
		before[exact{a.agentOf, a.body}] = true
	}
	return counts
}

// repeatedOnce holds that a kill makes an agent repeat one request at most, and
// only one that was at work when a process died. A step that was reset begins
// anew, and meant is how many repeats the story asks for itself.
func repeatedOnce(k *book, log []asked, meant int) []string {
	var wrong []string
	for g, byLife := range repeats(log) {
		total, flew := 0, 0
		for n, times := range byLife {
			total += times
			if most := 1 + meant + agent.DefaultTurns*k.resets(g.step, k.ends[n-1], k.ends[n]); times > most {
				wrong = append(wrong, fmt.Sprintf("process %d repeated %d requests of the %s; %d is the most", n, times, g, most))
			}
		}
		for _, flying := range k.flying {
			if slices.Contains(flying, g) {
				flew++
			}
		}
		if most := flew + meant + agent.DefaultTurns*k.resets(g.step, 0, k.run.Seq); total > most {
			wrong = append(wrong, fmt.Sprintf("%d requests of the %s were repeated, and it was at work at %d kills", total, g, flew))
		}
	}
	return wrong
}
