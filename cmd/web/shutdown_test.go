package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// chain asks for a run of two steps, one after the other, and returns its id.
func (p *program) chain(t *testing.T) string {
	t.Helper()
	return fmt.Sprint(p.call(t, http.MethodPost, "/api/v1/runs", `{"question":"q","approval":"auto","plan":{"steps":[
		{"id":"a","instruction":"a","depends_on":[]},{"id":"b","instruction":"b","depends_on":["a"]}]}}`)["id"])
}

// told tells the program to end, and returns when it has begun to: its streams
// end.
func (p *program) told(t *testing.T, id string) {
	t.Helper()
	streamed, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		first := true
		p.follow(t, id, func(string, string) bool {
			if first {
				close(streamed)
			}
			first = false
			return false
		})
	}()
	<-streamed
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// heldModel answers step a when released, or never when its connection breaks
// first, and everything else at once.
func heldModel(t *testing.T) (models *chat, there chan struct{}, release chan struct{}) {
	there, release = make(chan struct{}, 8), make(chan struct{})
	return newChat(t, func(ctx context.Context, id string) string {
		if id == "a" {
			there <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return fmt.Sprintf(`{"result":"result of %s"}`, id)
	}), there, release
}

func TestToldToEndTheProgramLetsCallsLandAndParksTheRuns(t *testing.T) { // BEHAVIOUR 12.1
	t.Setenv("PLANWAVE_SHUTDOWN_GRACE", "10m")
	models, there, release := heldModel(t)
	file := filepath.Join(t.TempDir(), "p.db")
	first := startProgram(t, file, models.URL)
	id := first.chain(t)
	<-there
	first.told(t, id)
	close(release)
	if err := first.cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	if a, b := models.count("a"), models.count("b"); a != 1 || b != 0 {
		t.Errorf("when the program ended a had been asked for %d times, b %d; want 1 and 0", a, b)
	}
	second := startProgram(t, file, models.URL)
	second.follow(t, id, nil)
	if r := second.call(t, http.MethodGet, "/api/v1/runs/"+id, ""); r["status"] != "succeeded" {
		t.Errorf("the run is %v: %v", r["status"], r["error"])
	}
	if a, b := models.count("a"), models.count("b"); a != 1 || b != 1 {
		t.Errorf("a was asked for %d times, b %d; want once each", a, b)
	}
}

func TestCallsThatDoNotLandInTimeAreCutOffAndMadeAgain(t *testing.T) { // BEHAVIOUR 12.1
	t.Setenv("PLANWAVE_SHUTDOWN_GRACE", "0s")
	models, there, release := heldModel(t)
	file := filepath.Join(t.TempDir(), "p.db")
	first := startProgram(t, file, models.URL)
	id := first.chain(t)
	<-there
	first.told(t, id)
	if err := first.cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	close(release)
	second := startProgram(t, file, models.URL)
	second.follow(t, id, nil)
	if r := second.call(t, http.MethodGet, "/api/v1/runs/"+id, ""); r["status"] != "succeeded" {
		t.Errorf("the run is %v: %v", r["status"], r["error"])
	}
	if a := models.count("a"); a != 2 {
		t.Errorf("a was asked for %d times, want 2", a)
	}
}

func TestToldTwiceTheProgramEndsAtOnce(t *testing.T) {
	t.Setenv("PLANWAVE_SHUTDOWN_GRACE", "10m")
	models, there, _ := heldModel(t)
	p := startProgram(t, filepath.Join(t.TempDir(), "p.db"), models.URL)
	id := p.chain(t)
	<-there
	p.told(t, id)
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM { //nolint:errcheck,forcetypeassert // it is one
				t.Errorf("the program ended with %v", err)
			}
			return
		default: // until the program is ready to be told again
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			runtime.Gosched()
		}
	}
}
