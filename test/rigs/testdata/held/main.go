// Command held is a real worker behind a gate. A file of the gates' directory with this
// program's own base name holds the name of a state. While it does, a worker that comes
// to that state waits there, and shows the state in its command name (/proc/PID/comm):
// "in-window". So a test can hurt a trial in the state that it wants, without a race.
//
// Both paths are set by the linker: a program that ssh starts gets no environment.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

var (
	worker string // path of the real worker
	gates  string // directory
)

const (
	look    = 5 * time.Millisecond
	maxLine = 32 << 20 // bytes; above the contract's bound
)

func main() { os.Exit(run()) }

func run() int {
	runtime.LockOSThread() // the real worker dies with the thread that starts it
	c := exec.Command(worker)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := c.StdinPipe()
	if err != nil {
		return fail(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if err := c.Start(); err != nil {
		return fail(err)
	}
	g := gate{file: filepath.Join(gates, filepath.Base(os.Args[0])), ended: make(chan struct{})}
	go g.down(stdin)
	if err := g.up(stdout); err != nil {
		return fail(err)
	}
	if err := c.Wait(); err != nil {
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "held:", err)
	return 1
}

// gate is what a worker may have to wait at.
type gate struct {
	file  string
	ended chan struct{} // nobody commands any more
}

// pass waits while the file names the state. When nobody commands any more it
// ends the program, and the kernel the real worker: what that would say to the
// end of its stdin is not of this state.
func (g gate) pass(state string) {
	shown := false
	for {
		named, err := os.ReadFile(g.file)
		if err != nil || string(bytes.TrimSpace(named)) != state {
			break
		}
		if !shown {
			show("in-" + state)
			shown = true
		}
		select {
		case <-g.ended:
			os.Exit(0)
		case <-time.After(look):
		}
	}
	if shown {
		show("past-" + state)
	}
}

// show sets the name of this process for those who look.
func show(name string) { _ = os.WriteFile("/proc/self/comm", []byte(name), 0) } // the test waits in vain, and says so

// up passes the worker's words; the first is its hello.
func (g gate) up(from io.Reader) error {
	words := bufio.NewReader(from)
	hello, err := words.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("no hello: %w", err)
	}
	g.pass("born")
	_, err = io.Copy(os.Stdout, io.MultiReader(bytes.NewReader(hello), words))
	return err
}

// down passes commands; each is what ends a state.
func (g gate) down(to io.WriteCloser) {
	defer to.Close()
	commands := make(chan []byte, 64)
	go func() {
		defer close(commands)
		defer close(g.ended)
		lines := bufio.NewScanner(os.Stdin)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			commands <- append(bytes.Clone(lines.Bytes()), '\n')
		}
	}()
	for command := range commands {
		if state := before(command); state != "" {
			g.pass(state)
		}
		if _, err := to.Write(command); err != nil {
			return // how the worker ended tells why
		}
	}
}

// before returns the state that a command ends; "" for none. Clients are set up
// when the server is ready, so that their state has a name of its own.
func before(command []byte) string {
	begins := func(with string) bool { return bytes.HasPrefix(command, []byte(with)) }
	switch {
	case begins(`{"setup"`) && bytes.Contains(command, []byte(`"role":"client"`)):
		return "unconnected"
	case begins(`{"setup"`):
		return "idle"
	case begins(`{"mark":{"id":3`):
		return "ready"
	case begins(`{"mark":{"id":1`):
		return "running"
	case begins(`{"mark":{"id":2`):
		return "window"
	case begins(`{"stop"`):
		return "stopping"
	}
	return ""
}
