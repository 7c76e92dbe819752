package handlers

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"planwave/internal/layout"
	"planwave/internal/plan"
	"planwave/web/templates"
)

// drawingTime bounds how long a plan is drawn. Drawing is bounded by its own
// work; this is for plans that nobody thought of.
const drawingTime = 5 * time.Second

// graphOf is the picture of the newest plan with what each step is at.
func (s *server) graphOf(ctx context.Context, v view) templates.GraphProps {
	version, ok := v.run.Version()
	if !ok {
		g := templates.GraphProps{OOB: v.oob, Problem: "There is no plan."}
		if v.run.Status == plan.RunStatusPlanning {
			g.Problem, g.Busy = "The planner is writing the plan…", true
		}
		return g
	}
	l := v.drawingOf(version.Plan)
	g := s.drawAs(ctx, version.Plan, l)
	g.Key, g.OOB = version.Hash+string(l.dir), v.oob
	if g.Problem != "" {
		return g
	}
	g.StylesheetURL = v.shared.at + "/plans/" + version.Hash[len("sha256:"):] + "/layout.css?" + l.query()
	v.turnOf(&g, l.dir)
	v.fillNodes(&g, l)
	v.fillEdges(&g, l.fans)
	g.Map = len(g.Nodes) > mapAbove
	return g
}

// mapAbove is the number of nodes above which a graph has a map of itself.
const mapAbove = 30

// fillNodes says of each node what its step is at.
func (v view) fillNodes(g *templates.GraphProps, l drawing) {
	marks, critical := v.changeMarks(), map[string]bool{}
	in, final := within(l.fans), v.run.Deliverable()
	for _, id := range v.critical() {
		critical[in[id]], critical[id] = true, true
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Critical = critical[n.ID]
		if n.Stack != nil {
			*n = v.stack(*n)
			continue
		}
		*n = v.node(*n)
		n.Change, n.Final = marks[n.ID], n.ID == final
	}
	for i, f := range g.Folds {
		g.Folds[i].URL = v.look.with(f.ID).address(v.url(), v.step)
	}
}

// fillEdges says of each edge whether what it carries is used.
func (v view) fillEdges(g *templates.GraphProps, fans map[string][]string) {
	next, in := v.criticalEdges(), within(fans)
	at := func(id string) string {
		if first, ok := in[id]; ok {
			return first
		}
		return id
	}
	critical := map[[2]string]bool{}
	for from, to := range next {
		critical[[2]string{at(from), at(to)}] = true
	}
	for i := range g.Edges {
		g.Edges[i] = v.edge(g.Edges[i], fans)
		g.Edges[i].Critical = critical[[2]string{g.Edges[i].From, g.Edges[i].To}]
	}
}

// turnOf offers the other direction.
func (v view) turnOf(g *templates.GraphProps, dir layout.Direction) {
	l := v.look
	if l.dir = layout.Right; dir == layout.Right {
		l.dir = layout.Down
	}
	g.TurnURL, g.Right = l.address(v.url(), v.step), dir == layout.Right
}

// node fills in what a step is at.
func (v view) node(n templates.NodeProps) templates.NodeProps {
	link := v.link(n.ID)
	n.URL, n.PanelURL, n.Now = link.URL, link.PanelURL, v.now
	n.Selected = n.ID == v.step
	st := v.run.Step(n.ID)
	n.Status, n.Cause, n.Tokens, n.Kept = st.Status, st.Cause, st.Usage.TotalTokens, st.Kept
	_, n.Estimate = v.take(n.ID)
	if st.Status != plan.StepStatusSkipped {
		n.Started, n.Ended = st.StartedAt, st.FinishedAt
	}
	if v.past && n.Ended.IsZero() {
		n.Ended = v.now // the clock stands at the moment that is shown
	}
	return n
}

// criticalEdges leads from each step of the critical path to the one after it.
func (v view) criticalEdges() map[string]string {
	next, path := map[string]string{}, v.critical()
	for i := 1; i < len(path); i++ {
		next[path[i-1]] = path[i]
	}
	return next
}

// drawing is how a plan is laid out: in which direction, and with which fans
// folded.
type drawing struct {
	dir  layout.Direction
	open []string            // the fans that are open
	fans map[string][]string // those that are folded, by their first step
	all  map[string][]string // all fans
}

// drawingOf is how a page shows a plan.
func (v view) drawingOf(p plan.Plan) drawing {
	return drawingAs(p, v.look.dir, v.look.open, v.look.wide)
}

func drawingAs(p plan.Plan, dir layout.Direction, open []string, wide bool) drawing {
	all := folds(p)
	l := drawing{dir: dir, fans: closed(all, open), all: all}
	for first := range all {
		if _, folded := l.fans[first]; !folded {
			l.open = append(l.open, first)
		}
	}
	slices.Sort(l.open)
	if l.dir == "" {
		l.dir = suited(folded(p, l.fans), wide)
	}
	return l
}

// query names a drawing in an address.
func (l drawing) query() string {
	q := url.Values{"dir": {string(l.dir)}}
	if len(l.open) > 0 {
		q.Set("open", strings.Join(l.open, ","))
	}
	return q.Encode()
}

// draw lays a plan out whole and downwards, or says why there is no picture.
func (s *server) draw(ctx context.Context, p plan.Plan) templates.GraphProps {
	return s.drawAs(ctx, p, drawing{dir: layout.Down})
}

// drawAs lays a plan out, or says why there is no picture. Pictures are kept by
// the plan's hash and how they are drawn.
func (s *server) drawAs(ctx context.Context, p plan.Plan, l drawing) templates.GraphProps {
	hash, err := plan.Hash(p)
	if err != nil {
		return templates.GraphProps{Problem: "This plan cannot be drawn."}
	}
	if len(l.fans) > 0 {
		hash += " folded"
	}
	hash += " " + l.query()
	if g, ok := s.pictures.get(hash); ok {
		return g
	}
	ctx, cancel := context.WithTimeout(ctx, drawingTime)
	defer cancel()
	g, err := drawPlan(ctx, p, l)
	if err != nil {
		return templates.GraphProps{Problem: noPicture(err)}
	}
	s.pictures.put(hash, g)
	return g.clone()
}

// noPicture says why a plan cannot be drawn.
func noPicture(err error) string {
	switch {
	case errors.Is(err, plan.ErrDeadlock), errors.Is(err, layout.ErrCycle), errors.Is(err, layout.ErrSelfEdge):
		return "There is no picture while steps wait on each other or on a step that is not there."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, layout.ErrTooLarge):
		return "This plan is too large to draw. Its steps are listed beside."
	}
	return "This plan cannot be drawn."
}

// drawPlan lays a plan out for a page.
func drawPlan(ctx context.Context, p plan.Plan, l drawing) (picture, error) {
	p = folded(p, l.fans)
	drawn, err := layOut(ctx, p, l.dir)
	if err != nil {
		return picture{}, err
	}
	g := pictureOf(p, drawn, l.dir)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if ids, ok := l.fans[n.ID]; ok {
			n.Stack = &templates.StackProps{IDs: ids}
		} else if ids, ok := l.all[n.ID]; ok {
			g.Folds = append(g.Folds, templates.FoldProps{ID: n.ID, Count: len(ids), X: n.X, Y: n.Y})
		}
	}
	return g, nil
}

// layOut draws a plan by its waves. The edges are those of the steps in plan
// order, of each in the order of depends_on.
func layOut(ctx context.Context, p plan.Plan, dir layout.Direction) (layout.Drawing, error) {
	waves, err := plan.Waves(p)
	if err != nil {
		return layout.Drawing{}, err
	}
	index := make(map[string]int, len(p.Steps))
	in := layout.Graph{Nodes: make([]layout.Node, len(p.Steps))}
	rank := make([]int, len(p.Steps))
	for i, st := range p.Steps {
		index[st.ID] = i
		in.Nodes[i] = layout.Node{ID: st.ID, W: templates.NodeWidth, H: templates.NodeHeight}
	}
	for n, ids := range waves {
		for _, id := range ids {
			rank[index[id]] = n
		}
	}
	for i, st := range p.Steps {
		for _, d := range st.DependsOn {
			in.Edges = append(in.Edges, layout.Edge{From: index[d], To: i})
		}
	}
	return layout.Draw(ctx, in, layout.Options{Rank: rank, Direction: dir})
}

// edgesOf lists the edges of a plan as [layOut] draws them.
func edgesOf(p plan.Plan) (ends [][2]string) {
	for _, st := range p.Steps {
		for _, d := range st.DependsOn {
			ends = append(ends, [2]string{d, st.ID})
		}
	}
	return ends
}

func pictureOf(p plan.Plan, drawn layout.Drawing, dir layout.Direction) picture {
	ends := edgesOf(p)
	g := templates.GraphProps{W: drawn.W, H: drawn.H, Right: dir == layout.Right}
	final := p.Deliverable
	if all := plan.Terminals(p); final == "" && len(all) > 0 {
		final = all[len(all)-1]
	}
	for i, st := range p.Steps {
		b := drawn.Nodes[i]
		g.Nodes = append(g.Nodes, templates.NodeProps{
			ID: st.ID, Instruction: plan.Short(st.Instruction, 300), Tool: st.Tool, Status: plan.StepStatusPending,
			Final: st.ID == final, X: b.X, Y: b.Y, W: b.W, H: b.H,
		})
	}
	for i, path := range drawn.Paths {
		g.Edges = append(g.Edges, templates.EdgeProps{N: i, From: ends[i][0], To: ends[i][1], D: path.SVG()})
	}
	for _, band := range drawn.Layers {
		g.Bands = append(g.Bands, templates.BandProps{Wave: band.Rank + 1, X: band.X, Y: band.Y, W: band.W, H: band.H})
	}
	return picture{g}
}
