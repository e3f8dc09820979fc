package rigs_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"netdyno/internal/record"
)

// netdyno is killed in one state after the other, and nothing of it is left:
// whoever holds a host notices by itself.
func TestKilledNetdyno(t *testing.T) {
	t.Parallel()
	for name, when := range map[string][]moment{
		"netns": moments, "ssh": {moments[0], moments[2], moments[5]}, "slurm": {moments[1], moments[4], moments[6]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := beds[name](t, held)
			before := b.census(t)
			for _, m := range few(when, len(when)-2) {
				u := b.start(t, endless...)
				u.hold(m.state)
				u.victim(m.state, m.nodes[0])
				u.kill(u.cmd.Process.Pid)
				u.end(hang)
				before.nothingLeft(t)
				u.release()
				if t.Failed() {
					t.Fatalf("netdyno was killed in state %s", m.state)
				}
			}
		})
	}
}

// Also when it is killed while it brings its programs to the hosts.
func TestKilledDelivery(t *testing.T) {
	t.Parallel()
	b := sshBed(t, plain)
	before := b.census(t)
	c, _ := b.command(t, endless...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(hang); ; time.Sleep(poll) {
		files, err := filepath.Glob(filepath.Join(b.Temporary(), "*", "*", "netdyno*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("no file is delivered after %v", hang)
			break
		}
	}
	_ = c.Process.Kill() // what it has done by now shows
	_ = c.Wait()
	before.nothingLeft(t)
}

// Nor does it matter how far it has come: a host may be told of the end before it
// has named the directory that it has just made.
func TestKilledAtAnyMoment(t *testing.T) {
	soak(t)
	b := sshBed(t, plain)
	before := b.census(t)
	for after := time.Duration(0); after < 600*time.Millisecond; after += 10 * time.Millisecond {
		c, _ := b.command(t, endless...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		_ = c.Process.Kill()
		_ = c.Wait()
		if before.nothingLeft(t); t.Failed() {
			t.Fatalf("netdyno was killed after %v", after)
		}
	}
}

// An interrupted run leaves nothing, and the same command goes on where it was.
func TestInterruptedNetdyno(t *testing.T) {
	t.Parallel()
	b := sshBed(t, held)
	before := b.census(t)
	short := slices.Concat(endless[:4], []string{"blocks=2", "window=50ms", "warmup=10ms"})
	u := b.start(t, short...)
	first := u.next(0)
	u.hold("window")
	u.victim("window", 1)
	u.interrupt()
	u.release()
	before.nothingLeft(t)
	if got := len(u.records()); got == 0 || got > 3 {
		t.Fatalf("the interrupted run of 4 trials has %d records, want 1 to 3: the trial under way leaves none", got)
	}
	resumed, _ := b.command(t, short...)
	resumed.Args = append(resumed.Args[:len(resumed.Args)-1], u.dir, "--resume")
	out, _ := resumed.CombinedOutput() // a busy machine's trials need not be valid
	before.nothingLeft(t)
	contents, err := record.Read(filepath.Join(u.dir, record.RecordsFile))
	if err != nil {
		t.Fatal(err)
	}
	if got := contents.Records; len(got) != 4 || got[0].StartedAt != first.StartedAt {
		t.Errorf("the resumed run has %d records, want 4, the first as it was; it said:\n%s", len(got), out)
	}
	if _, err := os.Stat(filepath.Join(u.dir, "report.html")); err != nil {
		t.Error(err)
	}
}
