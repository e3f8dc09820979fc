package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	// timeout is how long a daemon may take to come up or to end. A busy machine
	// needs seconds where a quiet one needs a tenth of one.
	timeout   = 30 * time.Second
	pollEvery = 10 * time.Millisecond

	// tailBytes and tailLines bound what of a daemon's log goes into a message.
	tailBytes = 8192
	tailLines = 20
)

// daemon is a program that serves on one host until it is killed. The goroutine of its
// test owns it.
type daemon struct {
	lab   *Lab
	title string // "sshd on node1"
	host  int
	argv  []string
	env   []string // added to our own
	log   string   // path; a second start appends
	tried bool     // the test is left out, by the daemon's words, if it ends before it was once ready

	cmd   *exec.Cmd
	ended chan struct{} // closed when the daemon is reaped
}

// start starts the daemon and returns once ready does without an error, which
// says what is still missing.
func (d *daemon) start(t testing.TB, ready func() error) {
	t.Helper()
	if d.running() {
		t.Fatalf("start %s: it runs already", d.title)
	}
	if err := d.launch(); err != nil {
		t.Fatalf("start %s: %v (packages.txt names what tests need)", d.title, err)
	}
	d.await(t, ready)
}

// await asks ready again and again until nothing is missing, and fails the test
// when the daemon ends or takes too long.
func (d *daemon) await(t testing.TB, ready func() error) {
	t.Helper()
	for deadline := time.Now().Add(timeout); ; time.Sleep(pollEvery) {
		missing := ready()
		switch {
		case !d.running() && d.tried:
			t.Skipf("%s does not work here: it ended: %v%s", d.title, d.cmd.ProcessState, d.tail())
		case !d.running():
			t.Fatalf("start %s: it ended: %v%s", d.title, d.cmd.ProcessState, d.tail())
		case missing == nil:
			d.tried = false
			return
		case time.Now().After(deadline):
			t.Fatalf("start %s: not ready after %v: %v%s", d.title, timeout, missing, d.tail())
		}
	}
}

func (d *daemon) launch() error {
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(d.argv[0]); err != nil {
		return errors.Join(err, log.Close())
	}
	d.cmd = d.lab.Command(d.host, d.argv...)
	d.cmd.Env = append(os.Environ(), d.env...)
	d.cmd.Stdout, d.cmd.Stderr = log, log
	d.cmd.Dir = "/"
	d.ended = make(chan struct{})
	started := make(chan error)
	go func() {
		// The kernel's signal at our death is due when this thread ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := errors.Join(d.cmd.Start(), log.Close())
		if started <- err; err == nil {
			_ = d.cmd.Wait() // how it ended is in ProcessState
		}
		close(d.ended)
	}()
	return <-started
}

func (d *daemon) running() bool {
	if d.ended == nil {
		return false
	}
	select {
	case <-d.ended:
		return false
	default:
		return true
	}
}

// pid returns the process id; 0 when the daemon does not run.
func (d *daemon) pid() int {
	if !d.running() {
		return 0
	}
	return d.cmd.Process.Pid
}

// kill kills the daemon, not what came of it, and waits. Killing twice is fine.
func (d *daemon) kill() {
	if d.running() {
		_ = d.cmd.Process.Kill() // it may be ending by itself
		<-d.ended
	}
}

// until ends the daemon with the test, and shows its log if the test has failed.
func (d *daemon) until(t testing.TB) {
	t.Cleanup(func() {
		d.kill()
		if t.Failed() {
			t.Logf("%s ended%s", d.title, d.tail())
		}
	})
}

// tail returns the last lines of the log under a heading, for a message's end.
func (d *daemon) tail() string {
	file, err := os.Open(d.log)
	if err != nil {
		return fmt.Sprintf("; it has no log: %v", err)
	}
	defer file.Close()
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		_, _ = file.Seek(max(0, size-tailBytes), io.SeekStart) // else the tail is empty, and says so
	}
	text, _ := io.ReadAll(io.LimitReader(file, tailBytes)) // what could be read is shown
	lines := strings.Split(string(bytes.TrimSpace(text)), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return fmt.Sprintf("; the last lines of %s:\n\t%s", filepath.Base(d.log), strings.Join(lines, "\n\t"))
}
