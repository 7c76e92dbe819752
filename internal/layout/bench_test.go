package layout

import (
	"fmt"
	"testing"
)

func BenchmarkDraw30(b *testing.B)   { benchmarkDraw(b, 30) }
func BenchmarkDraw200(b *testing.B)  { benchmarkDraw(b, 200) }
func BenchmarkDraw1000(b *testing.B) { benchmarkDraw(b, 1000) }
func BenchmarkDraw2000(b *testing.B) { benchmarkDraw(b, 2000) }

// benchmarkDraw draws a random layered graph of n nodes of 220 × 84 px with 1.5 edges a node, with free layers and in waves. It
// reports the crossings and the width beside the time.
func benchmarkDraw(b *testing.B, n int) {
	g := layeredRandom(n, 1)
	for _, o := range []Options{{}, {Rank: waves(b, g)}} {
		b.Run(fmt.Sprintf("waves=%t", o.Rank != nil), func(b *testing.B) {
			b.ReportAllocs()
			var d Drawing
			for b.Loop() {
				var err error
				if d, err = Draw(b.Context(), g, o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(d.Crossings), "crossings")
			b.ReportMetric(d.W, "px-wide")
		})
	}
}
