package layout

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// picturesVar names the environment variable with the folder into which the tests write what they draw. Without it they write
// nothing.
const picturesVar = "LAYOUT_PICTURES"

// picture writes the drawing as an SVG file for a person to look at.
func picture(t *testing.T, name string, g Graph, d Drawing) {
	t.Helper()
	dir := os.Getenv(picturesVar)
	if dir == "" {
		return
	}
	file := filepath.Join(dir, strings.NewReplacer("/", "_", " ", "_").Replace(name)+".svg")
	if err := os.WriteFile(file, svg(g, d), 0o600); err != nil {
		t.Fatal(err)
	}
}

// svg returns the drawing as an SVG file.
func svg(g Graph, d Drawing) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" font-family="sans-serif" font-size="13">`,
		d.W, d.H, d.W, d.H)
	b.WriteString(`<defs><marker id="a" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0,0L8,4L0,8z" fill="#556"/></marker></defs>`)
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>`)
	for _, l := range d.Layers {
		fmt.Fprintf(&b, `<rect x="%g" y="%g" width="%g" height="%g" fill="#f3f5f9"/>`, l.X, l.Y, l.W, l.H)
	}
	for _, p := range d.Paths {
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#556" stroke-width="1.5" marker-end="url(#a)"/>`, p.SVG())
	}
	for i, n := range d.Nodes {
		fmt.Fprintf(&b, `<rect x="%g" y="%g" width="%g" height="%g" rx="8" fill="#dfe8ff" stroke="#4466aa"/>`, n.X, n.Y, n.W, n.H)
		fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">%s</text>`, n.X+n.W/2, n.Y+n.H/2+5, g.Nodes[i].ID)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
