package foreign

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// program is a child process that knows nothing of netdyno. Any goroutine may
// use it.
type program struct {
	command *exec.Cmd
	output  tail
	exited  chan struct{} // closed when it has ended
}

// launch starts argv. Both streams are the program's own talk, of which the end
// is kept; stdout, when given, takes the whole of that one. Neither may reach
// our own stdout, which is for the contract.
func launch(argv []string, stdout io.Writer) (*program, error) {
	p := &program{command: exec.Command(argv[0], argv[1:]...), exited: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	if stdout != nil {
		p.command.Stdout = io.MultiWriter(stdout, &p.output)
		p.command.WaitDelay = 200 * time.Millisecond // a child of its own may hold the stream open for longer
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start %q: %w", argv[0], err)
	}
	go func() {
		_ = p.command.Wait() // how it ended is in ProcessState
		close(p.exited)
	}()
	return p, nil
}

// path names the program's executable.
func (p *program) path() string { return p.command.Path }

// interrupt asks the program to end, as Ctrl-C does.
func (p *program) interrupt() { _ = p.command.Process.Signal(os.Interrupt) } // gone already is as good

// kill ends the program without waiting for it.
func (p *program) kill() { _ = p.command.Process.Kill() }

// end asks the program to end and then makes it. It returns when it has ended.
func (p *program) end() {
	p.interrupt()
	select {
	case <-p.exited:
	case <-time.After(500 * time.Millisecond):
		p.kill() // the meter kills the rest of its tree
		<-p.exited
	}
}

// last tells how an ended program ended and what it said in the end.
func (p *program) last() string { return p.lastly(p.output.text()) }

func (p *program) lastly(said string) string {
	return fmt.Sprintf("%s; it said: %s", p.command.ProcessState, said)
}

// versionOf asks a program what it is; the first line of its answer, "" for one
// that does not say.
func versionOf(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var said tail
	command := exec.CommandContext(ctx, path, "--version")
	command.Stdout, command.Stderr = &said, &said
	command.WaitDelay = time.Second
	_ = command.Run() // some exit with 1 after it
	first, _, _ := strings.Cut(strings.TrimSpace(string(said.last)), "\n")
	return first
}

// tail keeps the last bytes of a program's talk. Any goroutine may use it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailBytes = 2048

// Write implements io.Writer and never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b[max(0, len(b)-tailBytes):]...)
	t.last = t.last[max(0, len(t.last)-tailBytes):]
	return len(b), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := bytes.TrimSpace(t.last); len(text) > 0 {
		return strconv.Quote(string(text))
	}
	return "nothing"
}

// capture keeps all that is written to it, up to a bound. One goroutine writes
// to it; it is read when the writer has ended.
type capture struct {
	text []byte
	full bool // more was written than is kept
}

const captureBytes = 4 << 20

// Write implements io.Writer and never fails.
func (c *capture) Write(b []byte) (int, error) {
	room := min(len(b), captureBytes-len(c.text))
	c.text = append(c.text, b[:room]...)
	c.full = c.full || room < len(b)
	return len(b), nil
}
