package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"planwave/internal/model"
	"planwave/internal/tools"
)

// meeting is a tool that answers only when n calls of it are in flight.
func meeting(name string, n int) fake {
	var wg sync.WaitGroup
	wg.Add(n)
	return fake{name: name, call: func(ctx context.Context, args json.RawMessage) (tools.Result, error) {
		wg.Done()
		met := make(chan struct{})
		go func() { wg.Wait(); close(met) }()
		select {
		case <-met:
			return tools.Result{Text: string(args)}, nil
		case <-ctx.Done():
			return tools.Result{}, ctx.Err()
		}
	}}
}

// Calls of one turn that only read overlap, and are answered in their order.
func TestReadingToolsOfOneTurnOverlap(t *testing.T) {
	m := speak(calls(toolCall("a", "meet", `{"n":1}`), toolCall("b", "meet", `{"n":2}`), toolCall("c", "meet", `{"n":3}`)), says("done"))
	if _, err := carryOut(t, m, task(), meeting("meet", 3)); err != nil {
		t.Fatal(err)
	}
	for i, r := range m.asked[1].Messages[2].Results {
		if want := fmt.Sprintf(`{"n":%d}`, i+1); r.Text != want || r.ID != string(rune('a'+i)) {
			t.Errorf("result %d is %+v", i, r)
		}
	}
}

// BEHAVIOUR 4.6: calls that change something run one at a time, in their order,
// together with whatever they were asked for with.
func TestToolsThatChangeSomethingRunOneAfterTheOther(t *testing.T) {
	var order []string
	note := func(_ context.Context, args json.RawMessage) (tools.Result, error) {
		order = append(order, string(args)) // the race detector sees any overlap
		return tools.Result{Text: "noted"}, nil
	}
	var list []model.ToolCall
	for i := range 20 {
		name := []string{"read", "write"}[i%2]
		list = append(list, toolCall(fmt.Sprint(i), name, fmt.Sprintf(`{"n":%d}`, i)))
	}
	m := speak(calls(list...), says("done"))
	if _, err := carryOut(t, m, task(), fake{name: "read", call: note}, fake{name: "write", changes: true, call: note}); err != nil {
		t.Fatal(err)
	}
	for i, args := range order {
		if want := fmt.Sprintf(`{"n":%d}`, i); args != want {
			t.Errorf("call %d was %s", i, args)
		}
	}
	if len(order) != len(list) {
		t.Errorf("%d of %d calls were made", len(order), len(list))
	}
}

func TestNoTurnRunsMoreCallsAtOnceThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inFlight atomic.Int64
		release := make(chan struct{})
		slow := fake{name: "slow", call: func(context.Context, json.RawMessage) (tools.Result, error) {
			inFlight.Add(1)
			defer inFlight.Add(-1)
			<-release
			return tools.Result{Text: "done"}, nil
		}}
		var list []model.ToolCall
		for i := range 100 {
			list = append(list, toolCall(fmt.Sprint(i), "slow", `{}`))
		}
		m := speak(calls(list...), says("done"))
		go func() {
			if _, err := carryOut(t, m, task(), slow); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		if n := inFlight.Load(); n != sideBySide {
			t.Errorf("%d calls are in flight, want %d", n, sideBySide)
		}
		close(release)
		synctest.Wait()
		if n := len(m.asked[1].Messages[2].Results); n != 100 {
			t.Errorf("%d of 100 calls are answered", n)
		}
	})
}

// BEHAVIOUR 4.3: a tool that broke is told, without its inner reason.
func TestAToolThatBrokeIsToldToTheModel(t *testing.T) {
	broken := fake{name: "broken", call: func(context.Context, json.RawMessage) (tools.Result, error) {
		return tools.Result{}, errors.New("secret address")
	}}
	crashing := fake{name: "crashing", call: func(context.Context, json.RawMessage) (tools.Result, error) { panic("secret address") }}
	m := speak(calls(toolCall("a", "broken", `{}`), toolCall("b", "crashing", `{}`)), says(`{"result":"without it"}`))
	got, err := carryOut(t, m, task(), broken, crashing)
	if err != nil || got.Text != "without it" {
		t.Fatalf("the result is %+v, %v", got, err)
	}
	for i, name := range []string{"broken", "crashing"} {
		r := m.asked[1].Messages[2].Results[i]
		if want := "The tool " + name + " broke and gave no result. Try another way, or say what is missing."; !r.IsError || r.Text != want {
			t.Errorf("it is told %+v", r)
		}
	}
}

// unrecorded is tools whose calls cannot be recorded.
type unrecorded struct {
	*tools.Registry
	err error
}

func (u unrecorded) Call(context.Context, string, json.RawMessage) (tools.Result, error) {
	return tools.Result{}, u.err
}

// BEHAVIOUR 4.5: every tool call is recorded, so one that cannot be ends the step.
func TestACallThatCannotBeRecordedEndsTheStep(t *testing.T) {
	full := errors.New("the disk is full")
	m := speak(calls(toolCall("a", "get_city", `{}`), toolCall("b", "get_city", `{}`)), says("late"))
	e := Executor{Model: m, Tools: unrecorded{registry(t, tools.City()), full}}
	_, err := e.Execute(t.Context(), task())
	if !errors.Is(err, full) || len(m.asked) != 1 {
		t.Errorf("the error is %v after %d requests", err, len(m.asked))
	}
	mentions(t, err.Error(), "s1", "get_city")
}

// BEHAVIOUR 5.7: what is in flight is cancelled, and nothing new is begun.
func TestCancellingEndsTheStepAndItsCalls(t *testing.T) {
	why := errors.New("a person cancelled")
	for _, changes := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(t.Context())
		begun := 0
		tool := fake{name: "slow", changes: changes, call: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
			if changes {
				begun++
			}
			cancel(why)
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		}}
		m := speak(calls(toolCall("a", "slow", `{}`), toolCall("b", "slow", `{}`), toolCall("c", "slow", `{}`)), says("late"))
		e := Executor{Model: m, Tools: registry(t, tool)}
		if _, err := e.Execute(ctx, task()); !errors.Is(err, why) || len(m.asked) != 1 {
			t.Errorf("the error is %v after %d requests", err, len(m.asked))
		}
		if begun > 1 {
			t.Errorf("%d calls were begun one after the other", begun)
		}
	}
}
