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
			lines = append(lines, folded(oneLine(l), dotWidth, one)...)
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

// one is the width of a character where all are the same.
func one(rune) float64 { return 1 }

// folded breaks a line between words, and words that are longer than a line.
func folded(line string, width float64, advance func(rune) float64) []string {
	var out []string
	var now strings.Builder
	at := 0.0
	flush := func() {
		if at > 0 {
			out = append(out, now.String())
		}
		now.Reset()
		at = 0
	}
	for _, word := range strings.Fields(line) {
		size := 0.0
		for _, r := range word {
			size += advance(r)
		}
		if at > 0 && at+1+size > width {
			flush()
		}
		if at > 0 {
			now.WriteByte(' ')
			at++
		}
		for _, r := range word {
			if at+advance(r) > width {
				flush()
			}
			now.WriteRune(r)
			at += advance(r)
		}
	}
	if flush(); len(out) == 0 {
		return []string{""}
	}
	return out
}
