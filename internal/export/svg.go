package export

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"planwave/internal/layout"
)

const (
	// svgWidth is how much fits in a line of a node's text, in widths of a small
	// letter.
	svgWidth = 32
	// svgLines is how many lines of an instruction a node has room for.
	svgLines = 3
	svgLine  = 16 // px from line to line
	svgInset = 12 // px from the border to the text
	svgBand  = 24 // px above the nodes of a wave, for its name
)

// SVG writes a drawing of the plan as a picture that needs nothing else: no
// fonts, no scripts, no links. The drawing has the plan's steps in plan order,
// and its edges step by step in the order of depends_on.
func SVG(s Source, d layout.Drawing) []byte {
	var b bytes.Buffer
	title := xmlText(oneLine(s.Title))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 %d %g %g" width="%g" height="%g" role="img" font-family="system-ui, sans-serif" font-size="12">`, -svgBand, d.W, d.H+svgBand, d.W, d.H+svgBand)
	fmt.Fprintf(&b, "\n<title>%s</title>\n", title)
	b.WriteString(`<defs><marker id="end" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0,0L8,4L0,8z" fill="#566070"/></marker></defs>` + "\n")
	b.WriteString(`<rect y="-24" width="100%" height="100%" fill="#ffffff"/>` + "\n")
	for i, l := range d.Layers {
		fmt.Fprintf(&b, `<rect x="%g" y="%g" width="%g" height="%g" rx="8" fill="#f3f5f9"/><text x="%g" y="%g" fill="#566070">Wave %d</text>`+"\n",
			l.X, l.Y-svgBand, l.W, l.H+svgBand, l.X+8, l.Y-svgBand+svgLine, i+1)
	}
	for _, p := range d.Paths {
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#566070" stroke-width="1.5" marker-end="url(#end)"/>`+"\n", p.SVG())
	}
	for i := range s.Plan.Steps {
		s.box(&b, i, d.Nodes[i])
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// box draws one step.
func (s Source) box(b *bytes.Buffer, i int, box layout.Box) {
	st := s.Plan.Steps[i]
	c, lines := coloursOf(s.Status(st.ID)), s.label(st)
	dash := ""
	if dashed(s.Status(st.ID)) {
		dash = ` stroke-dasharray="4"`
	}
	fmt.Fprintf(b, `<g><title>%s</title><rect x="%g" y="%g" width="%g" height="%g" rx="8" fill="%s" stroke="%s"%s/>`,
		xmlText(oneLine(st.Instruction)), box.X, box.Y, box.W, box.H, c.fill, c.line, dash)
	text := func(y float64, weight, line string) {
		fmt.Fprintf(b, `<text x="%g" y="%g" fill="%s" font-weight="%s">%s</text>`, box.X+svgInset, y, c.text, weight, xmlText(line))
	}
	y := box.Y + svgInset + svgLine/2
	text(y, "600", cut(lines[0]))
	body := folded(lines[1], svgWidth, advance)
	for n, line := range body[:min(len(body), svgLines)] {
		if y += svgLine; n == svgLines-1 && len(body) > svgLines {
			line = strings.TrimSpace(cut(line + " …"))
		}
		text(y, "400", line)
	}
	if len(lines) > 2 {
		text(box.Y+box.H-svgInset+2, "600", lines[2])
	}
	b.WriteString("</g>\n")
}

// cut is as much of a line as fits.
func cut(line string) string {
	if wide(line) <= svgWidth {
		return line
	}
	at := 0.0
	for i, r := range line {
		if at += advance(r); at > svgWidth-1 {
			return line[:i] + "…"
		}
	}
	return line
}

// xmlText escapes a text for XML.
func xmlText(text string) string {
	var b bytes.Buffer
	_ = escape(&b, text) // a buffer takes every write
	return b.String()
}

func escape(w io.Writer, text string) error { return xml.EscapeText(w, []byte(text)) }
