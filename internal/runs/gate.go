package runs

import (
	"context"
	"sync"
)

// gate is what every call of a model or tool goes through. When it is shut, no
// further call begins, and those that were begun come to their end. Its zero
// value is open. It is safe for concurrent use.
type gate struct {
	mu     sync.Mutex
	shut   bool          // guarded by mu
	flying int           // guarded by mu; calls that were begun
	landed chan struct{} // guarded by mu; made by close, closed when nothing flies
}

// pass begins a call and returns what ends it. At a shut gate it waits for the
// end of ctx, and returns its cause.
func (g *gate) pass(ctx context.Context) (land func(), err error) {
	g.mu.Lock()
	if g.shut {
		g.mu.Unlock()
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	defer g.mu.Unlock()
	g.flying++
	return g.land, nil
}

func (g *gate) land() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flying--; g.shut && g.flying == 0 {
		close(g.landed)
	}
}

// close shuts the gate, and returns how many calls fly and a channel that is
// closed when none does any more.
func (g *gate) close() (flying int, landed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		g.shut, g.landed = true, make(chan struct{})
		if g.flying == 0 {
			close(g.landed)
		}
	}
	return g.flying, g.landed
}

// Drain begins the end of the process: from its return on no further call of a
// model or tool is begun, and those that fly come to their end and are recorded.
// It returns how many fly, and a channel that is closed when none does any more.
// [Service.Stop] must follow.
func (s *Service) Drain() (flying int, landed <-chan struct{}) { return s.gate.close() }

// StepsRunning is how many attempts at steps are being carried out.
func (s *Service) StepsRunning() int { return int(s.steps.Load()) }
