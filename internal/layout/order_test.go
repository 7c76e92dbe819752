package layout

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMovesKeepTheSketchSound(t *testing.T) {
	moves := map[string]func(*search, *rapid.T){
		"align": func(f *search, rt *rapid.T) {
			useMedian, flip := rapid.Bool().Draw(rt, "median"), rapid.Bool().Draw(rt, "flip")
			for l := 1; l < f.layers(); l++ {
				f.align(l, above, useMedian, flip)
				f.align(l-1, below, useMedian, flip)
			}
		},
		"sift":  func(f *search, _ *rapid.T) { f.siftAll() },
		"begin": func(f *search, rt *rapid.T) { f.begin(rapid.IntRange(0, 5).Draw(rt, "start")) },
		"disturb": func(f *search, _ *rapid.T) {
			f.note()
			for range 20 {
				f.disturb()
			}
		},
	}
	for name, apply := range moves {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				f := genSketch(rt, t)
				apply(f, rt)
				checkSketch(rt, f.sketch)
			})
		})
	}
}

func TestSiftCountsItsGain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := genSketch(rt, t)
		for l := range f.layers() {
			before := f.allCrossings()
			gain := 0
			for _, v := range slices.Clone(f.row(l)) {
				gain += f.sift(v)
			}
			if after := bruteAll(f.sketch); before-after != gain || gain < 0 {
				rt.Fatalf("sifting layer %d: %d crossings became %d, gain %d", l, before, after, gain)
			}
		}
	})
}

func TestSiftedVertexHasNoBetterPlace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := genSketch(rt, t)
		l := rapid.IntRange(0, f.layers()-1).Draw(rt, "layer")
		from := rapid.IntRange(0, len(f.row(l))-1).Draw(rt, "from")
		v := f.row(l)[from]
		f.sift(v)
		least := bruteAll(f.sketch)
		kept := slices.Clone(f.row(l))
		for to := range kept {
			move(f.row(l), int(slices.Index(kept, v)), to)
			f.refresh(l)
			if n := bruteAll(f.sketch); n < least {
				rt.Fatalf("moving %d to %d leaves %d crossings of %d", v, to, n, least)
			}
			copy(f.row(l), kept)
		}
	})
}

func TestDisturbCountsRight(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := genSketch(rt, t)
		f.note()
		for range 30 {
			before := f.least
			f.disturb()
			if f.least > before {
				rt.Fatalf("%d crossings became %d", before, f.least)
			}
		}
		f.recall()
		if got := bruteAll(f.sketch); got != f.least {
			rt.Fatalf("the best order has %d crossings, said to be %d", got, f.least)
		}
	})
}

func TestUntangleFindsThePlaneDrawing(t *testing.T) {
	// Two ladders whose nodes are listed in turn need their layers reordered to be drawn without crossings.
	g := steps(t, 12, "1-4 3-6 2-5 1-5 2-6 4-9 5-8 6-7 4-8 5-7 9-12 8-11 7-10 9-11 8-10")
	s := sketchOf(t, g)[0]
	if err := s.untangle(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if n := bruteAll(s); n != 0 {
		t.Errorf("%d crossings are left", n)
	}
}

func TestMoreStartsDoNoHarm(t *testing.T) {
	g := layeredRandom(40, 5)
	few, err := Draw(t.Context(), g, Options{Starts: 1})
	if err != nil {
		t.Fatal(err)
	}
	many, err := Draw(t.Context(), g, Options{Starts: 40})
	if err != nil {
		t.Fatal(err)
	}
	if float64(many.Crossings) > 1.1*float64(few.Crossings) {
		t.Errorf("%d crossings after one start, %d after forty", few.Crossings, many.Crossings)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		at   []int32
		want float64
	}{
		{[]int32{4}, 4},
		{[]int32{1, 4}, 2.5},
		{[]int32{1, 4, 9}, 4},
		{[]int32{0, 1, 9, 20}, 20.0 / 12}, // leans to the left, where the places lie closer together
		{[]int32{2, 2, 3, 3}, 2.5},
	} {
		if got := median(test.at); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("the median of %v is %g, want %g", test.at, got, test.want)
		}
	}
}

func TestMove(t *testing.T) {
	for _, test := range []struct {
		from, to int
		want     []int32
	}{
		{0, 3, []int32{1, 2, 3, 0}},
		{3, 0, []int32{3, 0, 1, 2}},
		{1, 2, []int32{0, 2, 1, 3}},
		{2, 2, []int32{0, 1, 2, 3}},
	} {
		list := []int32{0, 1, 2, 3}
		if move(list, test.from, test.to); !slices.Equal(list, test.want) {
			t.Errorf("moving %d to %d gave %v, want %v", test.from, test.to, list, test.want)
		}
	}
}

func TestRandomIsFairAndFixed(t *testing.T) {
	a, b := random(1), random(1)
	var hits [6]int
	for range 6000 {
		n := a.below(6)
		if n != b.below(6) {
			t.Fatal("two generators with one seed differ")
		}
		hits[n]++
	}
	for n, k := range hits {
		if k < 850 || k > 1150 {
			t.Errorf("%d came %d times of 6000", n, k)
		}
	}
}
