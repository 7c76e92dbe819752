package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"planwave/internal/planner"
)

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{6, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			steps := make([]string, n)
			for i := range steps {
				steps[i] = fmt.Sprintf(`{"id": "s%d", "title": "step %d", "instruction": "Look something up.", "depends_on": ["s%d"], "thought": "why not"}`, i, i, max(i-1, 0))
			}
			text := "Here it is:\n```json\n{\"steps\": [" + strings.Join(steps, ",\n") + "]}\n```"
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if r := planner.Read(text); len(r.Plan.Steps) != n || len(r.Violations) > 0 {
					b.Fatal(r.Violations)
				}
			}
		})
	}
}
