package generate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// toolchain is the go command on PATH.
type toolchain struct {
	path     string
	version  string // "go1.26.8"
	settings string // all that decides what it makes of the same sources
}

// findGo asks the go command what it is. The error says why there is none.
func findGo(ctx context.Context) (toolchain, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return toolchain{}, errors.New("no go command is on PATH")
	}
	t := toolchain{path: path}
	said, err := t.run(ctx, command{argv: []string{"env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT"}, dir: "/", atMost: 1 << 16})
	if err != nil {
		return t, err
	}
	t.settings = string(said)
	t.version, _, _ = strings.Cut(t.settings, "\n")
	if !strings.HasPrefix(t.version, "go1.") {
		return t, fmt.Errorf("%s says that it is version %q", path, clip(t.version))
	}
	return t, nil
}

// environment makes the go command use what is on this machine and nothing
// else: no network, no other version of itself, nothing around the sources.
func environment(temporary string) []string {
	env := append(os.Environ(),
		"GO111MODULE=on", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH,
	)
	if temporary != "" {
		env = append(env, "GOTMPDIR="+temporary)
	}
	return env
}

// command is one call of a program.
type command struct {
	program   string // empty for go
	argv      []string
	dir       string
	temporary string // where go keeps its own files
	input     []byte
	atMost    int64 // bytes of output
}

// run starts a command in a process group of its own, which ends with the
// context, and returns what it wrote to stdout. The error has the end of what
// it wrote to stderr.
func (t toolchain) run(ctx context.Context, c command) ([]byte, error) {
	program := cmp.Or(c.program, t.path)
	run := exec.CommandContext(ctx, program, c.argv...)
	run.Dir, run.Env = c.dir, environment(c.temporary)
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	run.Cancel = func() error { return syscall.Kill(-run.Process.Pid, syscall.SIGKILL) }
	run.WaitDelay = 2 * time.Second
	out, said := &bounded{room: c.atMost}, &bounded{room: 1 << 20}
	run.Stdout, run.Stderr = out, said
	if c.input != nil {
		run.Stdin = bytes.NewReader(c.input)
	}
	ended := make(chan error)
	go func() { // on one thread: Pdeathsig fires when the thread that forked ends
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ended <- run.Run()
	}()
	err := <-ended
	switch {
	case err == nil && out.full:
		err = fmt.Errorf("it wrote more than %d bytes", c.atMost)
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil && said.Len() > 0:
		err = errors.New(complaint(said.String()))
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", program, clip(c.argv[0]), err)
	}
	return out.Bytes(), nil
}

// bounded keeps the beginning of what is written.
type bounded struct {
	bytes.Buffer
	room int64
	full bool
}

// Write implements io.Writer and never fails.
func (b *bounded) Write(p []byte) (int, error) {
	if room := max(0, b.room-int64(b.Len())); int64(len(p)) > room {
		b.full = true
		_, _ = b.Buffer.Write(p[:room]) // never fails
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// complaint is the first line of an output that says what was wrong: go prints
// the package in error in front of it, and what it was about to fetch.
func complaint(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "go: downloading ") {
			return printable(line)
		}
	}
	return "it says nothing"
}

// printable makes foreign text fit for a line of a terminal.
func printable(text string) string {
	return clip(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text))
}

func clip(text string) string {
	const most = 300
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
