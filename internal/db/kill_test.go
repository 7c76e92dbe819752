package db

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"planwave/internal/plan"
)

// childRuns is how many runs the child writes at once.
const childRuns = 6

// appendUntilKilled goes on with the runs of a database, or begins them, and
// prints each commit after Append has said that it is one.
func appendUntilKilled(path string) error {
	ctx := context.Background()
	d, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	ended := make(chan error, childRuns)
	for i := range childRuns {
		go func() { ended <- appendForEver(ctx, d, fmt.Sprintf("r%d", i)) }()
	}
	return <-ended
}

func appendForEver(ctx context.Context, d *DB, id string) error {
	s := newStory(d, id)
	r, err := d.Load(ctx, id)
	switch {
	case errors.Is(err, ErrNotFound):
		err = s.append(ctx, begin("Is anything lost?", 1)...)
	case err == nil:
		s.run, s.at = r, r.UpdatedAt
	}
	for err == nil {
		var p []plan.Payload
		if st := s.run.Step("s1"); st.Status == plan.StepStatusRunning {
			p = append(p, plan.StepSucceeded{Step: "s1", Attempt: st.Attempts, Result: plan.Result{Text: "nothing is lost"}},
				plan.StepReset{Steps: []string{"s1"}})
		} else {
			p = append(p, plan.StepStarted{Step: "s1", Attempt: st.Attempts + 1, Wave: 1})
		}
		var b Batch
		if b, err = s.batch(p...); err != nil {
			return err
		}
		b.Calls = []plan.Call{{
			ID: fmt.Sprint(s.run.Seq), Agent: plan.RoleExecutor, Step: "s1", Request: []byte(`"request"`), StartedAt: s.at,
		}}
		if err = d.Append(ctx, b); err == nil {
			// One write of a short line, so that lines do not mix.
			_, err = fmt.Fprintf(os.Stdout, "%s %d\n", id, s.run.Seq)
		}
	}
	return err
}

func TestNothingThatWasAcknowledgedIsLostByAKill(t *testing.T) { // BEHAVIOUR 12.1
	path := filepath.Join(t.TempDir(), "runs.db")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	acknowledged := map[string]int64{}
	for range 6 {
		killAfter(t, path, 1+random.IntN(150), acknowledged)
		d := openFile(t, path)
		sound(t, d)
		for id, seq := range acknowledged {
			holdsTo(t, d, id, seq)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acknowledged) == 0 {
		t.Error("nothing was ever acknowledged")
	}
}

// killAfter starts the child, kills it after some commits, and notes for each
// run the last event that it was told of.
func killAfter(t *testing.T, path string, commits int, acknowledged map[string]int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childTask+"=append", childPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for n := 0; ; n++ {
		if n == commits {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		var id string
		var seq int64
		if _, err := fmt.Sscanf(line, "%s %d", &id, &seq); err != nil {
			t.Fatalf("the child says %q: %v", line, err)
		}
		acknowledged[id] = max(acknowledged[id], seq)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Success() {
		t.Fatal("the child ended before it was killed")
	}
}

// holdsTo fails unless the run's log has no gap, goes at least to seq, and its rows say
// what the log says.
func holdsTo(t *testing.T, d *DB, id string, seq int64) {
	t.Helper()
	r, err := d.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if r.Seq < seq {
		t.Errorf("run %s ends at event %d, and %d was acknowledged", id, r.Seq, seq)
	}
	sameRows(t, d, r)
	calls, err := d.Trace(t.Context(), id)
	if err != nil || len(calls) == 0 || calls[len(calls)-1].ID != fmt.Sprint(r.Seq) {
		t.Errorf("run %s: the trace has %d calls and does not end with event %d, %v", id, len(calls), r.Seq, err)
	}
}
