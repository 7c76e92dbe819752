package export

import (
	"fmt"
	"strings"
)

// DOT writes the plan in the language of Graphviz, https://graphviz.org/doc/info/lang.html.
func DOT(s Source) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph plan {\n  label=%s;\n  labelloc=t;\n", dotText(oneLine(s.Title)))
	b.WriteString("  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=11];\n  edge [color=\"#566070\"];\n")
	for i, st := range s.Plan.Steps {
		status := s.Status(st.ID)
		c := coloursOf(status)
		style := "rounded,filled"
		if dashed(status) {
			style += ",dashed"
		}
		var lines []string
		for _, l := range s.label(st) {
			lines = append(lines, folded(oneLine(l), dotWidth)...)
		}
		fmt.Fprintf(&b, "  %s [label=%s, fillcolor=\"%s\", color=\"%s\", fontcolor=\"%s\", style=\"%s\"];\n",
			node(i), dotText(strings.Join(lines, "\n")), c.fill, c.line, c.text, style)
	}
	s.edges(func(from, to int) { fmt.Fprintf(&b, "  %s -> %s;\n", node(from), node(to)) })
	b.WriteString("}\n")
	return b.String()
}

// dotWidth is how long a line of a label is, in characters.
const dotWidth = 36

// dotText is a quoted text. A backslash would begin an escape, and a newline is
// written as one.
func dotText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// folded breaks a line between words, and words that are longer than a line.
func folded(line string, width int) []string {
	var out []string
	now := []rune{}
	for _, word := range strings.Fields(line) {
		w := []rune(word)
		if len(now) > 0 && len(now)+1+len(w) > width {
			out, now = append(out, string(now)), nil
		}
		if len(now) > 0 {
			now = append(now, ' ')
		}
		for now = append(now, w...); len(now) > width; now = now[width:] {
			out = append(out, string(now[:width]))
		}
	}
	if len(now) > 0 || len(out) == 0 {
		out = append(out, string(now))
	}
	return out
}
