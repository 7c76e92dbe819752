package main

import (
	"fmt"
	"strings"
)

// goal is what our drawing of every graph should fulfil beside that of another engine.
type goal struct {
	name, other string
	// of is what is compared, and most how much of theirs ours may be.
	of   func(result) float64
	most func(nodes int) float64
}

// goals are those of the project. The one that is not here is a median: no more than 1.05 times the crossings of dot.
func goals() []goal {
	always := func(f float64) func(int) float64 { return func(int) float64 { return f } }
	return []goal{
		{"crossings, dot × 1.25", "dot", crossed, always(1.25)},
		{"crossings, dagre", "dagre", crossed, always(1)},
		{"crossings, ELK", "elk", crossed, always(1)},
		{"width, dot", "dot", wide, always(1)},
		{"time, dot / 5 up to 300 nodes, dot above", "dot", lasting, func(nodes int) float64 {
			if nodes <= 300 {
				return 0.2
			}
			return 1
		}},
		{"time, ELK / 10", "elk", lasting, always(0.1)},
	}
}

// missed writes, for each goal, how many graphs fulfil it and which do not, with ours by theirs.
func missed(graphs []map[string]result) string {
	var b strings.Builder
	b.WriteString("| at most | graphs | met | missed by |\n|---|---|---|---|\n")
	for _, g := range goals() {
		all := 0
		var bad []string
		for _, graph := range graphs {
			mine, theirs := graph[ours], graph[g.other]
			if theirs.Engine == "" || mine.Failed+theirs.Failed != "" {
				continue
			}
			all++
			// A hair, since the places that the engines write are rounded.
			if r := ratio(g.of(mine), g.of(theirs)); r > g.most(mine.Nodes)*1.0005 {
				bad = append(bad, fmt.Sprintf("%s %s", mine.Graph, figure(r)))
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", g.name, all, all-len(bad), strings.Join(bad, ", "))
	}
	return b.String()
}
