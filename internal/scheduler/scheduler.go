package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"planwave/internal/plan"
)

// Sentinel errors and the causes that end an execution early.
var (
	// ErrNotApproved refuses a plan that is not the one a person approved.
	ErrNotApproved = errors.New("this plan is not the approved one: approve the newest version first")
	// ErrCancelled is the cause of a context that a person cancelled. Nothing is
	// recorded of what was in flight: whoever cancelled ends the steps together
	// with the run, as one change.
	ErrCancelled = errors.New("cancelled")
	// ErrShutdown is the cause of a context that ends with the process:
	// nothing is recorded of what was in flight, so that it runs again later.
	ErrShutdown = errors.New("shutting down")
	// ErrRoundOver ends the execution of a run that is planned again after
	// every round: a wave has ended, more is left to run, and the request to the
	// planner is recorded.
	ErrRoundOver = errors.New("the round is over")
	// ErrNotRetryable refuses to try a step again that did not end badly.
	ErrNotRetryable = errors.New("only a step that failed, broke its contract or was cancelled can be tried again")
)

// Engine is what the scheduler is given to do its work with.
type Engine interface {
	// Record takes events, to be committed together and in the order they are
	// recorded in, soon and without waiting for it. When they cannot be, the
	// execution's context ends with the error as its cause. Whoever does something
	// in Execute that is seen outside of the process commits before it.
	Record(events ...plan.Payload)
	// Commit returns when all that was recorded is durable.
	Commit(ctx context.Context) error
	// Admit is asked before each attempt and does not wait; an error stops the
	// execution, leaving what has not started pending.
	Admit() error
	// Retries delivers the wishes to try a step again; nil delivers none.
	Retries() <-chan Retry
	// Execute carries out one attempt and returns soon after ctx ends. It is
	// called from many goroutines.
	Execute(ctx context.Context, t Task) Outcome
}

// Retry is the wish to try a step again that failed while the run goes on.
// Exactly the steps that it took down are reset with it.
type Retry struct {
	Step string
	By   string
	// Done receives once: nil when the reset is committed. It has room for one.
	Done chan error
}

// Task is one attempt at a step.
type Task struct {
	Step    plan.Step
	Attempt int // from 1
	// Inputs are the results of exactly the step's dependencies, in their order.
	Inputs []Input
}

// Input is the result of one dependency.
type Input struct {
	Step   string
	Result plan.Result
}

// Outcome is how an attempt ended.
type Outcome struct {
	// Status is succeeded, failed or invalid.
	Status plan.StepStatus
	Result plan.Result // of a succeeded or invalid attempt
	Fault  plan.Fault  // of a failed or invalid attempt
	// Stop, when set, ends the execution: the attempt counts as neither, its
	// step is pending again, and no further step starts.
	Stop error
}

// Failed is the outcome of an attempt that raised err.
func Failed(err error) Outcome {
	return Outcome{Status: plan.StepStatusFailed, Fault: plan.FaultOf(err)}
}

// Run executes the steps of an approved run that have not ended, and returns
// nil when every step has and all events are durable. It returns [ErrRoundOver] between the rounds of a run
// that is planned again after each, the cause of ctx when ctx ended, the
// Stop of an outcome or the error of [Engine.Admit] when one stopped it, and
// the error of [Engine.Commit] when events could not be committed. No
// goroutine of it outlives it.
func Run(ctx context.Context, run *plan.Run, eng Engine) error {
	s, err := newScheduler(run, eng)
	if err != nil {
		return err
	}
	return s.loop(ctx)
}

// approved returns the plan that may run: the newest version, if it is the one
// that was approved and still has the hash that was approved.
func approved(run *plan.Run) (plan.Plan, error) {
	v, ok := run.Version()
	if !ok || run.Approved != v.Number {
		return plan.Plan{}, ErrNotApproved
	}
	hash, err := plan.Hash(v.Plan)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("hash the plan to run: %w", err)
	}
	if hash != v.Hash {
		return plan.Plan{}, ErrNotApproved
	}
	return v.Plan, nil
}

// scheduler is one execution. The goroutine that called [Run] owns every
// field; attempts run in goroutines of their own, touch nothing here, and each
// send exactly one completion.
type scheduler struct {
	eng         Engine
	plan        plan.Plan
	waves       bool // false: as ready
	rounds      bool // the planner is asked after every wave
	replans     int  // how often it was
	maxParallel int

	steps   []step
	index   map[string]int // step id → index in steps
	queue   queue          // steps that may start as soon as there is room
	next    queue          // in waves: steps that are ready for the next wave
	wave    int            // number of the newest wave, from 1
	open    int            // steps of the open wave that have not ended
	inWave  bool           // whether a wave is open
	running int

	out     []plan.Payload // decided and not yet recorded
	retried []chan error   // told once out is durable
	done    chan completion
	stop    error // set: nothing new starts
}

// step is the scheduler's own state of a step.
type step struct {
	status     plan.StepStatus
	attempts   int
	wave       int
	cause      string // of a skipped step: the step that failed first
	result     plan.Result
	need       int   // dependencies that have not succeeded
	dependents []int // indexes of the steps that need this one
	rest       int   // steps on the longest path from here to an end
}

type completion struct {
	index   int
	outcome Outcome
}

// loop decides, records, starts and waits, until nothing is left to do.
func (s *scheduler) loop(ctx context.Context) error {
	for {
		starts := s.decide(ctx)
		s.record(ctx)
		for _, i := range starts {
			s.launch(ctx, i)
		}
		if s.running == 0 {
			return s.finish(ctx)
		}
		s.wait(ctx)
	}
}

// decide opens and closes waves and takes from the queue what may start now.
func (s *scheduler) decide(ctx context.Context) (starts []int) {
	if ctx.Err() != nil {
		s.stop = context.Cause(ctx)
	}
	s.turnWave()
	for s.stop == nil && s.running+len(starts) < s.maxParallel && len(s.queue) > 0 {
		if s.stop = s.eng.Admit(); s.stop != nil {
			break
		}
		i := s.queue.pop()
		st := &s.steps[i]
		st.status = plan.StepStatusRunning
		st.attempts++
		s.out = append(s.out, plan.StepStarted{Step: s.id(i), Attempt: st.attempts, Wave: st.wave})
		starts = append(starts, i)
	}
	return starts
}

// turnWave closes a wave whose steps have all ended and opens the next one.
// Between the two the planner is asked where the run wants it.
func (s *scheduler) turnWave() {
	if !s.waves {
		return
	}
	if s.inWave && s.open == 0 {
		s.out = append(s.out, plan.WaveFinished{Wave: s.wave})
		s.inWave = false
		if s.rounds && s.stop == nil && len(s.next) > 0 {
			s.out = append(s.out, plan.ReplanRequested{Number: s.replans + 1, Reason: fmt.Sprintf("wave %d has ended", s.wave)})
			s.stop = ErrRoundOver
		}
	}
	if s.inWave || s.stop != nil || len(s.next) == 0 {
		return
	}
	s.wave++
	s.inWave, s.open = true, len(s.next)
	s.queue, s.next = s.next, nil
	ids := make([]string, len(s.queue))
	for k, i := range s.queue {
		s.steps[i].wave = s.wave
		ids[k] = s.id(i)
	}
	s.out = append(s.out, plan.WaveStarted{Wave: s.wave, Steps: ids})
}

// record hands over what was decided, and tells those who asked for it when it
// is durable.
func (s *scheduler) record(ctx context.Context) {
	if len(s.out) == 0 {
		return
	}
	s.eng.Record(s.out...)
	s.out = nil
	if len(s.retried) == 0 {
		return
	}
	err := s.eng.Commit(context.WithoutCancel(ctx))
	for _, done := range s.retried {
		done <- err
	}
	s.retried = nil
}

// launch starts an attempt. Whatever the engine does, one completion follows.
func (s *scheduler) launch(ctx context.Context, i int) {
	s.running++
	task := s.task(i)
	go func() {
		c := completion{index: i, outcome: Failed(plan.NewError(plan.CodeInternal,
			"The step ended without an outcome. This is a fault in Planwave; the log has the details.", nil))}
		defer func() { s.done <- c }()
		defer func() {
			if p := recover(); p != nil {
				c.outcome = Failed(plan.NewError(plan.CodeInternal,
					"The step crashed. This is a fault in Planwave; the log has the details.", fmt.Errorf("panic: %v", p)))
			}
		}()
		c.outcome = s.eng.Execute(ctx, task)
	}()
}

func (s *scheduler) task(i int) Task {
	def := s.plan.Steps[i]
	t := Task{Step: def.Clone(), Attempt: s.steps[i].attempts, Inputs: make([]Input, 0, len(def.DependsOn))}
	for _, id := range def.DependsOn {
		t.Inputs = append(t.Inputs, Input{Step: id, Result: s.steps[s.index[id]].result})
	}
	return t
}

// wait takes at least one completion or wish, and all completions that are there.
func (s *scheduler) wait(ctx context.Context) {
	select {
	case c := <-s.done:
		s.complete(ctx, c)
	case r := <-s.eng.Retries():
		s.retry(r)
	}
	for {
		select {
		case c := <-s.done:
			s.complete(ctx, c)
		default:
			return
		}
	}
}

// finish says how the execution ended, when nothing is in flight.
func (s *scheduler) finish(ctx context.Context) error {
	if err := s.eng.Commit(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if stop := cmp.Or(context.Cause(ctx), s.stop); stop != nil {
		return stop
	}
	for i := range s.steps {
		if !s.steps[i].status.Ended() {
			return fmt.Errorf("%w: step %q can never start", plan.ErrDeadlock, s.id(i))
		}
	}
	return nil
}

func (s *scheduler) id(i int) string { return s.plan.Steps[i].ID }
