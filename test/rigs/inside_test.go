package rigs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"netdyno/internal/record"
	"netdyno/test/trials"
)

// In a job of the user's, netdyno takes the nodes that the job has: it asks for
// none and gives none back.
func TestInsideAnAllocation(t *testing.T) {
	t.Parallel()
	b := slurmBed(t, plain)
	before := b.census(t)
	var dir string
	// The script's last question is answered by the job in which netdyno has run.
	script := `"$@" && squeue --noheader --jobs="$SLURM_JOB_ID" --format=%T`
	var out, said bytes.Buffer
	trials.Repeat(func() bool {
		dir = filepath.Join(t.TempDir(), "out")
		line := slices.Concat([]string{"salloc", "--nodes=3", "--quiet", "sh", "-c", script, "sh", filepath.Join(b.programs, "netdyno"), "run"},
			small, []string{"--rig", "slurm:2", "--out", dir})
		c := b.Command(0, line...)
		c.Env = append(os.Environ(), b.env...)
		out.Reset()
		said.Reset()
		c.Stdout, c.Stderr = &out, &said
		err := c.Run()
		if err != nil && c.ProcessState.ExitCode() != 1 {
			t.Fatalf("salloc netdyno run: %v\n%s%s", err, out.String(), said.String())
		}
		return err != nil
	})
	if !bytes.HasSuffix(out.Bytes(), []byte("\nRUNNING\n")) {
		t.Errorf("after netdyno the job was not running:\n%s", out.String())
	}
	contents, err := record.Read(filepath.Join(dir, record.RecordsFile))
	if err != nil || len(contents.Records) == 0 {
		t.Fatal(err, contents.Problems)
	}
	for _, r := range contents.Records {
		for _, w := range r.Workers {
			want := map[string]string{"server": "node1", "client-1": "node2", "client-2": "node2"}[w.Name]
			if r.Outcome != record.OK || w.Seat != want {
				t.Errorf("trial %s %s: %s sat at %s, want %s", r.Trial.ID, r.Outcome, w.Name, w.Seat, want)
			}
		}
	}
	before.nothingLeft(t)
}
