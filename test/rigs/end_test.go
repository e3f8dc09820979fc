package rigs_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"netdyno/internal/record"
	"netdyno/test/running"
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
				u.held(m.state, m.nodes[0])
				u.Kill()
				t.Logf("netdyno was killed in state %s", m.state)
				before.nothingLeft(t)
				u.release()
			}
		})
	}
}

// Also when it is killed while it brings its programs to the hosts.
func TestKilledDelivery(t *testing.T) {
	t.Parallel()
	b := sshBed(t, plain)
	before := b.census(t)
	c, dir := b.command(t, endless...)
	u := running.Start(t, c, dir, hang)
	u.Until(t, "a file is delivered", func() bool {
		files, err := filepath.Glob(filepath.Join(b.Temporary(), "*", "*", "netdyno*"))
		return err == nil && len(files) > 0
	})
	u.Kill() // what it has done by now shows
	before.nothingLeft(t)
}

// Nor does it matter how far it has come: a host may be told of the end before it
// has named the directory that it has just made.
func TestKilledAtAnyMoment(t *testing.T) {
	soak(t)
	b := sshBed(t, plain)
	before := b.census(t)
	for after := time.Duration(0); after < 600*time.Millisecond; after += 10 * time.Millisecond {
		c, dir := b.command(t, endless...)
		u := running.Start(t, c, dir, hang)
		time.Sleep(after)
		u.Kill()
		t.Logf("netdyno was killed after %v", after)
		before.nothingLeft(t)
	}
}

// An interrupted run leaves nothing, and the same command goes on where it was.
func TestInterruptedNetdyno(t *testing.T) {
	t.Parallel()
	b := sshBed(t, held)
	before := b.census(t)
	short := slices.Concat(endless[:4], []string{"blocks=2", "window=50ms", "warmup=10ms"})
	u := b.start(t, short...)
	first := u.Next(u.t, 0)
	u.held("window", 1)
	u.interrupt()
	u.release()
	before.nothingLeft(t)
	if got := len(u.Contents(u.t).Records); got == 0 || got > 3 {
		t.Fatalf("the interrupted run of 4 trials has %d records, want 1 to 3: the trial under way leaves none", got)
	}
	resumed, _ := b.command(t, short...)
	resumed.Args = append(resumed.Args[:len(resumed.Args)-1], u.Dir, "--resume")
	out, _ := resumed.CombinedOutput() // a busy machine's trials need not be valid
	before.nothingLeft(t)
	contents, err := record.Read(filepath.Join(u.Dir, record.RecordsFile))
	if err != nil {
		t.Fatal(err)
	}
	if got := contents.Records; len(got) != 4 || got[0].StartedAt != first.StartedAt {
		t.Errorf("the resumed run has %d records, want 4, the first as it was; it said:\n%s", len(got), out)
	}
	if _, err := os.Stat(filepath.Join(u.Dir, "report.html")); err != nil {
		t.Error(err)
	}
}
