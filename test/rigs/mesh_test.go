package rigs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/record"
	"netdyno/test/running"
)

// A mesh needs nothing of a rig but its hosts: over ssh, and in one Slurm allocation,
// every ordered pair leaves its records, each end on its own host, and nothing else.
func TestMeshOnEveryRig(t *testing.T) {
	for _, name := range []string{"ssh", "slurm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "slurm" { // whose one allocation it has to do with
				soak(t)
			}
			b := beds[name](t, plain)
			before := b.census(t)
			dir := filepath.Join(t.TempDir(), "out")
			c := b.Command(0, slices.Concat([]string{filepath.Join(b.programs, "netdyno"), "mesh"},
				[]string{"blocks=1", "warmup=50ms", "window=150ms", "--rig", b.rig, "--out", dir})...)
			c.Env = append(os.Environ(), b.env...)
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			failed := c.Run() // what it left is looked at
			contents, err := record.Read(filepath.Join(dir, record.RecordsFile))
			if err != nil || len(contents.Problems) > 0 {
				t.Fatalf("read the records: %v, %v\nnetdyno mesh: %v\n%s", err, contents.Problems, failed, out.String())
			}
			pairs := map[string]int{}
			for _, r := range contents.Records {
				seats := map[string]string{}
				for _, w := range r.Workers {
					seats[w.Name] = w.Seat
				}
				from, to := r.Trial.Levels["client.host"], r.Trial.Levels["server.host"]
				if r.Outcome != record.OK || seats["client-1"] != from || seats["server"] != to {
					t.Errorf("%s from %s to %s: %s, sat at %v: %+v", r.Trial.ID, from, to, r.Outcome, seats, r.Failure)
				}
				pairs[fmt.Sprint(from, " to ", to)]++
			}
			if len(pairs) != 6 || len(contents.Records) != 12 {
				t.Errorf("3 hosts left %d records of the pairs %v", len(contents.Records), pairs)
			}
			before.nothingLeft(t)
		})
	}
}

// A host whose cable is pulled in the middle of a mesh over ssh fails its own trials,
// with a reason; the others go on, the report names it, and when the cable is back
// nothing of the run is left on it.
func TestMeshLosesAHost(t *testing.T) {
	t.Parallel()
	soak(t) // deadlines of many seconds
	b := newBed(t, 4, plain)
	b.ssh = b.SSH(t)
	b.rig = "ssh:node1,node2,node3,node4?config=" + b.ssh.Config
	const lost = 4
	before := b.census(t)
	dir := filepath.Join(t.TempDir(), "out")
	c := b.Command(0, filepath.Join(b.programs, "netdyno"), "mesh", "blocks=1", "warmup=50ms", "window=150ms", "--rig", b.rig, "--out", dir)
	c.Env = append(os.Environ(), b.env...)
	u := running.Start(t, c, dir, 10*time.Minute)
	u.Next(t, 3)
	b.Cut(t, lost)
	_, said := u.End(t) // every wait in it is bounded
	b.Mend(t, lost)
	contents := u.Contents(t)
	if len(contents.Records) != 24 {
		t.Fatalf("%d records of 24; netdyno mesh said:\n%s", len(contents.Records), said)
	}
	failed := 0
	for i, r := range contents.Records {
		on := slices.Contains([]string{r.Trial.Levels["client.host"], r.Trial.Levels["server.host"]}, b.Name(lost))
		switch {
		case r.Failure != nil && on:
			failed++
			t.Logf("%s: %s", r.Trial.ID, r.Failure.Text)
		case r.Failure != nil:
			t.Errorf("%s needs no lost host and failed: %s", r.Trial.ID, r.Failure.Text)
		case on && i >= 8:
			t.Errorf("%s ran on a host without a cable", r.Trial.ID)
		}
	}
	if failed < 6 || !strings.Contains(said, "Host "+b.Name(lost)+" was lost") {
		t.Errorf("%d trials failed; the report says\n%s", failed, said)
	}
	before.nothingLeft(t)
}
