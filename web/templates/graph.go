package templates

import (
	"strconv"
	"strings"
	"time"

	"planwave/internal/plan"
)

// The size of a node in px, for the layout.
const (
	NodeWidth  = 224
	NodeHeight = 104
	// SmallNodeHeight is the height of a node of a plan that is being edited,
	// which has neither status nor time.
	SmallNodeHeight = 80
)

// The room in px that the sheet keeps around what the layout drew: labels of
// bands stand above their nodes.
const (
	sheetTop  = 24
	sheetEdge = 8
	bandTop   = 26
	bandFoot  = 10
)

// GraphProps is the picture of a plan, #graph. Positions are those of
// internal/layout, in px from the top left of the drawing.
type GraphProps struct {
	// W and H are the size of the drawing.
	W, H  float64
	Nodes []NodeProps
	Edges []EdgeProps
	Bands []BandProps
	// StylesheetURL serves [GraphCSS] of this graph, by the plan's hash; empty
	// for a draft, whose nodes a script places.
	StylesheetURL string
	// Key names the plan that is drawn, as its hash does: a page keeps its zoom and
	// place while the key stays the same.
	Key string
	// Draft is a plan that is being edited: nodes link to their form.
	Draft bool
	// Problem says why there is no picture, as while steps wait on each other or
	// while the first plan is being written. Busy marks the latter.
	Problem string
	Busy    bool
	OOB     bool
}

// NodeProps is one step in the picture, #node-ID.
type NodeProps struct {
	ID          string
	Instruction string
	Tool        string // empty: an agent
	Status      plan.StepStatus
	Kept        bool
	// Change says what a version that waits for approval does with the step: added,
	// changed, or nothing.
	Change string
	// Critical marks a step of the critical path, and Estimate says in short what
	// the step will take; both before approval.
	Critical bool
	Estimate string
	// Cause is the step that failed first, of a skipped step.
	Cause string
	Final bool
	// Invalid marks a step of a draft that breaks a rule.
	Invalid    bool
	X, Y, W, H float64
	// URL selects the step; PanelURL asks for its panel as a fragment.
	URL, PanelURL string
	Selected      bool
	// Started and Ended bound the time; a running step's clock ticks. Now is the
	// server's time.
	Started, Ended, Now time.Time
	Tokens              int
	// Draft makes it a node of a draft.
	Draft bool
	OOB   bool
}

// EdgeProps is a dependency in the picture: To needs From.
type EdgeProps struct {
	From, To string
	// D is the course, as the attribute d of an SVG path has it.
	D string
	// Lit says that the result flows: From succeeded and To runs or has run. Broken says
	// that From did not succeed.
	Lit, Broken bool
	// Critical marks a part of the critical path, before approval.
	Critical bool
}

// EdgesProps are all edges, #graph-edges.
type EdgesProps struct {
	W, H  float64
	Edges []EdgeProps
	OOB   bool
	// Draft edges can be taken off by a click.
	Draft bool
}

// edges returns the edges of the picture.
func (g GraphProps) edges() EdgesProps {
	return EdgesProps{W: g.W, H: g.H, Edges: g.Edges, Draft: g.Draft}
}

// BandProps is the band of a wave behind its nodes.
type BandProps struct {
	Wave int
	Y, H float64
}

// worker says who carries the step out.
func (n NodeProps) worker() string {
	if n.Tool == "" {
		return "agent"
	}
	return n.Tool
}

// class says how an edge is drawn.
func (e EdgeProps) class() string {
	switch {
	case e.Broken:
		return "edge edge-broken"
	case e.Lit:
		return "edge edge-lit"
	case e.Critical:
		return "edge edge-critical"
	default:
		return "edge"
	}
}

// GraphCSS returns the stylesheet that places the nodes and bands of a graph.
// It is the same for every state of the same plan, and may be cached for ever
// under the plan's hash.
func GraphCSS(g GraphProps) string {
	var b strings.Builder
	b.WriteString("#graph .sheet{width:" + px(g.W+2*sheetEdge) + "px;height:" + px(g.H+sheetTop+sheetEdge) + "px}\n")
	for _, band := range g.Bands {
		b.WriteString(`#graph [data-band="` + strconv.Itoa(band.Wave) + `"]{top:` + px(band.top()) + "px;height:" + px(band.height()) + "px}\n")
	}
	for _, n := range g.Nodes {
		b.WriteString("#graph [data-n=" + cssString(n.ID) + "]{left:" + px(n.X+sheetEdge) + "px;top:" + px(n.Y+sheetTop) +
			"px;width:" + px(n.W) + "px;height:" + px(n.H) + "px}\n")
	}
	return b.String()
}

func (b BandProps) top() float64    { return b.Y + sheetTop - bandTop }
func (b BandProps) height() float64 { return b.H + bandTop + bandFoot }

// cssString quotes text as a string of CSS. Whatever could end the string or
// the line is written as an escape.
func cssString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			b.WriteRune(r)
			continue
		}
		b.WriteString(`\` + strconv.FormatInt(int64(r), 16) + " ")
	}
	b.WriteByte('"')
	return b.String()
}
