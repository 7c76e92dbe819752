package scheduler_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// workflowsVar names the folder of recorded workflows to measure, JSON files
// of the form {"nodes":[{"id","duration_s"}],"edges":[[from,to]]}.
const workflowsVar = "PLANWAVE_WORKFLOWS"

// BenchmarkMakespan reports how the schedules compare with what they could be
// at best, in virtual time: for the plans of testdata, or for the workflows in
// the folder that PLANWAVE_WORKFLOWS names. Of several plans a figure is the
// largest, but for those that end in -mean. The time of an operation is what
// all six executions took to play.
func BenchmarkMakespan(b *testing.B) {
	dir := os.Getenv(workflowsVar)
	if dir == "" {
		b.Run("asynchow", func(b *testing.B) { reportMakespans(b, asyncHow(b)) })
		return
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) == 0 {
		b.Fatalf("no *.json in the folder that %s names, %s: %v", workflowsVar, dir, err)
	}
	for _, path := range paths {
		w := workflow(b, path)
		b.Run(w.name, func(b *testing.B) { reportMakespans(b, []workload{w}) })
	}
}

// reportMakespans measures the workloads and reports the ratios.
func reportMakespans(b *testing.B, all []workload) {
	b.Helper()
	var most, sum ratios
	for b.Loop() {
		most, sum = ratios{}, ratios{}
		for _, w := range all {
			for name, ratio := range measure(b, w.nudged()) {
				most[name] = max(most[name], ratio)
				sum[name] += ratio
			}
		}
	}
	for name, ratio := range most {
		b.ReportMetric(ratio, name)
	}
	if len(all) > 1 {
		b.ReportMetric(sum["waves/ready"]/float64(len(all)), "waves/ready-mean")
	}
}

// ratios are makespans over their references, by the names they are reported by.
type ratios map[string]float64

// measure runs both schedules without a limit, two and five steps at once.
func measure(b *testing.B, w workload) ratios {
	b.Helper()
	out := ratios{}
	report := func(name string, got, want time.Duration) { out[name] = float64(got) / float64(want) }
	virtually(b, func(t *testing.T) {
		n := w.unlimited()
		asReady, waves := makespan(t, w, n, ready), makespan(t, w, n)
		report("ready/critical-path", asReady, w.criticalPath())
		report("waves/bound", waves, w.sumOfLongest())
		report("waves/ready", waves, asReady)
		two, five := makespan(t, w, 2, ready), makespan(t, w, 5, ready)
		report("ready-2/list", two, w.listSchedule(2))
		report("ready-5/list", five, w.listSchedule(5))
		report("ready-2/least", two, w.leastPossible(2))
		report("ready-5/least", five, w.leastPossible(5))
		waves2, waves5 := makespan(t, w, 2), makespan(t, w, 5)
		report("waves-2/bound", waves2, w.waveBound(2))
		report("waves-5/bound", waves5, w.waveBound(5))
		report("waves-2/ready-2", waves2, two)
		report("waves-5/ready-5", waves5, five)
	})
	return out
}

// virtually runs f as a test, since virtual time is for tests only.
func virtually(b *testing.B, f func(t *testing.T)) {
	b.Helper()
	every := func(string, string) (bool, error) { return true, nil }
	if !testing.RunTests(every, []testing.InternalTest{{Name: b.Name(), F: f}}) {
		b.Fatal("a schedule could not be played")
	}
}
