package layout

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// placerOf returns a placer for a random sketch whose layers are packed.
func placerOf(rt *rapid.T, t testing.TB) *placer {
	p := newPlacer(genSketch(rt, t).sketch, rapid.SampledFrom([]float64{32, 1, 8}).Draw(rt, "gap"))
	for l := range p.layers() {
		p.pack(p.row(l))
	}
	return p
}

// checkDistances holds that the neighbours in each layer are in their order and far enough apart.
func checkDistances(t failer, p *placer) {
	t.Helper()
	for l := range p.layers() {
		row := p.row(l)
		for i := range len(row) - 1 {
			u, v := row[i], row[i+1]
			if d := p.x[v] - p.x[u]; d < p.distance(u, v)-hair {
				t.Fatalf("%d and %d in layer %d are %g px apart, less than %g", u, v, l, d, p.distance(u, v))
			}
		}
	}
}

func TestPlacingKeepsDistances(t *testing.T) {
	steps := map[string]func(*placer){
		"pack":    func(*placer) {},
		"attract": func(p *placer) { p.attract(p.row(0), [2]float64{above: 1, below: 1}) },
		"centre":  (*placer).centre,
		"runs":    (*placer).straighten,
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				p := placerOf(rt, t)
				step(p)
				checkDistances(rt, p)
			})
		})
	}
	t.Run("place", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			p := placerOf(rt, t)
			if err := p.place(t.Context(), p.gap); err != nil {
				rt.Fatal(err)
			}
			checkDistances(rt, p)
		})
	})
}

func TestConfinedSketchesStayWithinTheirBorders(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := placerOf(rt, t)
		if err := p.settle(t.Context(), 12); err != nil {
			rt.Fatal(err)
		}
		_, before := p.extent()
		if !p.confine() {
			return
		}
		if err := p.settle(t.Context(), 6); err != nil {
			rt.Fatal(err)
		}
		p.centre()
		p.straighten()
		left, after := p.extent()
		if after >= before || left < p.low-hair || left+after > p.high+hair {
			rt.Fatalf("from %g to %g, %g px before, the borders are %g and %g", left, left+after, before, p.low, p.high)
		}
		checkDistances(rt, p)
	})
}

// stretch returns what attract makes small: the weighted squares of the sideways lengths of the links of a layer.
func stretch(p *placer, row []int32) float64 {
	sum := 0.0
	for _, v := range row {
		for side := range p.side {
			for _, w := range p.side[side].of(v) {
				d := p.x[v] - p.x[w]
				sum += p.pull(v, w) * d * d
			}
		}
	}
	return sum
}

func TestAttractMakesLinksShorter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := placerOf(rt, t)
		for l := range p.layers() {
			row := p.row(l)
			before := stretch(p, row)
			p.attract(row, [2]float64{above: 1, below: 1})
			if after := stretch(p, row); after > before*(1+hair)+1 {
				rt.Fatalf("layer %d: %g became %g", l, before, after)
			}
		}
	})
}

func TestRunsHoldEveryVertexOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := placerOf(rt, t)
		seen := make([]int, len(p.order))
		for _, run := range p.runs() {
			for i, v := range run {
				seen[v]++
				if i > 0 && p.layer[v] != p.layer[run[i-1]]+1 {
					rt.Fatalf("the run %v leaves out a layer", run)
				}
			}
		}
		for v, n := range seen {
			if n != 1 {
				rt.Fatalf("vertex %d is in %d runs", v, n)
			}
		}
	})
}

func TestLongEdgesAreStraight(t *testing.T) {
	// An edge past a column of nodes has room to be straight all the way.
	s := sketchOf(t, steps(t, 6, "1-2 2-3 3-4 4-5 5-6 1-6"))[0]
	if err := s.place(t.Context(), DefaultNodeGap); err != nil {
		t.Fatal(err)
	}
	c := s.chains[5]
	for k := range c.count {
		if got, want := s.x[c.first+k], s.x[c.first]; got != want {
			t.Errorf("dummy %d is at %g, the first at %g", k, got, want)
		}
	}
	for v := range int32(4) {
		if got := math.Abs(s.x[v+1] - s.x[1]); got != 0 {
			t.Errorf("node %d is %g px off its column", v+2, got)
		}
	}
}

func TestMagnetTakesTheNearNeighbourWithinTheRoom(t *testing.T) {
	s := sketchOf(t, steps(t, 3, "1-3 2-3"))[0]
	p := newPlacer(s, 32)
	copy(p.x, []float64{0, 300, 12})
	for _, test := range []struct {
		name          string
		at, low, high float64
		want          float64
	}{
		{"near", 12, -100, 100, 0},
		{"no room", 12, 5, 100, 12},
		{"too far", 100, -100, 200, 100},
		{"the other", 290, 0, 400, 300},
	} {
		if got := p.magnet([]int32{2}, test.at, test.low, test.high); got != test.want {
			t.Errorf("%s: %g, want %g", test.name, got, test.want)
		}
	}
}
