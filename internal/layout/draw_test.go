package layout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// draw draws and judges the graph.
func draw(t *testing.T, g Graph, o Options) Drawing {
	t.Helper()
	d, err := Draw(t.Context(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	picture(t, fmt.Sprintf("%s_%d%s_ranks=%t", t.Name(), len(g.Nodes), o.Direction, o.Rank != nil), g, d)
	judge(t, g, o, d)
	return d
}

// middle returns the centre of a box.
func middle(b Box) Point { return Point{b.X + b.W/2, b.Y + b.H/2} }

func TestDrawNothing(t *testing.T) {
	for _, o := range []Options{{}, {Rank: []int{}}, {Direction: Right}} {
		if d := draw(t, Graph{}, o); !reflect.DeepEqual(d, Drawing{}) {
			t.Errorf("an empty graph gave %+v", d)
		}
	}
}

func TestDrawSingleNode(t *testing.T) {
	d := draw(t, steps(t, 1, ""), Options{})
	want := Box{X: DefaultNodeGap / 2, Y: DefaultNodeGap / 2, W: stepW, H: stepH}
	if d.Nodes[0] != want || d.W != stepW+DefaultNodeGap || d.H != stepH+DefaultNodeGap {
		t.Errorf("got %+v", d)
	}
}

func TestDrawSampleCentresTheSink(t *testing.T) {
	d := draw(t, steps(t, 4, "1-4 2-4 3-4"), Options{})
	if sink, second := middle(d.Nodes[3]), middle(d.Nodes[1]); sink.X != second.X || sink.X != d.W/2 {
		t.Errorf("the sink is at %g, its middle source at %g, the middle of the drawing at %g", sink.X, second.X, d.W/2)
	}
	if got := d.Layers[0].Nodes; !reflect.DeepEqual(got, []int{0, 1, 2}) {
		t.Errorf("the sources lie in the order %v", got)
	}
	const want = "M378,100L378,156"
	if got := d.Paths[1].SVG(); got != want {
		t.Errorf("the middle edge is %q, want %q", got, want)
	}
}

func TestDrawRightIsTheTransposition(t *testing.T) {
	g := layeredRandom(20, 7)
	right := draw(t, g, Options{Direction: Right})
	down := draw(t, g.transposed(), Options{})
	down.transpose()
	if !reflect.DeepEqual(right, down) {
		t.Error("a drawing to the right is not the transposed drawing of the transposed boxes")
	}
}

func TestDrawDiamondIsSymmetric(t *testing.T) {
	d := draw(t, steps(t, 4, "1-2 1-3 2-4 3-4"), Options{})
	axis := d.W / 2
	if middle(d.Nodes[0]).X != axis || middle(d.Nodes[3]).X != axis || middle(d.Nodes[1]).X+middle(d.Nodes[2]).X != 2*axis {
		t.Errorf("not symmetric: %v", d.Nodes)
	}
}

func TestDrawChainIsStraight(t *testing.T) {
	g := Graph{}
	for i := range 500 {
		g.Nodes = append(g.Nodes, Node{W: float64(40 + i%7*20), H: 40})
		if i > 0 {
			g.Edges = append(g.Edges, Edge{i - 1, i})
		}
	}
	d := draw(t, g, Options{})
	for i, p := range d.Paths {
		if p.Pieces() != 1 || p.Start().X != p.End().X {
			t.Fatalf("edge %d is %s", i, p.SVG())
		}
	}
	if len(d.Layers) != 500 {
		t.Errorf("%d bands", len(d.Layers))
	}
}

func TestDrawTreeCentresParents(t *testing.T) {
	d := draw(t, steps(t, 10, "1-2 1-3 1-4 2-5 2-6 4-7 4-8 4-9 3-10"), Options{})
	for parent, children := range map[int][2]int{1: {4, 5}, 3: {6, 8}} {
		if got, want := middle(d.Nodes[parent]).X, (middle(d.Nodes[children[0]]).X+middle(d.Nodes[children[1]]).X)/2; got != want {
			t.Errorf("s%d is at %g, the middle of its children at %g", parent+1, got, want)
		}
	}
	if d.Crossings != 0 {
		t.Errorf("a tree with %d crossings", d.Crossings)
	}
}

func TestDrawWideFan(t *testing.T) {
	g := Graph{Nodes: []Node{{ID: "root", W: stepW, H: stepH}}}
	for i := range 1000 {
		g.Nodes = append(g.Nodes, Node{W: 20, H: 20})
		g.Edges = append(g.Edges, Edge{0, i + 1})
	}
	d, err := Draw(t.Context(), g, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Crossings != 0 || len(d.Layers) != 2 {
		t.Errorf("%d crossings, %d bands", d.Crossings, len(d.Layers))
	}
	if off := math.Abs(middle(d.Nodes[0]).X - d.W/2); off > 0.5 {
		t.Errorf("the root is %g px off the middle", off)
	}
	for v, box := range d.Nodes[1:] {
		if v > 0 && box.X < d.Nodes[v].X+d.Nodes[v].W+DefaultNodeGap-0.5 {
			t.Fatalf("nodes %d and %d are too close or out of order", v, v+1)
		}
	}
}

func TestDrawDenseLayers(t *testing.T) {
	const side = 30
	g := Graph{Nodes: make([]Node, 2*side)}
	for i := range side {
		for j := range side {
			g.Edges = append(g.Edges, Edge{i, side + j})
		}
	}
	const pairs = side * (side - 1) / 2
	if d := draw(t, g, Options{}); d.Crossings != pairs*pairs {
		t.Errorf("%d crossings, a complete bipartite graph has %d", d.Crossings, pairs*pairs)
	}
}

func TestDrawComponentsOnShelves(t *testing.T) {
	g := steps(t, 25, "")
	if d := draw(t, g, Options{}); len(d.Layers) < 3 || d.W > 2.5*d.H {
		t.Errorf("25 loose nodes on %d shelves, %g × %g px", len(d.Layers), d.W, d.H)
	}
	if d := draw(t, g, Options{Rank: make([]int, 25)}); len(d.Layers) != 1 {
		t.Errorf("25 nodes of one rank lie in %d bands", len(d.Layers))
	}
}

func TestDrawComponentsShareRanks(t *testing.T) {
	d := draw(t, steps(t, 5, "1-2 3-4"), Options{Rank: []int{0, 3, 3, 7, -2}})
	var ranks []int
	for _, band := range d.Layers {
		ranks = append(ranks, band.Rank)
	}
	if want := []int{-2, 0, 3, 7}; !reflect.DeepEqual(ranks, want) {
		t.Errorf("the bands have the ranks %v, want %v", ranks, want)
	}
}

func TestDrawRealWorkflows(t *testing.T) {
	most := map[string]int{
		"airflow_example_complex": 4, "argo_dag_enhanced_depends": 1, "gha_airflow_ci": 205, "gha_uv_release": 6,
		"tekton_with_when_expressions": 0,
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != len(most) {
		t.Fatalf("%d files of %d, %v", len(files), len(most), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			g := load(t, file)
			if d := draw(t, g, Options{}); d.Crossings > most[name] {
				t.Errorf("%d crossings, there were at most %d", d.Crossings, most[name])
			}
			draw(t, g, Options{Rank: waves(t, g)})
			draw(t, g, Options{Direction: Right})
		})
	}
}

func TestDrawRandomGraphs(t *testing.T) {
	for _, n := range []int{12, 30, 200} {
		g := layeredRandom(n, 1)
		draw(t, g, Options{})
		draw(t, g, Options{Rank: waves(t, g)})
	}
}

func TestDrawDefaultsAreThatOfTheZeroOptions(t *testing.T) {
	g := layeredRandom(15, 3)
	got := draw(t, g, Options{})
	want := draw(t, g, Options{Direction: Down, NodeGap: DefaultNodeGap, LayerGap: DefaultLayerGap})
	if !reflect.DeepEqual(got, want) {
		t.Error("the zero options are not the defaults")
	}
}

// spent is a context that ends when it has been asked so many times.
type spent struct {
	context.Context
	left *int
}

func (c spent) Err() error {
	if *c.left--; *c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestDrawStopsWithItsContext(t *testing.T) {
	g := layeredRandom(60, 1)
	for _, left := range []int{0, 1, 2, 3, 5, 8, 20, 50, 100, 200} {
		d, err := Draw(spent{t.Context(), &left}, g, Options{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		if left < -40 {
			t.Errorf("the context was asked %d more times after its end", -left)
		}
		if !reflect.DeepEqual(d, Drawing{}) {
			t.Error("a drawing came with the error")
		}
	}
}

func TestDrawWideLayers(t *testing.T) {
	const side = 2100
	g := Graph{Nodes: make([]Node, 2*side)}
	r := random(3)
	for range 3000 {
		g.Edges = append(g.Edges, Edge{r.below(side), side + r.below(side)})
	}
	d, err := Draw(t.Context(), g, Options{Rank: append(make([]int, side), ones(side)...)})
	if err != nil {
		t.Fatal(err)
	}
	if err := judgeCrossings(g, Options{}, d); err != nil {
		t.Error(err)
	}
}

// ones returns n ones.
func ones(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

// TestDrawMixedSizes holds how nodes of different heights share a band and how edges leave the shorter ones.
func TestDrawMixedSizes(t *testing.T) {
	g := Graph{
		Nodes: []Node{{W: 40, H: 20}, {W: 80, H: 100}, {W: 10, H: 10}},
		Edges: []Edge{{0, 2}, {1, 2}},
	}
	d := draw(t, g, Options{NodeGap: 20, LayerGap: 30})
	band := d.Layers[0]
	if band.H != 100 || d.Nodes[0].Y != band.Y+40 || d.Nodes[1].Y != band.Y {
		t.Errorf("the band %v has its nodes at %v and %v", band.Box, d.Nodes[0], d.Nodes[1])
	}
	p := d.Paths[0]
	if leave := p.Points[3]; leave.X != p.Start().X || leave.Y != band.Y+band.H {
		t.Errorf("the edge of the short node turns within the band: %s", p.SVG())
	}
	if end := middle(d.Nodes[2]).X; end != (middle(d.Nodes[0]).X+middle(d.Nodes[1]).X)/2 {
		t.Errorf("the sink is at %g, not between its sources", end)
	}
}

func TestDrawRepeatedEdgesOnce(t *testing.T) {
	once := draw(t, steps(t, 4, "1-2 2-3 1-3 4-3"), Options{})
	often := draw(t, steps(t, 4, "1-2 2-3 1-3 4-3 1-3 1-2 1-3"), Options{})
	if !reflect.DeepEqual(once.Nodes, often.Nodes) || once.W != often.W {
		t.Error("repeated edges change the drawing")
	}
	if !reflect.DeepEqual(often.Paths[2], often.Paths[4]) || often.Paths[2].SVG() != often.Paths[6].SVG() {
		t.Error("equal edges have different paths")
	}
}

func TestDrawDoesNotTouchItsInput(t *testing.T) {
	g := layeredRandom(20, 9)
	rank := waves(t, g)
	nodes, edges, ranks := slices.Clone(g.Nodes), slices.Clone(g.Edges), slices.Clone(rank)
	for _, dir := range []Direction{Down, Right} {
		draw(t, g, Options{Direction: dir, Rank: rank})
		if !slices.Equal(nodes, g.Nodes) || !slices.Equal(edges, g.Edges) || !slices.Equal(ranks, rank) {
			t.Fatalf("drawing %s changed the graph or the ranks", dir)
		}
	}
}
