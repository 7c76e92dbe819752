package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
	"planwave/internal/runs"
)

// runDeleted is what a stream says of a run that is not there any more. It is no
// event of the log, which is gone with the run.
const runDeleted = "run.deleted"

// streamEvents follows a run: it replays the events after a number and goes on
// live.
func (a *api) streamEvents(c echo.Context) error {
	after, err := readAfter(c.Request())
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	shared := sharedOf(c)
	r, err := a.Runs.Get(ctx, shownRun(c))
	if err != nil {
		return err
	}
	if after > r.Seq {
		return badRequest("after", fmt.Sprintf("The run has %d events; ask for those after a smaller number than %d.", r.Seq, after))
	}
	st, err := a.openStream(c)
	if err != nil {
		return err
	}
	a.follow(ctx, r, after, follower{st: st, open: func() (bool, error) { return a.stillOpen(ctx, shared) }, gone: func(deleted bool) error {
		if deleted {
			st.send(runDeleted, "", "{}")
		}
		return nil
	}, tell: (&texts{st: st}).tell, deliver: func(events []plan.Event) error {
		for _, e := range events {
			data, err := eventData(e)
			if err != nil {
				return err
			}
			st.send(string(e.Type()), strconv.FormatInt(e.Seq, 10), string(data))
		}
		return nil
	}})
	return nil
}

// eventData is an event as the API writes it: the fields of its type, and with
// them its number and time.
func eventData(e plan.Event) ([]byte, error) {
	fields, err := plan.Encode(e.Data)
	if err != nil {
		return nil, err
	}
	at, err := json.Marshal(stamp(e.At))
	if err != nil {
		return nil, fmt.Errorf("write the time of event %d: %w", e.Seq, err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"seq":%d,"at":%s`, e.Seq, at)
	if rest := bytes.TrimPrefix(fields, []byte("{")); len(rest) > 1 {
		b.WriteByte(',')
		b.Write(rest)
	} else {
		b.WriteByte('}')
	}
	return b.Bytes(), nil
}

// texts sends one viewer what models are writing, as it grows, in events
// without an id: they are not kept.
type texts struct {
	st   *stream
	sent map[string]sentText // by call
}

// sentText is how much of a call's text was sent.
type sentText struct{ void, bytes int }

// textData is a piece of what a model is writing. Offset counts the characters
// that came before it; 0 begins anew.
type textData struct {
	Call    string    `json:"call"`
	Agent   plan.Role `json:"agent"`
	Step    string    `json:"step,omitempty"`
	Attempt int       `json:"attempt"`
	Offset  int       `json:"offset"`
	Text    string    `json:"text"`
}

// tell adds what was written since it was called last. Calls that have ended
// are forgotten: what they wrote is in the trace.
func (t *texts) tell(calls []runs.Now) error {
	sent := map[string]sentText{}
	for _, n := range calls {
		was, known := t.sent[n.Call]
		if known && was.void != n.Void || was.bytes > len(n.Text) {
			was.bytes = 0
		}
		sent[n.Call] = sentText{void: n.Void, bytes: len(n.Text)}
		if rest := n.Text[was.bytes:]; rest != "" {
			b, err := json.Marshal(textData{
				Call: n.Call, Agent: n.Agent, Step: n.Step, Attempt: n.Attempt, Offset: utf8.RuneCountInString(n.Text[:was.bytes]), Text: rest,
			})
			if err != nil {
				return fmt.Errorf("write what a model is writing: %w", err)
			}
			t.st.send("text", "", string(b))
		}
	}
	t.sent = sent
	return nil
}
