package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"planwave/internal/db"
	"planwave/internal/plan"
)

// recordingFormat is the version of the form of a recording.
const recordingFormat = 1

// Recording is a whole run: its log and its trace, as a file holds them.
type Recording struct {
	Format int             `json:"format"`
	ID     string          `json:"id"`
	Events []RecordedEvent `json:"events"`
	Calls  []plan.Call     `json:"calls"`
}

// RecordedEvent is one event of a recording.
type RecordedEvent struct {
	At   time.Time       `json:"at"`
	Type plan.EventType  `json:"type"`
	Data json.RawMessage `json:"data"`
}

// Export returns the recording of a run that has ended.
func (s *Service) Export(ctx context.Context, id string) (Recording, error) {
	r, err := s.Get(ctx, id)
	if err != nil {
		return Recording{}, err
	}
	if !r.Status.Ended() {
		return Recording{}, unexpected(r, "record it", "only a run that has ended is recorded whole")
	}
	rec := Recording{Format: recordingFormat, ID: id}
	events, err := s.Store.Events(ctx, id, 0, int(r.Seq))
	if err != nil {
		return Recording{}, err
	}
	for _, e := range events {
		data, err := plan.Encode(e.Data)
		if err != nil {
			return Recording{}, err
		}
		rec.Events = append(rec.Events, RecordedEvent{At: e.At, Type: e.Type(), Data: data})
	}
	if rec.Calls, err = s.Store.Trace(ctx, id); err != nil {
		return Recording{}, err
	}
	return rec, nil
}

// Replay makes a new run of the recorded log of one that has ended: the same
// plan, the same events, with no model called. It ends now, and took as long as
// the recorded one.
func (s *Service) Replay(ctx context.Context, id string) (*plan.Run, error) {
	rec, err := s.Export(ctx, id)
	if err != nil {
		return nil, err
	}
	last := rec.Events[len(rec.Events)-1].At
	return s.play(ctx, rec, s.Clock().UTC().Truncate(time.Millisecond).Sub(last))
}

// Import takes a recording in as an ended run with a new id, at the times that
// it was recorded. What is no recording of a whole run is refused.
func (s *Service) Import(ctx context.Context, rec Recording) (*plan.Run, error) {
	return s.play(ctx, rec, 0)
}

// play appends a recording to the log as a new run, its times shifted.
func (s *Service) play(ctx context.Context, rec Recording, shift time.Duration) (*plan.Run, error) {
	r := &plan.Run{ID: s.NewID()}
	b := db.Batch{Run: r, Key: keyOf(ctx)}
	if rec.Format != recordingFormat {
		return nil, noRecording("its format is %d, and %d is the one that is read", rec.Format, recordingFormat)
	}
	for i, e := range rec.Events {
		p, err := plan.Decode(e.Type, e.Data)
		if err != nil {
			return nil, noRecording("event %d: %v", i+1, err)
		}
		switch is := p.(type) {
		case plan.RunCreated:
			is.Recorded = true
			p = is
		case plan.UsageSettled:
			if !possible(is.Usage) {
				return nil, noRecording("event %d tells of a usage that cannot be", i+1)
			}
		}
		event := plan.Event{Seq: int64(i + 1), At: e.At.UTC().Truncate(time.Millisecond).Add(shift), Data: p}
		if err := r.Apply(event); err != nil {
			return nil, noRecording("event %d: %v", i+1, err)
		}
		b.Events = append(b.Events, event)
	}
	if !r.Status.Ended() {
		return nil, noRecording("the run in it has not ended")
	}
	err := refused(func(bad reject) {
		checkQuestion(r.Question, bad)
		checkOptions(r.Options, bad)
	})
	if err != nil {
		return nil, err
	}
	for _, v := range r.Versions {
		if hash, err := plan.Hash(v.Plan); err != nil || hash != v.Hash {
			return nil, noRecording("version %d of the plan is not the one that its hash is of", v.Number)
		}
	}
	b.Calls, b.ToolCalls = traceOf(rec.Calls, shift)
	if err := s.Store.Append(ctx, b); err != nil {
		return nil, fmt.Errorf("keep the recording of run %s: %w", rec.ID, err)
	}
	return r, nil
}

// traceOf returns the calls of a recording, and the tool calls that no model
// asked for, which a trace shows as calls of no agent.
func traceOf(all []plan.Call, shift time.Duration) (calls []plan.Call, loose []plan.ToolCall) {
	for _, c := range all {
		tools := make([]plan.ToolCall, len(c.ToolCalls))
		for i, t := range c.ToolCalls {
			t.StartedAt, t.FinishedAt = t.StartedAt.Add(shift), t.FinishedAt.Add(shift)
			tools[i] = t
		}
		if c.Agent == "" {
			loose = append(loose, tools...)
			continue
		}
		c.StartedAt, c.ToolCalls = c.StartedAt.Add(shift), tools
		if !c.FinishedAt.IsZero() {
			c.FinishedAt = c.FinishedAt.Add(shift)
		}
		calls = append(calls, c)
	}
	return calls, loose
}

func noRecording(format string, args ...any) error {
	return plan.NewError(plan.CodeInvalid, "This is no recording of a run: "+fmt.Sprintf(format, args...)+". Export the run again.", nil)
}
