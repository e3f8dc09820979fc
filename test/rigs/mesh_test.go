package rigs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"netdyno/internal/record"
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
