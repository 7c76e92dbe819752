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
	// What folds a fan stands above its first node, beside the band's label.
	foldIn, foldUp = 84, 25
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
	// Right draws from the left to the right; TurnURL is the page in the other
	// direction, empty where it cannot be turned.
	Right   bool
	TurnURL string
	// Folds are the fans that are open and can be folded.
	Folds []FoldProps
	// Map adds a small map of the whole graph.
	Map bool
	// Away leaves the place empty, while another view of the run is shown.
	Away bool
	OOB  bool
}

// FoldProps folds a fan that is open into a stack. It stands above the fan's
// first node.
type FoldProps struct {
	ID    string
	Count int
	X, Y  float64
	URL   string
}

// StackProps are the steps that a node stands for: siblings that need the same
// and are needed by the same.
type StackProps struct {
	IDs []string
	// Counts say how many are at what, without those that are none.
	Counts []StatusCount
}

// StatusCount is a number of steps in a status.
type StatusCount struct {
	Status plan.StepStatus
	Count  int
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
	// Stack makes it a node of many steps, whose URL opens it.
	Stack *StackProps
	// Draft makes it a node of a draft.
	Draft bool
	// Diff makes it a node of two versions in one picture: it shows its Change in
	// place of its status.
	Diff bool
	OOB  bool
}

// EdgeProps is a dependency in the picture: To needs From.
type EdgeProps struct {
	From, To string
	// N is its number in the picture.
	N int
	// D is the course, as the attribute d of an SVG path has it.
	D string
	// Lit says that the result flows: From succeeded and To runs or has run. Broken says
	// that From did not succeed. Used says that To has just begun with it.
	Lit, Broken, Used bool
	// Critical marks a part of the critical path, before approval.
	Critical bool
	// Change is added or removed in a picture of two versions.
	Change string
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
	Wave       int
	X, Y, W, H float64
	// Right makes it a column.
	Right bool
}

// plain says that a node has nothing but its id to show in its first line.
func (n NodeProps) plain() bool {
	return n.Tool == "" && (n.Change == "" || n.Diff) && !n.Final && !n.Invalid
}

func (e EdgeProps) id() string { return "edge-" + strconv.Itoa(e.N) }

// class says how an edge is drawn.
func (e EdgeProps) class() string {
	switch {
	case e.Change != "":
		return "edge edge-" + e.Change
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
// under the plan's hash. Nodes are named by their ids, which browsers find
// without a search.
func GraphCSS(g GraphProps) string {
	var b strings.Builder
	b.WriteString("#graph .sheet{width:" + px(g.sheetW()) + "px;height:" + px(g.sheetH()) + "px}\n")
	for _, band := range g.Bands {
		band.Right = g.Right
		start, size := "top", "height"
		if g.Right {
			start, size = "left", "width"
		}
		b.WriteString(`#graph [data-band="` + strconv.Itoa(band.Wave) + `"]{` + start + ":" + px(band.start()) + "px;" + size + ":" + px(band.size()) + "px}\n")
	}
	for _, n := range g.Nodes {
		b.WriteString("#node-" + cssName(n.ID) + "{left:" + px(n.X+sheetEdge) + "px;top:" + px(n.Y+sheetTop) + "px")
		if !n.standard() {
			b.WriteString(";width:" + px(n.W) + "px;height:" + px(n.H) + "px")
		}
		b.WriteString("}\n")
	}
	for _, f := range g.Folds {
		b.WriteString("#fold-" + cssName(f.ID) + "{left:" + px(f.X+foldIn) + "px;top:" + px(f.Y+sheetTop-foldUp) + "px}\n")
	}
	return b.String()
}

func (g GraphProps) sheetW() float64 { return g.W + 2*sheetEdge }
func (g GraphProps) sheetH() float64 { return g.H + sheetTop + sheetEdge }

// standard says that a node has the size that every node has by default.
func (n NodeProps) standard() bool { return n.W == NodeWidth && n.H == NodeHeight }

// start and size are the band's extent in the direction of the edges.
func (b BandProps) start() float64 {
	if b.Right {
		return b.X + sheetEdge - bandFoot
	}
	return b.Y + sheetTop - bandTop
}

func (b BandProps) size() float64 {
	if b.Right {
		return b.W + 2*bandFoot
	}
	return b.H + bandTop + bandFoot
}

// class are the classes of a node.
func (n NodeProps) class() string {
	c := "node tone-" + n.look().Tone
	if n.Diff {
		c += " node-" + n.Change
	}
	for _, k := range []struct {
		is   bool
		name string
	}{{n.Draft, "node-draft"}, {n.Invalid, "node-invalid"}, {n.Critical, "node-critical"}, {n.Stack != nil, "node-stack"}} {
		if k.is {
			c += " " + k.name
		}
	}
	return c
}

// look says how the node is coloured and what its foot says.
func (n NodeProps) look() look {
	if n.Diff {
		return changeLook(n.Change)
	}
	return stepLook(n.Status, n.Kept)
}

// facts says whether a node's foot has more than the status.
func (n NodeProps) facts() bool {
	return n.Estimate != "" || n.Cause != "" || !n.Started.IsZero() || n.Tokens > 0
}

// words say how many steps of a stack are at what.
func (s StackProps) words() string {
	parts := make([]string, len(s.Counts))
	for i, c := range s.Counts {
		parts[i] = Count(c.Count) + " " + stepLook(c.Status, false).Word
	}
	return strings.Join(parts, ", ")
}

// share is the part of a stack's bar that a count takes: where it begins and
// how long it is, in thousandths.
func (s StackProps) share(at int) (from, length string) {
	before := 0
	for _, c := range s.Counts[:at] {
		before += c.Count
	}
	total := len(s.IDs)
	start, end := before*1000/total, (before+s.Counts[at].Count)*1000/total
	return strconv.Itoa(start), strconv.Itoa(end - start)
}

// cssName writes text as a part of a name of CSS. Whatever no name may have is
// written as an escape.
func cssName(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			b.WriteRune(r)
			continue
		}
		b.WriteString(`\` + strconv.FormatInt(int64(r), 16) + " ")
	}
	return b.String()
}
