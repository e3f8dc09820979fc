package foreign

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// program is a child process that knows nothing of netdyno. Any goroutine may
// use it.
type program struct {
	command *exec.Cmd
	output  talk
	exited  chan struct{} // closed when it has ended
	ending  atomic.Bool   // we have told it to
}

// launch starts argv. Both streams are the program's own talk, of which the
// beginning and the end are kept; stdout, when given, takes the whole of that one. Neither may reach
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
func (p *program) interrupt() {
	p.ending.Store(true)
	_ = p.command.Process.Signal(os.Interrupt) // gone already is as good
}

// kill ends the program without waiting for it.
func (p *program) kill() {
	p.ending.Store(true)
	_ = p.command.Process.Kill() // gone already is as good
}

// end asks the program to end and then makes it. It returns when it has ended.
// What it said goes to our stderr, which is kept with the trial: one that ended
// by itself may have been found out by its clients first.
func (p *program) end() {
	p.interrupt()
	select {
	case <-p.exited:
	case <-time.After(500 * time.Millisecond):
		p.kill() // the meter kills the rest of its tree
		<-p.exited
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", p.path(), p.last())
}

// last tells how an ended program ended and what it said in the end.
func (p *program) last() string { return p.lastly(p.output.text()) }

func (p *program) lastly(said string) string {
	return fmt.Sprintf("%s; it said: %s", p.command.ProcessState, said)
}

// died delivers why a server's program has ended although nobody told it to. One
// that leaves its port to a child of its own, as daemons do, lives on there.
func (p *program) died(port string, to chan<- error) {
	<-p.exited
	if p.ending.Load() {
		return
	}
	if still, err := listening(port); !still && err == nil {
		to <- load.Failure(contract.Peer, fmt.Errorf("%s ended in the trial: %s", p.path(), p.last()))
	}
}

// versionOf asks a program what it is; the first line of its answer, "" for one
// that does not say.
func versionOf(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var said talk
	command := exec.CommandContext(ctx, path, "--version")
	command.Stdout, command.Stderr = &said, &said
	command.WaitDelay = time.Second
	_ = command.Run() // some exit with 1 after it
	first, _, _ := strings.Cut(strings.TrimSpace(string(said.first)), "\n")
	return first
}

// talk keeps the beginning of what a program says, where a mistake stands before
// the usage that follows it, and the end. Any goroutine may use it.
type talk struct {
	mu          sync.Mutex
	first, last []byte
	cut         bool // there was more between them
}

const (
	firstBytes = 512
	lastBytes  = 1536
)

// Write implements io.Writer and never fails.
func (t *talk) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	room := min(len(b), firstBytes-len(t.first))
	t.first = append(t.first, b[:room]...)
	rest := b[room:]
	t.last = append(t.last, rest[max(0, len(rest)-lastBytes):]...)
	t.cut = t.cut || len(rest) > lastBytes || len(t.last) > lastBytes
	t.last = t.last[max(0, len(t.last)-lastBytes):]
	return len(b), nil
}

func (t *talk) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.first)
	if t.cut {
		text += " … "
	}
	if text = strings.TrimSpace(text + string(t.last)); text != "" {
		return strconv.Quote(text)
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
