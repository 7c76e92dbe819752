package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"
)

// script is an engine written in JavaScript: dagre or elk.
type script string

// draw lays out the graph in a process of its own, with layout.mjs.
func (s script) draw(ctx context.Context, g graph) (drawing, error) {
	nodes := make([][2]float64, g.n)
	for i := range nodes {
		nodes[i] = [2]float64{nodeW, nodeH}
	}
	job, err := json.Marshal(map[string]any{
		"engine": s, "nodes": nodes, "edges": append([][2]int{}, g.edges...), "least_ms": 400,
		"gaps": map[string]float64{"node": gapNode, "layer": gapLayer, "edge": gapEdge, "edge_node": gapEdgeToNode},
	})
	if err != nil {
		return drawing{}, err
	}
	cmd := exec.CommandContext(ctx, "node", "layout.mjs")
	cmd.Stdin = bytes.NewReader(job)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		return drawing{}, fmt.Errorf("run %s: %w: %.300s", s, err, errOut.String())
	}
	var res struct {
		Boxes [][4]float64
		Lines [][][2]float64
		Ms    float64
	}
	if err := json.Unmarshal(out, &res); err != nil {
		return drawing{}, fmt.Errorf("read what %s wrote: %w", s, err)
	}
	d := drawing{took: time.Duration(res.Ms * float64(time.Millisecond)), own: -1}
	for _, b := range res.Boxes {
		d.boxes = append(d.boxes, box{b[0], b[1], b[2], b[3]})
	}
	for _, l := range res.Lines {
		var line []point
		for _, p := range l {
			line = append(line, point{p[0], p[1]})
		}
		d.lines = append(d.lines, line)
	}
	return d, nil
}
