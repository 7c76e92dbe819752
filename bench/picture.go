package main

import (
	"bytes"
	"fmt"
	"slices"
)

// pictured says whether the drawings of a graph are worth a picture: some, of all kinds.
func pictured(g graph) bool {
	return slices.Contains([]string{
		"gha_airflow_ci", "gha_uv_release", "airflow_example_complex", "layered-30-1", "layered-100-1", "plan-30-1", "plan-60-2", "tree-30-1",
		"layered-300-1",
	}, g.name)
}

// picture writes a drawing as SVG, the same for all engines.
func picture(d drawing) []byte {
	var b bytes.Buffer
	x, y, w, h := frame(d)
	const margin = 10
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="%.0f %.0f %.0f %.0f">`, x-margin, y-margin, w+2*margin, h+2*margin)
	fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" fill="#fff"/>`, x-margin, y-margin, w+2*margin, h+2*margin)
	b.WriteString("\n<path fill=\"none\" stroke=\"#556\" stroke-width=\"2\" d=\"")
	for _, l := range d.lines {
		for k, p := range l {
			op := 'L'
			if k == 0 {
				op = 'M'
			}
			fmt.Fprintf(&b, "%c%.0f,%.0f", op, p.x, p.y)
		}
	}
	b.WriteString("\"/>\n<path fill=\"#dfe8ff\" stroke=\"#46a\" d=\"")
	for _, r := range d.boxes {
		fmt.Fprintf(&b, "M%.0f,%.0fh%.0fv%.0fh-%.0fz", r.x, r.y, r.w, r.h, r.w)
	}
	b.WriteString("\"/>\n</svg>\n")
	return b.Bytes()
}
