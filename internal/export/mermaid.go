package export

import (
	"fmt"
	"strings"

	"planwave/internal/plan"
)

// Mermaid writes the plan as a flowchart, https://mermaid.js.org/syntax/flowchart.html.
func Mermaid(s Source) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i, st := range s.Plan.Steps {
		var lines []string
		for _, l := range s.label(st) {
			lines = append(lines, mermaidText(l))
		}
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", node(i), strings.Join(lines, "<br/>"))
	}
	s.edges(func(from, to int) { fmt.Fprintf(&b, "  %s --> %s\n", node(from), node(to)) })
	for i, st := range s.Plan.Steps {
		if status := s.Status(st.ID); status != "" {
			fmt.Fprintf(&b, "  class %s %s\n", node(i), status)
		}
	}
	for _, status := range plan.StepStatuses() {
		c := coloursOf(status)
		fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:%s", status, c.fill, c.line, c.text)
		if dashed(status) {
			b.WriteString(",stroke-dasharray:4")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// mermaidText writes a text so that it is nothing but text in a quoted label:
// all that Mermaid or HTML could read is an entity.
func mermaidText(text string) string {
	var b strings.Builder
	for _, r := range oneLine(text) {
		switch r {
		case '"', '#', '&', '<', '>', '`', '\\', '[', ']', '{', '}', '(', ')', '|', ';', '*', '_', '$', '%':
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
