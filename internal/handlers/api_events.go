package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/labstack/echo/v4"

	"planwave/internal/plan"
)

// streamEvents follows a run: it replays the events after a number and goes on
// live.
func (a *api) streamEvents(c echo.Context) error {
	after, err := readAfter(c.Request())
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	r, err := a.Runs.Get(ctx, c.Param("id"))
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
	a.follow(ctx, st, r, after, func(events []plan.Event) error {
		for _, e := range events {
			data, err := eventData(e)
			if err != nil {
				return err
			}
			st.send(string(e.Type()), strconv.FormatInt(e.Seq, 10), string(data))
		}
		return nil
	})
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
