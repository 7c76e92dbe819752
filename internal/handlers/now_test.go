package handlers

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"planwave/internal/model"
	"planwave/internal/plan"
	"planwave/internal/runs"
	"planwave/web/templates"
)

// slowly is an executor that writes piece after piece, each when it may, and
// then the whole.
func slowly(goOn <-chan struct{}, pieces ...string) func(context.Context, model.Request) (string, error) {
	return func(_ context.Context, req model.Request) (string, error) {
		for _, p := range pieces {
			<-goOn
			if req.OnText != nil {
				req.OnText(p)
			}
		}
		<-goOn
		return `{"result":"It is Zoë 😀."}`, nil
	}
}

func oneStep() plan.Plan { return plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: "one"}}} }

// Who follows a run is sent what models write, piece by piece and without an
// id; what was taken back begins anew at 0.
func TestEventsTellWhatIsWritten(t *testing.T) { // API.md, Events
	goOn := make(chan struct{})
	s := newSite(t, &scriptedModel{executor: slowly(goOn, `{"result":"It is Zoë`, " \\ud83d", "", `{"result":`)})
	id := s.start(oneStep(), func(o *plan.Options) { o.Approval = plan.ApprovalManual })
	stream := s.follow(id, "")
	s.want(202, "POST", "/api/v1/runs/"+id+"/approve", `{"version":1}`)
	var got []textData
	sent := 0
	readFrames(t, stream.Body, func(f frame) {
		if f.event == string(plan.EventUsageReserved) && sent == 0 && strings.Contains(f.data, "executor") {
			sent++
			goOn <- struct{}{}
		}
		if f.event != "text" {
			return
		}
		var d textData
		if err := json.Unmarshal([]byte(f.data), &d); err != nil || f.id != "" {
			t.Errorf("a text is %+v, %v", f, err)
		}
		got = append(got, d)
		switch len(got) {
		case 1:
			goOn <- struct{}{}
		case 2: // taken back, and begun anew
			goOn <- struct{}{}
			goOn <- struct{}{}
		default:
			close(goOn)
		}
	})
	want := []struct {
		at   int
		text string
	}{{0, `{"result":"It is Zoë`}, {20, " \\ud83d"}, {0, `{"result":`}}
	if len(got) != len(want) {
		t.Fatalf("%d texts were sent: %+v", len(got), got)
	}
	for i, w := range want {
		if got[i].Offset != w.at || got[i].Text != w.text || got[i].Agent != plan.RoleExecutor || got[i].Step != "s1" || got[i].Attempt != 1 || got[i].Call == "" {
			t.Errorf("text %d is %+v, want %+v", i, got[i], w)
		}
	}
}

// The page of a run shows, in the selected step's panel, the end of what is
// written for it, and takes it away when it is done.
func TestThePageShowsWhatIsWritten(t *testing.T) { // UX, Run
	goOn := make(chan struct{})
	s := newSite(t, &scriptedModel{executor: slowly(goOn, `{"result":"`+strings.Repeat("a", writingLimit)+`the end \"of it`)})
	id := s.start(oneStep(), func(o *plan.Options) { o.Approval = plan.ApprovalManual })
	resp, err := s.client.Do(s.request("GET", "/runs/"+id+"/live?step=s1", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	s.want(202, "POST", "/api/v1/runs/"+id+"/approve", `{"version":1}`)
	goOn <- struct{}{}
	shown := 0
	readFrames(t, resp.Body, func(f frame) {
		switch {
		case f.event != "text-s1":
		case strings.Contains(f.data, "a"+"the end &#34;of it</p>") && strings.Contains(f.data, "…a"):
			shown++
			if page := s.page("/runs/" + id + "?step=s1"); !strings.HasSuffix(page.Find("#panel #writing-s1 p").Text(), `the end "of it`) {
				t.Errorf("the page says %q", page.Find("#panel").Text())
			}
			goOn <- struct{}{}
		case shown == 1 && strings.Contains(f.data, "hidden"):
			shown++
		}
	})
	if shown != 2 {
		t.Errorf("what was written was shown and taken away: %d of 2", shown)
	}
}

func TestReadable(t *testing.T) {
	tests := map[string]string{
		``:                               ``,
		`plain words`:                    `plain words`,
		`say "result": "x"`:              `say "result": "x"`,
		`{"res`:                          `{"res`,
		`{"result":"`:                    ``,
		`{"result":"a\nb`:                "a\nb",
		`{"result":"a\`:                  `a`,
		`{"result":"a\u00`:               `a`,
		`{"result":"a\ud83d`:             `a`,
		`{"result":"a\ud83d\ude00 b`:     "a😀 b",
		`{"x":1,"result" : "a","y":"b"}`: `a`,
		`{"steps":[`:                     `{"steps":[`,
	}
	for text, want := range tests {
		if got := readable(text); got != want {
			t.Errorf("readable(%q) = %q, want %q", text, got, want)
		}
	}
}

// Calls that wait for the same thing are told as one wait, with everything that
// a person wants to know of it.
func TestWaitsAreShown(t *testing.T) { // BEHAVIOUR 11
	now := time.Now()
	slow := model.Waiting{Kind: model.RateLimited, Reason: "Too many requests.", Until: now.Add(3 * time.Second), Try: 2, Of: 5}
	turn := model.Waiting{Kind: model.RateLimited, Reason: "Its turn.", Until: now.Add(time.Second)}
	v := view{now: now}
	got := v.nowOf([]runs.Now{
		{Step: "s1", Agent: plan.RoleExecutor, Model: "gemini:flash", Waiting: slow},
		{Step: "s2", Agent: plan.RoleExecutor, Model: "gemini:flash"},
		{Step: "s3", Agent: plan.RoleExecutor, Model: "gemini:flash", Waiting: slow},
		{Agent: plan.RolePlanner, Model: "openai:x", Waiting: turn},
	})
	html := render(t, templates.Now(got))
	for _, want := range []string{"s1 and s3 wait for gemini:flash", "Too many requests.", "goes on in", "Try 2 of 5", "The planner waits for openai:x"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not shown in %s", want, html)
		}
	}
	if len(got.Waits) != 2 {
		t.Errorf("%d waits are shown", len(got.Waits))
	}
}
