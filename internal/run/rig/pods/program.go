package pods

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/pods/talk"
)

const (
	answerTimeout = 6 * time.Minute  // for pods to stand, with the pulling of an image
	removeTimeout = 90 * time.Second // for everything to be removed
)

// program is netdyno-rig-k8s. It removes what it made when its stdin ends, which happens when
// this process does, however that ends; so it is not tied to us.
type program struct {
	command *exec.Cmd
	to      io.WriteCloser
	lines   chan []byte // its answers; closed when there are no more
	late    bool        // an answer was given up
	said    rig.Tail
}

// find returns the program's path: beside netdyno, or where PATH says.
func find() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	beside := filepath.Join(filepath.Dir(self), talk.Program)
	if _, err := os.Stat(beside); err == nil {
		return beside, nil
	}
	found, err := exec.LookPath(talk.Program)
	if err != nil {
		return "", fmt.Errorf("%s is neither beside %s nor in PATH: `make build` puts it into bin", talk.Program, self)
	}
	return found, nil
}

func startProgram(path string) (*program, error) {
	p := &program{command: exec.Command(path)}
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // no signal that is meant for us ends it
	p.command.Stderr = &p.said
	var err error
	if p.to, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", talk.Program, err)
	}
	p.lines = make(chan []byte, 1)
	go func() {
		defer close(p.lines)
		for from := bufio.NewReader(out); ; {
			line, err := from.ReadBytes('\n')
			if err != nil {
				return
			}
			p.lines <- line
		}
	}()
	return p, nil
}

// ask sends a request and waits for its answer.
func (p *program) ask(ctx context.Context, r talk.Request) (talk.Answer, error) {
	if p.late { // the answer that comes next is another's
		return talk.Answer{}, fmt.Errorf("%s did not answer an earlier request", talk.Program)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return talk.Answer{}, err
	}
	if _, err := p.to.Write(append(text, '\n')); err != nil {
		return talk.Answer{}, p.failure(err)
	}
	answer, err := p.hear(ctx, answerTimeout)
	p.late = err != nil
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	return answer, err
}

// hear waits for an answer.
func (p *program) hear(ctx context.Context, timeout time.Duration) (answer talk.Answer, err error) {
	select {
	case line, more := <-p.lines:
		if !more {
			return answer, p.failure(io.EOF)
		}
		if err = json.Unmarshal(line, &answer); err != nil {
			err = p.failure(err)
		}
		return answer, err
	case <-time.After(timeout):
		return answer, fmt.Errorf("no answer of %s within %v", talk.Program, timeout)
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
}

func (p *program) failure(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) {
		err = errors.New("it has ended")
	}
	if text := strings.TrimSpace(p.said.String()); text != "" {
		err = fmt.Errorf("%w; it said: %s", err, text)
	}
	return fmt.Errorf("%s: %w", talk.Program, err)
}

// end ends it and waits until everything is removed.
func (p *program) end() error {
	_ = p.to.Close() // it may have ended
	for {
		answer, err := p.hear(context.Background(), removeTimeout)
		if err != nil {
			_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
			return errors.Join(err, p.command.Wait())
		}
		if !answer.Last { // of a request that was given up
			continue
		}
		if waited := p.command.Wait(); answer.Left == "" {
			return waited
		}
		return errors.New(answer.Left)
	}
}
