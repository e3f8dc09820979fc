package rigs_test

import (
	"os"
	"path/filepath"
	"testing"

	"netdyno/internal/record"
	"netdyno/test/programs"
)

const messageArms = `
study: message-libraries
question: Do their ends meet?
hold: {stream: up, request: 1MiB, response: 1B, chunk: 64KiB, amount: 100}
vary:
  arm:
    mpi: {transport: mpi, opt.fabric: tcp}
    mpich: {transport: mpich, opt.fabric: tcp}
    ucx: {transport: ucx, opt.tls: tcp}
compare: {baseline: mpi}
blocks: 1
`

// The ends of libraries that move messages are started by a rig like all workers,
// and find each other without mpirun: over ssh, and in a Slurm allocation. Their
// messages take the hosts' network, and nothing of them is left.
func TestMessageLibrariesOnEveryRig(t *testing.T) {
	for _, name := range []string{"netns", "ssh", "slurm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			soak(t) // each rig is one more laboratory
			b := beds[name](t, plain)
			for _, transport := range []string{"mpi", "mpich", "ucx"} {
				if err := programs.Copy("netdyno-worker-"+transport, b.programs); err != nil {
					t.Fatal(err)
				}
			}
			study := filepath.Join(t.TempDir(), "libraries.yaml")
			if err := os.WriteFile(study, []byte(messageArms), 0o600); err != nil {
				t.Fatal(err)
			}
			before := b.census(t)
			for _, r := range b.run(t, study).Records {
				over := ""
				for i := range r.Workers {
					if r.Workers[i].Name == "client-1" {
						over = r.Workers[i].Path()
					}
				}
				if r.Outcome != record.OK || over != "tcp" {
					t.Errorf("%s on %s: %s over %q: %+v", r.Trial.Arm, b.rig, r.Outcome, over, r.Failure)
				}
			}
			before.nothingLeft(t)
		})
	}
}
