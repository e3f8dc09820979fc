// Package running watches a netdyno that runs, for tests that disturb it.
package running

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"netdyno/internal/record"
)

// poll is how often is looked: to look at every process of a machine is work.
const poll = 50 * time.Millisecond

// Await waits for what must come, so long at most.
func Await(t testing.TB, hang time.Duration, what string, came func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hang); !came(); time.Sleep(poll) {
		if time.Now().After(deadline) {
			t.Fatalf("wait until %s: not after %v", what, hang)
		}
	}
}

// Run is one netdyno and what it has written. Whatever of it waits, waits for Hang at most.
type Run struct {
	Cmd   *exec.Cmd
	Dir   string // of its results
	Hang  time.Duration
	said  string // path of what it printed
	ended chan struct{}
}

// Start starts a netdyno with a directory of results. At the end of the test it is killed,
// if it still runs.
func Start(t testing.TB, c *exec.Cmd, dir string, hang time.Duration) *Run {
	t.Helper()
	r := &Run{Cmd: c, Dir: dir, Hang: hang, said: filepath.Join(t.TempDir(), "said"), ended: make(chan struct{})}
	said, err := os.Create(r.said)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait() // how it ended is in its state
		close(r.ended)
	}()
	t.Cleanup(func() {
		r.Kill()
		if t.Failed() {
			t.Logf("netdyno said:\n%s", r.Said())
		}
	})
	return r
}

// Kill kills netdyno and no other, and waits for it.
func (r *Run) Kill() {
	_ = r.Cmd.Process.Kill() // it has ended as a rule
	<-r.ended
}

// Said is what it printed.
func (r *Run) Said() string {
	text, err := os.ReadFile(r.said)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Over tells whether it has ended.
func (r *Run) Over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// Until waits for what must come while it runs.
func (r *Run) Until(t testing.TB, what string, came func() bool) {
	t.Helper()
	Await(t, r.Hang, what, func() bool {
		over := r.Over()
		if is := came(); is || !over {
			return is
		}
		t.Fatalf("wait until %s: netdyno ended: %v; it said:\n%s", what, r.Cmd.ProcessState, r.Said())
		return false
	})
}

// End waits until it has ended by itself, and returns its status and what it printed.
func (r *Run) End(t testing.TB) (status int, said string) {
	t.Helper()
	select {
	case <-r.ended:
	case <-time.After(r.Hang):
		t.Fatalf("netdyno has not ended after %v; it said:\n%s", r.Hang, r.Said())
	}
	return r.Cmd.ProcessState.ExitCode(), r.Said()
}

// Contents is what was kept so far: nothing before there is a file, and a last line may be
// half written.
func (r *Run) Contents(t testing.TB) record.Contents {
	t.Helper()
	over := r.Over()
	contents, err := record.Read(filepath.Join(r.Dir, record.RecordsFile))
	if err != nil && over && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return contents
}

// Next waits for the record of a number, from 0.
func (r *Run) Next(t testing.TB, number int) record.Record {
	t.Helper()
	var all []record.Record
	r.Until(t, fmt.Sprintf("record %d is kept", number), func() bool {
		all = r.Contents(t).Records
		return len(all) > number
	})
	return all[number]
}
