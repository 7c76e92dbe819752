package mcp

import (
	"context"
	"strconv"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"planwave/internal/plan"
	"planwave/internal/tools"
)

// mostMessage is how much, in characters, of a message of progress is told.
const mostMessage = 300

// progress knows the calls of a connection that wait to be told of theirs.
type progress struct {
	mu    sync.Mutex
	last  int
	calls map[string]func(*sdk.ProgressNotificationParams)
}

// expect registers a call, if its context wants progress. The token goes with
// the call; stop ends the telling.
func (p *progress) expect(ctx context.Context, tool string, hide func(string) string) (token string, stop func()) {
	tell := tools.ToldProgress(ctx)
	if tell == nil {
		return "", func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = map[string]func(*sdk.ProgressNotificationParams){}
	}
	p.last++
	token = "call-" + strconv.Itoa(p.last)
	p.calls[token] = func(n *sdk.ProgressNotificationParams) {
		tell(tools.Progress{Tool: tool, Done: n.Progress, Total: n.Total, Message: plan.Short(hide(n.Message), mostMessage)})
	}
	return token, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.calls, token)
	}
}

// tell passes on what a server reports, if the call still waits.
func (p *progress) tell(n *sdk.ProgressNotificationParams) {
	if n == nil {
		return
	}
	token, ok := n.ProgressToken.(string)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if call := p.calls[token]; call != nil {
		call(n)
	}
}
