package rigs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"netdyno/internal/record"
)

// In a job of the user's, netdyno takes the nodes that the job has: it asks for
// none and gives none back.
func TestInsideAnAllocation(t *testing.T) {
	t.Parallel()
	b := slurmBed(t, plain)
	before := b.census(t)
	dir := filepath.Join(t.TempDir(), "out")
	// The script's last question is answered by the job in which netdyno has run.
	script := `"$@" && squeue --noheader --jobs="$SLURM_JOB_ID" --format=%T`
	line := slices.Concat([]string{"salloc", "--nodes=3", "--quiet", "sh", "-c", script, "sh", filepath.Join(b.programs, "netdyno"), "run"},
		small, []string{"--rig", "slurm:2", "--out", dir})
	c := b.Command(0, line...)
	c.Env = append(os.Environ(), b.env...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		t.Fatalf("salloc netdyno run: %v\n%s%s", err, out.String(), said.String())
	}
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
