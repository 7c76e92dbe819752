package mcp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"planwave/internal/plan"
)

// process is a server that was started here.
type process struct {
	cmd     *exec.Cmd
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File
	options Options
	told    tail
	exited  chan struct{} // closed when it has ended and status is set
	silent  chan struct{} // closed when nothing more comes from stderr
	status  error
}

// startProcess starts the command of a server with an environment of its own.
func startProcess(c ServerConfig, o Options) (*process, error) {
	p := &process{options: o, exited: make(chan struct{}), silent: make(chan struct{})}
	p.cmd = exec.Command(c.Command, c.Args...) //nolint:gosec,noctx // the person's own configuration; stop ends it
	p.cmd.Dir, p.cmd.Env = c.Dir, environment(c.Env, o.Lookup)
	ownGroup(p.cmd)
	theirs, err := p.pipes()
	if err == nil {
		err = p.cmd.Start()
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		p.closePipes()
		return nil, cannotStart(c, err)
	}
	go p.wait()
	go p.listen()
	return p, nil
}

// cannotStart says what to do about a command that is not there.
func cannotStart(c ServerConfig, err error) error {
	if _, gone := os.Stat(c.Dir); c.Dir != "" && gone != nil {
		return fmt.Errorf("%s cannot be started in the folder of \"cwd\": %w", c.Command, gone)
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s cannot be started: %w; install it, or write its whole path in \"command\"", c.Command, err)
	}
	return fmt.Errorf("%s cannot be started: %w", c.Command, err)
}

// environment is what a server is told of ours: what it needs to find programs
// and folders, and what its configuration names. Keys of models are not its
// business.
func environment(own map[string]string, env lookup) []string {
	var vars []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG"} {
		if _, set := own[name]; set {
			continue
		}
		if value, set := env(name); set {
			vars = append(vars, name+"="+value)
		}
	}
	for name, value := range own {
		vars = append(vars, name+"="+value)
	}
	return vars
}

// pipes makes the three pipes, and returns the ends that are the command's.
func (p *process) pipes() (theirs []*os.File, err error) {
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.stdin, p.cmd.Stdin = stdin, in
	theirs = append(theirs, in)
	stdout, out, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.stdout, p.cmd.Stdout = stdout, out
	theirs = append(theirs, out)
	stderr, errOut, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.stderr, p.cmd.Stderr = stderr, errOut
	return append(theirs, errOut), nil
}

func (p *process) closePipes() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// wait waits for the command to end, and ends what it left behind.
func (p *process) wait() {
	p.status = p.cmd.Wait()
	kill(p.cmd)
	close(p.exited)
}

// listen keeps the last lines of what the command says on the side.
func (p *process) listen() {
	defer close(p.silent)
	lines := bufio.NewReaderSize(p.stderr, mostTold)
	for {
		line, _, err := lines.ReadLine()
		if err != nil {
			return
		}
		p.told.add(string(line))
	}
}

// transport speaks over the command's standard input and output.
func (p *process) transport() sdk.Transport {
	junk := func(line []byte) { p.told.add(string(line)) }
	return &sdk.IOTransport{
		Reader:        io.NopCloser(newMessages(p.stdout, p.options.MaxMessage, junk)), // stop closes it
		Writer:        input{p},
		MaxLineLength: p.options.MaxMessage + 1,
	}
}

// input is the command's standard input. A server that does not read it is
// ended after a while, so that no one waits for it without end.
type input struct{ p *process }

// Write writes to the command.
func (i input) Write(b []byte) (int, error) {
	timer := time.AfterFunc(i.p.options.StartTimeout, i.p.kill)
	defer timer.Stop()
	return i.p.stdin.Write(b)
}

// Close says to the command that nothing more comes.
func (i input) Close() error { return i.p.stdin.Close() }

// kill ends the command at once.
func (p *process) kill() {
	select {
	case <-p.exited:
	default:
		kill(p.cmd)
	}
}

// stop ends the command: by closing its input, then by asking, then by force.
// It returns when the command has ended and nothing of it is left.
func (p *process) stop() {
	_ = p.stdin.Close() // it may be closed already
	for _, harder := range []func(*exec.Cmd){terminate, kill} {
		if !p.ended(p.options.Grace) {
			harder(p.cmd)
		}
	}
	<-p.exited
	p.closePipes()
	<-p.silent
}

// ended waits for the command to end, for a while.
func (p *process) ended(within time.Duration) bool {
	select {
	case <-p.exited:
		return true
	default:
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// explain says what is known of why the command is no longer spoken to.
func (p *process) explain(err error) error {
	if hungUp(err) && p.ended(0) {
		status := "exit status 0"
		if p.status != nil {
			status = p.status.Error()
		}
		err = fmt.Errorf("it ended (%s)", status)
	}
	if told := p.told.text(); told != "" {
		return fmt.Errorf("%w; it wrote: %s", err, told)
	}
	return err
}

// hungUp says whether an error is what one sees of a command that ended. The
// SDK keeps of some errors the text only.
func hungUp(err error) bool {
	for _, sign := range []string{"EOF", "broken pipe", "file already closed"} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return errors.Is(err, errHungUp) || errors.Is(err, sdk.ErrConnectionClosed)
}

// mostTold is how much, in characters, is kept of what a server says on the side.
const mostTold = 1_000

// tail keeps the last lines.
type tail struct {
	mu    sync.Mutex
	lines []string
}

// mostLines is how many lines a tail keeps.
const mostLines = 5

func (t *tail) add(line string) {
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
	if line == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, plan.Short(line, mostTold/mostLines))
	if n := len(t.lines) - mostLines; n > 0 {
		t.lines = t.lines[n:]
	}
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, " | ")
}
