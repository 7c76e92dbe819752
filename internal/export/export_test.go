package export_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"planwave/internal/export"
	"planwave/internal/layout"
	"planwave/internal/plan"
)

// hostile are texts that try to be more than text.
func hostile() []string {
	return []string{
		`<script>alert(1)</script>`, `</svg><script>alert(1)</script>`, `"]; click A href "javascript:alert(1)"; B["`, `]]>`, "`${x}` ``` ````\n# head\n- item",
		`| a | b |`, `end`, `subgraph x`, `\"`, `\`, "a\x00b\x1bc\uFFFE", `&lt;b&gt;`, `%%{init: {"securityLevel":"loose"}}%%`, `[x](javascript:alert(1)) ![p](https://x/p.png)`,
		`[x](javascript\:alert(1)) and [y]: data\:text/html,x [z](//host/x)`, "```\nnever ended", "~~~ js\nnever ended",
		"מימין לשמאל \u202e and 🎉 e\u0301", strings.Repeat("long", 200), ``,
	}
}

// source is a plan of hostile steps, each with another status, all needed by
// the last.
func source() export.Source {
	s := export.Source{Title: hostile()[1]}
	statuses := plan.StepStatuses()
	for i, text := range hostile() {
		s.Plan.Steps = append(s.Plan.Steps, plan.Step{ID: fmt.Sprintf("s%d", i), Instruction: text, Tool: text})
	}
	last := &s.Plan.Steps[len(s.Plan.Steps)-1]
	for _, st := range s.Plan.Steps[:len(s.Plan.Steps)-1] {
		last.DependsOn = append(last.DependsOn, st.ID)
	}
	s.Status = func(id string) plan.StepStatus {
		return statuses[slices.IndexFunc(s.Plan.Steps, func(st plan.Step) bool { return st.ID == id })%len(statuses)]
	}
	return s
}

// Every label is one quoted text in which Mermaid finds nothing: neither its own
// signs nor HTML.
func TestMermaid(t *testing.T) { // BEHAVIOUR 12.5
	got := export.Mermaid(source())
	line := regexp.MustCompile(`^(flowchart TD|  n\d+\["[^"\x60<>\[\]{}()|]*(<br/>[^"\x60<>\[\]{}()|]*)*"\]|  n\d+ --> n\d+|  class n\d+ [a-z_]+|  classDef [a-z_]+ [a-z0-9#:,-]+)$`)
	for l := range strings.Lines(got) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("a line is %q", l)
		}
	}
	n := len(hostile())
	if strings.Count(got, " --> ") != n-1 || strings.Count(got, `["`) != n {
		t.Errorf("%d steps and %d edges are written as\n%s", n, n-1, got)
	}
	if !strings.Contains(got, `#60;script#62;alert#40;1#41;#60;/script#62;`) {
		t.Errorf("the text is lost:\n%s", got)
	}
}

// Graphviz reads what is written, where it is installed; it is balanced in any
// case.
func TestDOT(t *testing.T) { // BEHAVIOUR 12.5
	got := export.DOT(source())
	outside := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).ReplaceAllString(got, "")
	if strings.ContainsAny(outside, `"<&\`) || strings.Count(outside, "->") != len(hostile())-1 {
		t.Errorf("outside of texts stands %s", outside)
	}
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Logf("Graphviz is not installed, so it was not asked")
		return
	}
	cmd := exec.CommandContext(t.Context(), dot, "-Tplain")
	cmd.Stdin = strings.NewReader(got)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "\nedge ") != len(hostile())-1 {
		t.Errorf("dot says %v: %.300s", err, out)
	}
}

func TestSVG(t *testing.T) { // BEHAVIOUR 12.5
	s := source()
	g := layout.Graph{}
	for range s.Plan.Steps {
		g.Nodes = append(g.Nodes, layout.Node{W: 224, H: 104})
	}
	for i := range s.Plan.Steps[1:] {
		g.Edges = append(g.Edges, layout.Edge{From: i, To: len(s.Plan.Steps) - 1})
	}
	d, err := layout.Draw(t.Context(), g, layout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	elements := map[string]int{}
	r := xml.NewDecoder(bytes.NewReader(export.SVG(s, d)))
	for {
		token, err := r.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("it is no XML: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || strings.Contains(a.Name.Local, "href") || strings.Contains(a.Value, "javascript") {
					t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
	for name := range elements {
		if !slices.Contains([]string{"svg", "title", "defs", "marker", "path", "rect", "text", "g"}, name) {
			t.Errorf("an element %s was made", name)
		}
	}
	if n := len(hostile()); elements["g"] != n || elements["path"] != n {
		t.Errorf("%d steps are drawn with %v", n, elements)
	}
}

// run is a run with hostile texts everywhere.
func run(t *testing.T, text string) *plan.Run {
	t.Helper()
	p := plan.Plan{Steps: []plan.Step{{ID: "s1", Instruction: text, Tool: "calc", Input: json.RawMessage(`{}`)}}}
	hash, err := plan.Hash(p)
	if err != nil {
		t.Fatal(err)
	}
	var events []plan.Event
	for i, payload := range []plan.Payload{
		plan.RunCreated{Question: text, Options: plan.DefaultOptions()},
		plan.PlanProposed{Version: plan.Version{Number: 1, Plan: p, Hash: hash}},
		plan.PlanApproved{Version: 1, Hash: hash},
		plan.RunStarted{},
		plan.WaveStarted{Wave: 1, Steps: []string{"s1"}},
		plan.StepStarted{Step: "s1", Attempt: 1, Wave: 1},
		plan.StepSucceeded{Step: "s1", Attempt: 1, Result: plan.Result{Text: text}},
		plan.WaveFinished{Wave: 1},
		plan.AnswerStarted{Attempt: 1},
		plan.AnswerWritten{Answer: plan.Answer{Result: text, RestsOn: []string{"s1"}}},
		plan.RunSucceeded{},
	} {
		events = append(events, plan.Event{Seq: int64(i + 1), Data: payload})
	}
	r, err := plan.Fold("r", events)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMarkdown(t *testing.T) { // BEHAVIOUR 12.5
	for _, text := range hostile() {
		if text == "" {
			continue
		}
		got := export.Markdown(run(t, text), []plan.Call{{Agent: plan.RoleExecutor, Step: "s1", Model: text, Error: &plan.Fault{Message: text}}})
		if regexp.MustCompile(`(?m)^[^\x60]*<`).MatchString(beforeFences(got)) || strings.Contains(beforeFences(got), "](javascript:") || strings.Contains(beforeFences(got), "![p]") ||
			strings.Contains(beforeFences(got), `](javascript\:`) || strings.Contains(beforeFences(got), "](//host") || !strings.Contains(beforeFences(got), "## Plan") {
			t.Errorf("%q becomes\n%s", text, got)
		}
		rows := regexp.MustCompile(`(?m)^\| executor .*$`).FindAllString(got, -1)
		if len(rows) != 1 || len(regexp.MustCompile(`[^\\]\|`).FindAllString(rows[0], -1)) != 7 {
			t.Errorf("%q becomes the row %q", text, rows)
		}
	}
	got := export.Markdown(run(t, "Which is **densest**?"), nil)
	for _, want := range []string{"# Which is \\*\\*densest\\*\\*?", "Succeeded", "## Answer\n\nWhich is **densest**?", "Rests on s1", "### s1 · succeeded", "tool calc"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// beforeFences is a text without its blocks of code.
func beforeFences(md string) string {
	var out []string
	fence := ""
	for l := range strings.Lines(md) {
		mark := regexp.MustCompile("^`{3,}").FindString(l)
		switch {
		case fence == "" && strings.HasSuffix(strings.TrimSpace(l), "text") && mark != "":
			fence = mark
		case fence != "" && strings.TrimSpace(l) == fence:
			fence = ""
		case fence == "":
			out = append(out, l)
		}
	}
	return strings.Join(out, "")
}

// Lines of any alphabet stay in their box.
func TestTextStaysInItsBox(t *testing.T) {
	for _, text := range []string{strings.Repeat("W", 300), strings.Repeat("数据", 200), strings.Repeat("word ", 90), "MMMMMM " + strings.Repeat("i", 200), "🎉" + strings.Repeat("é", 90)} {
		s := export.OfPlan(plan.Plan{Steps: []plan.Step{{ID: strings.Repeat("W", 64), Instruction: text, Tool: text}}})
		d, err := layout.Draw(t.Context(), layout.Graph{Nodes: []layout.Node{{W: 224, H: 104}}}, layout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range regexp.MustCompile(`font-weight="\d+">([^<]*)</text>`).FindAllStringSubmatch(string(export.SVG(s, d)), -1) {
			n := strings.Count(line[1], "W") + strings.Count(line[1], "M") + strings.Count(line[1], "数") + strings.Count(line[1], "据")
			if len([]rune(line[1])) > 32 || n > 17 {
				t.Errorf("a line is %q", line[1])
			}
		}
	}
}
