package layout

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bruteIsotonic uses the formula of least and greatest means over runs.
func bruteIsotonic(target, weight []float64) []float64 {
	mean := func(a, b int) float64 {
		sum, total := 0.0, 0.0
		for i := a; i <= b; i++ {
			sum += target[i] * weight[i]
			total += weight[i]
		}
		return sum / total
	}
	out := make([]float64, len(target))
	for i := range target {
		out[i] = math.Inf(-1)
		for a := 0; a <= i; a++ {
			low := math.Inf(1)
			for b := i; b < len(target); b++ {
				low = min(low, mean(a, b))
			}
			out[i] = max(out[i], low)
		}
	}
	return out
}

func TestIsotonicEqualsBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		target := rapid.SliceOfN(rapid.Float64Range(-1000, 1000), 0, 12).Draw(rt, "target")
		weight := rapid.SliceOfN(rapid.Float64Range(0.001, 20), len(target), len(target)).Draw(rt, "weight")
		want := bruteIsotonic(target, weight)
		got := slices.Clone(target)
		isotonic(got, weight, nil)
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				rt.Fatalf("got %v, want %v", got, want)
			}
		}
	})
}

func TestIsotonic(t *testing.T) {
	for _, test := range []struct {
		name                 string
		target, weight, want []float64
	}{
		{"nothing", nil, nil, nil},
		{"ascending stays", []float64{1, 2, 5}, []float64{1, 1, 1}, []float64{1, 2, 5}},
		{"descending becomes the mean", []float64{6, 3, 0}, []float64{1, 1, 1}, []float64{3, 3, 3}},
		{"weights count", []float64{4, 0}, []float64{3, 1}, []float64{3, 3}},
		{"a late violator pulls back", []float64{1, 5, 5, 0}, []float64{1, 1, 1, 1}, []float64{1, 10.0 / 3, 10.0 / 3, 10.0 / 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := slices.Clone(test.target)
			isotonic(got, test.weight, []block{{from: 99}})
			for i := range got {
				if math.Abs(got[i]-test.want[i]) > 1e-12 {
					t.Fatalf("got %v, want %v", got, test.want)
				}
			}
		})
	}
}
