package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// drawDot lays out the graph with graphviz' program for layered drawings. The crossings that dot itself counts are those before it
// draws the curves.
func drawDot(ctx context.Context, g graph) (drawing, error) {
	text := source(g)
	out, _, err := runDot(ctx, text, "-Tjson0")
	if err != nil {
		return drawing{}, err
	}
	d, err := readDot(out, g)
	if err != nil {
		return drawing{}, err
	}
	if d.own, err = dotCrossings(ctx, text); err != nil {
		return drawing{}, err
	}
	d.took, err = dotTime(ctx, text)
	return d, err
}

// dotTime returns how long dot takes for one more graph in the same process, so that neither the start of the program nor the
// loading of its parts counts: the shortest time for many copies less the shortest for one, by the copies more.
func dotTime(ctx context.Context, text []byte) (time.Duration, error) {
	const enough, most, runs = 150 * time.Millisecond, 512, 5
	one, many, extra := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64), 1
	for n := 0; n < runs; n++ {
		_, took, err := runDot(ctx, text, "-Tplain")
		if err != nil {
			return 0, err
		}
		one = min(one, took)
		_, took, err = runDot(ctx, bytes.Repeat(text, 1+extra), "-Tplain")
		if err != nil {
			return 0, err
		}
		many = min(many, took)
		if many-one < enough && extra < most {
			// Too few copies to measure: begin again with more.
			n, extra, many = -1, 4*extra, math.MaxInt64
		}
	}
	return max(many-one, 0) / time.Duration(extra), nil
}

// source writes the graph in dot's language. An inch has 72 points, and a point is a px here.
func source(g graph) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "digraph{nodesep=%.5f;ranksep=%.5f;node[shape=box,fixedsize=true,label=\"\",width=%.5f,height=%.5f];edge[arrowhead=none];\n",
		gapNode/72.0, gapLayer/72.0, nodeW/72.0, nodeH/72.0)
	for i := range g.n {
		fmt.Fprintf(&b, "n%d;\n", i)
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "n%d->n%d;\n", e[0], e[1])
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// runDot runs the program and returns the processor time that it took.
func runDot(ctx context.Context, text []byte, args ...string) ([]byte, time.Duration, error) {
	cmd := exec.CommandContext(ctx, "dot", args...)
	cmd.Stdin = bytes.NewReader(text)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		return nil, 0, fmt.Errorf("run dot: %w: %s", err, errOut.String())
	}
	return out, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// dotCrossings returns the crossings in which dot's search ended: the last line "mincross name: n crossings" of its report.
func dotCrossings(ctx context.Context, text []byte) (int, error) {
	cmd := exec.CommandContext(ctx, "dot", "-v", "-Tplain")
	cmd.Stdin = bytes.NewReader(text)
	var report bytes.Buffer
	cmd.Stderr = &report
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("run dot -v: %w", err)
	}
	all := regexp.MustCompile(`mincross \S+: (\d+) crossings`).FindAllSubmatch(report.Bytes(), -1)
	if len(all) == 0 {
		return -1, nil
	}
	return strconv.Atoi(string(all[len(all)-1][1]))
}

// readDot reads what dot writes: the centres of the nodes, and the control points of the edges, seen from the bottom left.
func readDot(out []byte, g graph) (drawing, error) {
	var doc struct {
		Objects []struct{ Name, Pos string }
		Edges   []struct {
			Tail, Head int
			Pos        string
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return drawing{}, fmt.Errorf("read what dot wrote: %w", err)
	}
	d := drawing{boxes: make([]box, g.n)}
	node := make([]int, len(doc.Objects))
	for k, o := range doc.Objects {
		i, err := strconv.Atoi(strings.TrimPrefix(o.Name, "n"))
		if err != nil {
			return drawing{}, fmt.Errorf("read what dot wrote: %w", err)
		}
		at, err := points(o.Pos)
		if err != nil {
			return drawing{}, err
		}
		node[k] = i
		d.boxes[i] = box{at[0].x - nodeW/2, at[0].y - nodeH/2, nodeW, nodeH}
	}
	line := map[[2]int][]point{}
	for _, e := range doc.Edges {
		at, err := points(e.Pos)
		if err != nil {
			return drawing{}, err
		}
		line[[2]int{node[e.Tail], node[e.Head]}] = spline(at)
	}
	for _, e := range g.edges {
		d.lines = append(d.lines, line[e])
	}
	return d, nil
}

// points reads "x,y x,y …" and turns it upside down.
func points(text string) ([]point, error) {
	var all []point
	for _, field := range strings.Fields(text) {
		var p point
		if _, err := fmt.Sscanf(field, "%g,%g", &p.x, &p.y); err != nil {
			return nil, fmt.Errorf("read the place %q: %w", field, err)
		}
		p.y = -p.y
		all = append(all, p)
	}
	return all, nil
}

// spline replaces the cubic curves, which share their ends, by straight pieces.
func spline(at []point) []point {
	line := at[:1:1]
	for k := 0; k+3 < len(at); k += 3 {
		for i := range samples {
			t := float64(i+1) / samples
			u := 1 - t
			a, b, c, d := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
			line = append(line, point{
				a*at[k].x + b*at[k+1].x + c*at[k+2].x + d*at[k+3].x,
				a*at[k].y + b*at[k+1].y + c*at[k+2].y + d*at[k+3].y,
			})
		}
	}
	return line
}
