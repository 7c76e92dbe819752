package templates

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planwave/internal/plan"
)

func TestFormats(t *testing.T) {
	usd := func(d float64) *plan.USD { u := plan.DollarsOf(d); return &u }
	tests := map[string]struct{ got, want string }{
		"small":          {Count(999), "999"},
		"thousands":      {Count(5278), "5,278"},
		"millions":       {Count(1234567), "1,234,567"},
		"negative":       {Count(-1234), "−1,234"},
		"one":            {Counted(1, "call", "calls"), "1 call"},
		"many":           {Counted(1200, "call", "calls"), "1,200 calls"},
		"millis":         {Duration(85 * time.Millisecond), "85 ms"},
		"seconds":        {Duration(6200 * time.Millisecond), "6.2 s"},
		"almost minute":  {Duration(59960 * time.Millisecond), "1 min 00 s"},
		"minutes":        {Duration(185 * time.Second), "3 min 05 s"},
		"almost an hour": {Duration(time.Hour - 300*time.Millisecond), "1 h 00 min"},
		"hours":          {Duration(127 * time.Minute), "2 h 07 min"},
		"clock went":     {Duration(-time.Second), "0 ms"},
		"now":            {Age(3 * time.Second), "just now"},
		"future":         {Age(-time.Hour), "just now"},
		"minutes ago":    {Age(3 * time.Minute), "3 min ago"},
		"hours ago":      {Age(23 * time.Hour), "23 h ago"},
		"a day":          {Age(25 * time.Hour), "1 day ago"},
		"days":           {Age(50 * time.Hour), "2 days ago"},
		"unknown cost":   {Money(nil), "cost unknown"}, // BEHAVIOUR 8.4: never zero
		"no cost":        {Money(usd(0)), "$0"},
		"tiny cost":      {Money(usd(0.00001)), "under $0.0001"},
		"cents":          {Money(usd(0.0021)), "$0.0021"},
		"dollars":        {Money(usd(12.345)), "$12.35"},
		"first":          {Ordinal(1), "first"},
		"eleventh":       {Ordinal(11), "11th"},
		"list of none":   {List(nil), ""},
		"list of one":    {List([]string{"s1"}), "s1"},
		"list of three":  {List([]string{"s1", "s2", "s3"}), "s1, s2 and s3"},
		"typed number":   {thousands("200000"), "200,000"},
		"typed nonsense": {thousands("many"), "many"},
	}
	for name, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", name, tt.got, tt.want)
		}
	}
}

func TestCountKeepsTheNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<50).Draw(t, "n")
		if got := strings.ReplaceAll(Count(n), ",", ""); got != strconv.Itoa(n) {
			t.Fatalf("%d becomes %s", n, got)
		}
	})
}

func TestEveryStatusHasALookOfItsOwn(t *testing.T) {
	for _, s := range plan.RunStatuses() {
		if l := runLook(s); l.Icon == "info" || l.Word == "" || tabIcon(s) == "idle" {
			t.Errorf("run status %s has no look: %+v", s, l)
		}
	}
	for _, s := range plan.StepStatuses() {
		if l := stepLook(s, false); l.Icon == "info" || l.Word == "" {
			t.Errorf("step status %s has no look: %+v", s, l)
		}
	}
	if l := stepLook(plan.StepStatusSucceeded, true); l.Word != "kept" {
		t.Errorf("a kept result is shown as %q", l.Word)
	}
	if l := stepLook(plan.StepStatusFailed, true); l.Word != "failed" {
		t.Errorf("a failed step is shown as %q", l.Word)
	}
}

func TestGraphCSS(t *testing.T) {
	g := GraphProps{
		W: 100, H: 50.5, Bands: []BandProps{{Wave: 2, Y: 30, H: 20}},
		Nodes: []NodeProps{{ID: "s-1_A", X: 1.5, Y: 2, W: 224, H: 104}, {ID: "\"]{}\n*"}},
	}
	want := `#graph .sheet{width:116px;height:82.5px}
#graph [data-band="2"]{top:28px;height:56px}
#node-s-1_A{left:9.5px;top:26px}
#node-\22 \5d \7b \7d \a \2a {left:8px;top:24px;width:0px;height:0px}
`
	if got := GraphCSS(g); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The same plan has the same stylesheet whatever its state, since it is cached for ever.
func TestGraphCSSKnowsNoState(t *testing.T) {
	a := GraphProps{Nodes: []NodeProps{{ID: "s1", X: 1}}}
	b := GraphProps{Nodes: []NodeProps{{ID: "s1", X: 1, Status: plan.StepStatusFailed, Tokens: 3, Selected: true}}, OOB: true, Key: "k"}
	if GraphCSS(a) != GraphCSS(b) {
		t.Error("a status changes the stylesheet")
	}
}

func BenchmarkGraphCSS(b *testing.B) {
	var g GraphProps
	for i := range 1000 {
		g.Nodes = append(g.Nodes, NodeProps{ID: "step-" + strconv.Itoa(i), X: float64(i), Y: 2, W: 224, H: 104})
	}
	for b.Loop() {
		GraphCSS(g)
	}
}
