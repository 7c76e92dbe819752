package db

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planwave/internal/plan"
)

func idsOf(p Page) []string {
	ids := []string{}
	for _, s := range p.Runs {
		ids = append(ids, s.ID)
	}
	return ids
}

// library holds four runs that differ in everything that can be filtered.
func library(t *testing.T) *DB {
	t.Helper()
	d := openNew(t)
	make := func(id, by, model string, strategy plan.Strategy, cost plan.USD, age time.Duration, more ...plan.Payload) {
		s := newStory(d, id)
		s.at = epoch.Add(-age)
		c := asked("question of " + id)
		c.By, c.Options.Strategy = by, strategy
		c.Options.Models = map[plan.Role]string{plan.RolePlanner: "demo", plan.RoleExecutor: model}
		u := plan.Usage{Requests: 1, TotalTokens: 5, CostUSD: &cost}
		if cost < 0 {
			u.CostUSD = nil
		}
		s.tell(t, append([]plan.Payload{
			c, plan.UsageReserved{Call: "c", Agent: plan.RolePlanner}, plan.UsageSettled{Call: "c", Agent: plan.RolePlanner, Usage: u},
		}, more...)...)
	}
	make("a", "ada", "gemini:x", plan.StrategyPlan, 100, 4*time.Hour, plan.RunCancelled{})
	make("b", "ada", "demo", plan.StrategyReact, 200, 3*time.Hour, plan.RunFailed{Error: plan.Fault{Code: plan.CodeBudgetExhausted}})
	make("c", "ben", "gemini:x", plan.StrategyPlan, 300, 2*time.Hour)
	make("d", "ben", `odd "model" ,`, plan.StrategyPlan, -1, time.Hour, plan.PlanProposed{Version: chain(1)})
	return d
}

func TestFilters(t *testing.T) { // BEHAVIOUR 12.3
	d := library(t)
	yes, no := true, false
	least, most := plan.USD(200), plan.USD(200)
	tests := map[string]struct {
		filter Filter
		want   string
	}{
		"none":                  {Filter{}, "d c b a"},
		"a status":              {Filter{Statuses: []plan.RunStatus{plan.RunStatusFailed}}, "b"},
		"two statuses":          {Filter{Statuses: []plan.RunStatus{plan.RunStatusPlanning, plan.RunStatusCancelled}}, "c a"},
		"a strategy":            {Filter{Strategy: plan.StrategyReact}, "b"},
		"a model":               {Filter{Model: "gemini:x"}, "c a"},
		"the planner's model":   {Filter{Model: "demo"}, "d c b a"},
		"an odd model":          {Filter{Model: `odd "model" ,`}, "d"},
		"part of a model":       {Filter{Model: "gemini"}, ""},
		"an owner":              {Filter{Owner: "ben"}, "d c"},
		"from":                  {Filter{From: epoch.Add(-3 * time.Hour)}, "d c b"},
		"to":                    {Filter{To: epoch.Add(-3 * time.Hour)}, "a"},
		"from and to":           {Filter{From: epoch.Add(-3 * time.Hour), To: epoch.Add(-time.Hour)}, "c b"},
		"at least a cost":       {Filter{MinCost: &least}, "c b"},
		"at most a cost":        {Filter{MaxCost: &most}, "b a"},
		"between two costs":     {Filter{MinCost: &least, MaxCost: &most}, "b"},
		"recorded":              {Filter{Recorded: &yes}, ""},
		"not recorded":          {Filter{Recorded: &no}, "d c b a"},
		"a word":                {Filter{Query: "question"}, "d c b a"},
		"a word and an owner":   {Filter{Query: "question", Owner: "ada"}, "b a"},
		"everything at once":    {Filter{Query: "of c", Owner: "ben", Model: "gemini:x", Strategy: plan.StrategyPlan, MinCost: &least}, "c"},
		"SQL instead of a name": {Filter{Owner: "' OR 1=1 --"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := d.List(t.Context(), tt.filter)
			if err != nil || strings.Join(idsOf(p), " ") != tt.want || p.Next != "" {
				t.Errorf("runs %v, next %q, %v; want %s", idsOf(p), p.Next, err, tt.want)
			}
		})
	}
}

func TestAListShowsTheBeginningOfLongTexts(t *testing.T) {
	d := openNew(t)
	whole(t, d, "r1", strings.Repeat("ö", 20_000), "r", "\n"+strings.Repeat("ä", 5_000)+"\nmore")
	p, err := d.List(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Runs[0]; got.Question != strings.Repeat("ö", 300)+"…" || got.Answer != strings.Repeat("ä", 300)+"…" {
		t.Errorf("question %q, answer %q", got.Question, got.Answer)
	}
	if r, err := d.Load(t.Context(), "r1"); err != nil || len(r.Question) != 40_000 {
		t.Errorf("the question was not kept whole: %v", err)
	}
}

func TestLimits(t *testing.T) {
	d := openNew(t)
	for i := range MostLimit + 10 {
		newStory(d, fmt.Sprintf("r%03d", i)).tell(t, asked("q"))
	}
	for limit, want := range map[int]int{-1: DefaultLimit, 0: DefaultLimit, 1: 1, 7: 7, MostLimit: MostLimit, 1_000_000: MostLimit} {
		p, err := d.List(t.Context(), Filter{Limit: limit})
		if err != nil || len(p.Runs) != want || p.Next == "" {
			t.Errorf("limit %d: %d runs, next %q, %v", limit, len(p.Runs), p.Next, err)
		}
	}
}

func TestPagesStayWhereTheyAreWhileRunsComeAndGo(t *testing.T) {
	d := openNew(t)
	var want []string
	for i := range 23 { // several at one and the same time
		s := newStory(d, fmt.Sprintf("old-%02d", i))
		s.at = epoch.Add(time.Duration(i/4) * time.Minute)
		s.tell(t, asked("q"))
		want = append(want, s.run.ID)
	}
	slices.Reverse(want)
	var got []string
	f := Filter{Limit: 5}
	for page := 0; ; page++ {
		p, err := d.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, idsOf(p)...)
		if f.Cursor = p.Next; f.Cursor == "" {
			break
		}
		s := newStory(d, fmt.Sprintf("new-%02d", page))
		s.at = epoch.Add(time.Hour)
		s.tell(t, asked("q"))
		// The run that the cursor was made of may go, and the place stays.
		if page%2 == 0 {
			if err := d.Delete(t.Context(), p.Runs[4].ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("paged through %v, want %v", got, want)
	}
}

func TestCursorsThatNoListGaveOut(t *testing.T) {
	d := openNew(t)
	for _, cursor := range []string{"x", "%%%", "MTIz", "YWJjLmRlZg", strings.Repeat("A", 1000)} {
		_, err := d.List(t.Context(), Filter{Cursor: cursor})
		wantErr(t, err, ErrCursor)
	}
}

func TestSearch(t *testing.T) { // BEHAVIOUR 12.3
	d := openNew(t)
	whole(t, d, "cities", "Which of Brindlemoor and Quillhaven is denser?", "Density 1,200.0 per km²", "Quillhaven is the **densest**.")
	whole(t, d, "rocket", "Où est le 🚀 launch-pad?", "at Zürich", "C++ AND Rust")
	whole(t, d, "plain", `A "quoted" thing costs 5% * 2`, "NEAR the end", "東京タワー")
	tests := map[string]string{
		"":                            "rocket plain cities",
		"   \t ":                      "rocket plain cities",
		"quillhaven":                  "cities",
		"quill":                       "cities", // as it is typed
		"q":                           "plain cities",
		"haven":                       "",
		"densest":                     "cities", // of the answer
		"1,200.0":                     "cities", // of a result
		"brindlemoor densest":         "cities", // in different texts
		"brindlemoor zürich":          "",
		"zurich":                      "rocket",
		"ZÜRICH":                      "rocket",
		"ou":                          "rocket",
		"🚀":                           "rocket",
		"launch-pad":                  "rocket",
		"launch pad":                  "rocket",
		"c++":                         "rocket plain", // which has costs
		"東京":                          "plain",
		`"quoted"`:                    "plain",
		`quo"ted`:                     "",
		`"`:                           "",
		"*":                           "",
		"5% *":                        "plain",
		"quoted *":                    "plain",
		"AND":                         "rocket cities",
		"and OR rust":                 "",
		"NEAR":                        "plain",
		"NEAR(the end)":               "plain",
		"NOT":                         "",
		"text:quillhaven":             "",
		"{text}:quillhaven":           "",
		"^quillhaven":                 "cities",
		"-quillhaven":                 "cities",
		"quill*":                      "cities",
		"(quillhaven":                 "cities",
		"quillhaven)":                 "cities",
		"'; DROP TABLE runs; --":      "",
		"\x00":                        "",
		"quill\x00haven":              "",
		"\xff\xfe":                    "",
		"%_":                          "",
		strings.Repeat("quill ", 500): "cities",
		strings.Repeat("a", 100_000):  "",
	}
	for query, want := range tests {
		t.Run(plan.Short(query, 30), func(t *testing.T) {
			p, err := d.List(t.Context(), Filter{Query: query})
			if err != nil || strings.Join(idsOf(p), " ") != want {
				t.Errorf("%q finds %v, %v; want %s", plan.Short(query, 60), idsOf(p), err, want)
			}
		})
	}
}

func TestWordsBeyondTheLimitAreNotLookedFor(t *testing.T) {
	d := openNew(t)
	whole(t, d, "r1", "word", "r", "a")
	for n, want := range map[int]int{mostWords - 1: 0, mostWords: 1} {
		p, err := d.List(t.Context(), Filter{Query: strings.Repeat("word ", n) + "missing"})
		if err != nil || len(p.Runs) != want {
			t.Errorf("%d words before: %d runs, %v", n, len(p.Runs), err)
		}
	}
}
