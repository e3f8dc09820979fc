// Package child runs programs that know nothing of netdyno: it finds free ports for
// servers, splits command lines, waits until a server listens, keeps a program's output
// for explaining a failure, and ends programs.
package child

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

// Process is a child process that knows nothing of netdyno. Any goroutine may
// use it.
type Process struct {
	command *exec.Cmd
	output  transcript    // of stderr, and of stdout where nobody else reads that
	printed transcript    // of stdout where somebody does
	exited  chan struct{} // closed when it has ended
	ending  atomic.Bool   // we have told it to
}

// Launch starts argv, without a shell. The beginning and the end of what the
// program prints on both streams are kept; stdout, unless nil, also gets all of
// its standard output. Nothing reaches our own stdout, which is for the contract.
func Launch(argv []string, stdout io.Writer) (*Process, error) { return LaunchRead(argv, stdout, nil) }

// LaunchRead is Launch for a program that says something on stderr too: stderr,
// unless nil, gets all of it.
func LaunchRead(argv []string, stdout, stderr io.Writer) (*Process, error) {
	p := &Process{command: exec.Command(argv[0], argv[1:]...), exited: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	if stdout != nil {
		p.command.Stdout = io.MultiWriter(stdout, &p.printed)
		p.command.WaitDelay = 200 * time.Millisecond // a child of its own may hold the stream open for longer
	}
	if stderr != nil {
		p.command.Stderr = io.MultiWriter(stderr, &p.output)
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

// Path names the program's executable.
func (p *Process) Path() string { return p.command.Path }

// PID is its process ID, which is another's some time after it has ended.
func (p *Process) PID() int { return p.command.Process.Pid }

// Exited is closed when it has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Signal sends a signal that is not meant to end the program; to one that has
// ended it sends nothing.
func (p *Process) Signal(s os.Signal) {
	_ = p.command.Process.Signal(s) // that it is gone shows in Exited
}

// Interrupt asks the program to end, as Ctrl-C does.
func (p *Process) Interrupt() {
	p.ending.Store(true)
	p.Signal(os.Interrupt)
}

// Kill ends the program without waiting for it.
func (p *Process) Kill() {
	p.ending.Store(true)
	_ = p.command.Process.Kill() // gone already is as good
}

// endTimeout is how long a program may take to end, once after it was asked
// and once after it was made to. Both are shorter than a meter waits for us.
const endTimeout = 500 * time.Millisecond

// End asks the program to end, and kills it if it does not. It returns when the program
// has ended, or has left its streams to a child of its own, as daemons do: the meter
// kills the rest of its tree. The program's output goes to our stderr, which is kept with
// the trial: its clients may have noticed first that it ended by itself.
func (p *Process) End() {
	for _, ask := range []func(){p.Interrupt, p.Kill} {
		ask()
		select {
		case <-p.exited:
			fmt.Fprintf(os.Stderr, "%s: %s\n", p.Path(), p.ExitReason())
			return
		case <-time.After(endTimeout):
		}
	}
	fmt.Fprintf(os.Stderr, "%s: a child process of it still runs; it said: %s\n", p.Path(), p.Output())
}

// Output quotes what the program has printed so far, without the middle where that
// is long. It returns "nothing" when the program has printed nothing. Of two streams
// that are read apart stderr comes first, as the mistake stands there and the usage
// need not.
func (p *Process) Output() string { return quoted(p.output.text() + "\n" + p.printed.text()) }

// ExitReason describes how an ended program ended, and what it printed.
func (p *Process) ExitReason() string { return p.ExitReasonWith(p.Output()) }

// ExitReasonWith is ExitReason with the part of the output that the caller chose.
func (p *Process) ExitReasonWith(output string) string {
	return fmt.Sprintf("%s; it said: %s", p.command.ProcessState, output)
}

// ReportExit waits until a server's program has ended and, unless we ended it,
// sends the reason. A program that leaves its port to a child of its own, as
// daemons do, counts as running while something listens there.
func (p *Process) ReportExit(port string, to chan<- error) {
	<-p.exited
	if p.ending.Load() {
		return
	}
	if still, err := listening(port); !still && err == nil {
		to <- load.Failure(contract.Peer, fmt.Errorf("%s ended in the trial: %s", p.Path(), p.ExitReason()))
	}
}

// AwaitListening returns when the program listens on the port; an error when it
// has ended before or the timeout has passed. It looks into the kernel's tables and connects to
// nothing: iperf3 and its like take any connection for a test.
func (p *Process) AwaitListening(port string, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		found, err := listening(port)
		if found || err != nil {
			return err
		}
		select {
		case <-p.exited:
			return fmt.Errorf("%s ended before it listened on port %s: %s", p.Path(), port, p.ExitReason())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s does not listen on port %s after %v; it said: %s", p.Path(), port, timeout, p.Output())
		}
	}
}

// Version asks a program for its version and returns the first line of the answer, "" for
// a program that does not say.
func Version(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var said transcript
	command := exec.CommandContext(ctx, path, "--version")
	command.Stdout, command.Stderr = &said, &said
	command.WaitDelay = time.Second
	_ = command.Run() // some exit with 1 after it
	first, _, _ := strings.Cut(strings.TrimSpace(string(said.first)), "\n")
	return first
}

// transcript keeps the beginning and the end of what a program prints. Programs
// name a mistake first and print their usage after it. Any goroutine may use it.
type transcript struct {
	mu          sync.Mutex
	first, last []byte
	cut         bool // there was more between them
}

const (
	firstBytes = 512
	lastBytes  = 1536
)

// Write implements io.Writer and never fails.
func (t *transcript) Write(b []byte) (int, error) {
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

func (t *transcript) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.first)
	if t.cut {
		text += " … "
	}
	return text + string(t.last)
}

func quoted(text string) string {
	if text = strings.TrimSpace(text); text != "" {
		return strconv.Quote(text)
	}
	return "nothing"
}

// Split turns the text of an option into words without a shell: they are
// separated by spaces, '…' and "…" keep spaces, nothing is expanded but the
// placeholders {host} and {port}.
func Split(option, line, host, port string) ([]string, error) {
	var argv []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if inWord {
				argv = append(argv, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("option %s: the quote %c is not closed in %q", option, quote, line)
	}
	if inWord {
		argv = append(argv, word.String())
	}
	fill := strings.NewReplacer("{host}", host, "{port}", port)
	for i := range argv {
		argv[i] = fill.Replace(argv[i])
	}
	return argv, nil
}
