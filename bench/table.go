package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// progress is a line for a graph that is done.
func progress(g graph, results []result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-37s %4d nodes %4d edges", g.name, g.n, len(g.edges))
	for _, r := range results {
		if r.Graph != g.name {
			continue
		}
		if r.Failed != "" {
			fmt.Fprintf(&b, " | %s %s", r.Engine, r.Failed)
			continue
		}
		f := r.Figures
		fmt.Fprintf(&b, " | %s %d×, %d through, %.0f × %.0f, %s", r.Engine, f.Crossings, f.Through+f.Overlaps, f.W, f.H, inMs(r.Took))
	}
	return b.String()
}

// inMs writes a time in milliseconds with two digits that count.
func inMs(t time.Duration) string {
	ms := t.Seconds() * 1000
	switch {
	case ms < 1:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

// byFamily groups results by graph, and graphs by family, both in the order of their first.
func byFamily(results []result) (names []string, families map[string][]map[string]result) {
	families = map[string][]map[string]result{}
	last := ""
	for _, r := range results {
		if !slices.Contains(names, r.Family) {
			names = append(names, r.Family)
		}
		if r.Graph != last {
			families[r.Family] = append(families[r.Family], map[string]result{})
			last = r.Graph
		}
		graphs := families[r.Family]
		graphs[len(graphs)-1][r.Engine] = r
	}
	return names, families
}

// ratios are ours by theirs, over the graphs that both engines drew.
func ratios(graphs []map[string]result, other string, of func(result) float64) []float64 {
	var all []float64
	for _, g := range graphs {
		mine, ok := g[ours]
		theirs, also := g[other]
		if ok && also && mine.Failed == "" && theirs.Failed == "" {
			all = append(all, ratio(of(mine), of(theirs)))
		}
	}
	slices.Sort(all)
	return all
}

// ratio is a by b, where nothing by nothing is 1.
func ratio(a, b float64) float64 {
	if a == b {
		return 1
	}
	return a / b
}

func crossed(r result) float64 { return float64(r.Figures.Crossings) }
func wide(r result) float64    { return r.Figures.W }
func high(r result) float64    { return r.Figures.H }
func lasting(r result) float64 { return r.Took.Seconds() }

// spread writes the median and the largest of ratios.
func spread(all []float64) string {
	if len(all) == 0 {
		return "–"
	}
	return fmt.Sprintf("%s (%s)", figure(all[len(all)/2]), figure(all[len(all)-1]))
}

// figure writes a ratio.
func figure(r float64) string {
	if math.IsInf(r, 1) {
		return "∞"
	}
	if r < 0.1 {
		return fmt.Sprintf("%.3f", r)
	}
	return fmt.Sprintf("%.2f", r)
}

// tables writes the two tables: ratios to the other engines by family, and what every engine did.
func tables(w io.Writer, results []result) error {
	names, families := byFamily(results)
	var b strings.Builder
	b.WriteString("Ours by theirs, median and largest over the graphs of a line:\n\n")
	b.WriteString("| graphs | | crossings, dot | dagre | ELK | width, dot | dagre | ELK | height, dot | time, dot | dagre | ELK |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	var all []map[string]result
	for _, name := range names {
		b.WriteString(ratioLine(name, families[name]))
		all = append(all, families[name]...)
	}
	b.WriteString(ratioLine("all", all))
	b.WriteString("\nEdges through nodes and overlapping nodes in sum, and the median time:\n\n")
	b.WriteString("| graphs | ours | dot | dagre | ELK |\n|---|---|---|---|---|\n")
	for _, name := range names {
		fmt.Fprintf(&b, "| %s |", name)
		for _, e := range []string{ours, "dot", "dagre", "elk"} {
			fmt.Fprintf(&b, " %s |", plainCell(families[name], e))
		}
		b.WriteString("\n")
	}
	b.WriteString("\nGoals for every graph:\n\n" + missed(all))
	_, err := io.WriteString(w, b.String())
	return err
}

// ratioLine is a line of the first table.
func ratioLine(name string, graphs []map[string]result) string {
	cells := []string{name, fmt.Sprint(len(graphs))}
	for _, c := range []struct {
		of     func(result) float64
		others []string
	}{
		{crossed, []string{"dot", "dagre", "elk"}},
		{wide, []string{"dot", "dagre", "elk"}},
		{high, []string{"dot"}},
		{lasting, []string{"dot", "dagre", "elk"}},
	} {
		for _, other := range c.others {
			cells = append(cells, spread(ratios(graphs, other, c.of)))
		}
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// plainCell is a cell of the second table.
func plainCell(graphs []map[string]result, engine string) string {
	faults, crossings := 0, 0
	var times []time.Duration
	for _, g := range graphs {
		if r, ok := g[engine]; ok && r.Failed == "" {
			faults += r.Figures.Through + r.Figures.Overlaps
			crossings += r.Figures.Crossings
			times = append(times, r.Took)
		}
	}
	if len(times) == 0 {
		return graphs[0][engine].Failed
	}
	slices.Sort(times)
	cell := fmt.Sprintf("%d crossings, %d, %s", crossings, faults, inMs(times[len(times)/2]))
	if n := len(graphs) - len(times); n > 0 {
		cell += fmt.Sprintf(" (%d failed)", n)
	}
	return cell
}
