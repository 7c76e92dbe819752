package handlers

import (
	"context"
	"errors"
	"sync"
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
	g := s.draw(ctx, version.Plan)
	g.Key, g.OOB = version.Hash, v.oob
	marks, critical := v.changeMarks(), map[string]bool{}
	for _, id := range v.critical() {
		critical[id] = true
	}
	if g.Problem == "" {
		g.StylesheetURL = "/plans/" + version.Hash[len("sha256:"):] + "/layout.css"
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		*n = v.node(*n)
		n.Change, n.Critical, n.Final = marks[n.ID], critical[n.ID], n.ID == v.run.Deliverable()
	}
	next := v.criticalEdges()
	for i := range g.Edges {
		g.Edges[i] = v.edge(g.Edges[i])
		g.Edges[i].Critical = next[g.Edges[i].From] == g.Edges[i].To
	}
	return g
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

// edge lights up when the result it carries is used.
func (v view) edge(e templates.EdgeProps) templates.EdgeProps {
	from, to := v.run.Step(e.From), v.run.Step(e.To)
	e.Lit = from.Status == plan.StepStatusSucceeded && (to.Status == plan.StepStatusSucceeded || !to.StartedAt.IsZero())
	e.Broken = from.Status.Ended() && from.Status != plan.StepStatusSucceeded
	return e
}

// draw lays a plan out, or says why there is no picture. Pictures are kept by
// the plan's hash.
func (s *server) draw(ctx context.Context, p plan.Plan) templates.GraphProps {
	hash, err := plan.Hash(p)
	if err != nil {
		return templates.GraphProps{Problem: "This plan cannot be drawn."}
	}
	if g, ok := s.pictures.get(hash); ok {
		return g
	}
	ctx, cancel := context.WithTimeout(ctx, drawingTime)
	defer cancel()
	g, err := drawPlan(ctx, p)
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

// picture is a plan laid out, without what its steps are at.
type picture struct{ templates.GraphProps }

// clone returns props that can be filled in.
func (p picture) clone() templates.GraphProps {
	g := p.GraphProps
	g.Nodes = append([]templates.NodeProps(nil), g.Nodes...)
	g.Edges = append([]templates.EdgeProps(nil), g.Edges...)
	return g
}

// drawPlan lays a plan out for a page.
func drawPlan(ctx context.Context, p plan.Plan) (picture, error) {
	drawn, err := layOut(ctx, p, layout.Down)
	if err != nil {
		return picture{}, err
	}
	return pictureOf(p, drawn), nil
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

func pictureOf(p plan.Plan, drawn layout.Drawing) picture {
	ends := edgesOf(p)
	g := templates.GraphProps{W: drawn.W, H: drawn.H}
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
		g.Edges = append(g.Edges, templates.EdgeProps{From: ends[i][0], To: ends[i][1], D: path.SVG()})
	}
	for _, band := range drawn.Layers {
		g.Bands = append(g.Bands, templates.BandProps{Wave: band.Rank + 1, Y: band.Y, H: band.H})
	}
	return picture{g}
}

// mostPictures is how many plans' pictures are kept.
const mostPictures = 256

// pictures keeps the pictures that were drawn last. It is safe for concurrent use.
type pictures struct {
	mu    sync.Mutex
	by    map[string]picture
	order []string // oldest first
}

func (k *pictures) get(hash string) (templates.GraphProps, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.by[hash]
	return p.clone(), ok
}

func (k *pictures) put(hash string, p picture) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by == nil {
		k.by = map[string]picture{}
	}
	if _, had := k.by[hash]; had {
		return
	}
	if len(k.order) == mostPictures {
		delete(k.by, k.order[0])
		k.order = k.order[1:]
	}
	k.by[hash], k.order = p, append(k.order, hash)
}
