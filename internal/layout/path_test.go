package layout

import "testing"

func TestPathSVG(t *testing.T) {
	bent := Path{Points: []Point{{10, 0}}}
	bent.line(Point{10, 20})
	bent.bend(Point{30, 60})
	bent.line(Point{30, 60})
	bent.line(Point{30, 80})
	bent.bend(Point{30, 100})
	for _, test := range []struct {
		name string
		path Path
		want string
	}{
		{"empty", Path{}, ""},
		{"start only", Path{Points: []Point{{1, 2}}}, "M1,2"},
		{"bent", bent, "M10,0L10,20C10,40 30,40 30,60L30,100"},
		{"to a hundredth", Path{Points: []Point{{0.123456, -2.5}}}, "M0.12,-2.5"},
	} {
		if got := test.path.SVG(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if bent.Pieces() != 3 || bent.Start() != (Point{10, 0}) || bent.End() != (Point{30, 100}) {
		t.Errorf("%d pieces from %v to %v", bent.Pieces(), bent.Start(), bent.End())
	}
}

func TestPathAt(t *testing.T) {
	p := Path{Points: []Point{{0, 0}}}
	p.bend(Point{40, 80})
	for at, want := range map[float64]Point{0: {0, 0}, 0.5: {20, 40}, 1: {40, 80}} {
		if got := p.At(0, at); !near(got, want) {
			t.Errorf("at %g: %v, want %v", at, got, want)
		}
	}
}

func TestPathOfALongEdgeIsStraightBesideTheNodes(t *testing.T) {
	d := draw(t, steps(t, 3, "1-2 2-3 1-3"), Options{})
	const want = 5 // out of the node, past the middle one, into the last: two bends and a line between, no kinks
	if got := d.Paths[2].Pieces(); got > want {
		t.Errorf("%d pieces: %s", got, d.Paths[2].SVG())
	}
	if p := d.Paths[2]; p.Points[3].X != p.Points[6].X {
		t.Errorf("not straight beside the node: %s", p.SVG())
	}
}
