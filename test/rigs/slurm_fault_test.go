package rigs_test

import "testing"

// TestSlurmFaults breaks what carries a trial to its nodes.
func TestSlurmFaults(t *testing.T) {
	t.Parallel()
	step := fault{name: "a killed srun", says: []string{"srun ended (status 137, killed)", "the connection is gone"},
		hurt: func(u *underway, victim process) {
			u.killCarrier("srun", "--nodelist="+u.placeOf(victim)+" ", u.worker)
		}}
	suffer(t, slurmBed(t, held), always(step))
}

// A killed slurmstepd leaves its srun hanging, so that only a deadline of ours
// can tell.
func TestKilledStepDaemon(t *testing.T) {
	t.Parallel()
	suffer(t, slurmBed(t, held), []fault{{name: "a killed slurmstepd", state: "window", node: 2, says: []string{"no mark within 10s"},
		hurt: func(u *underway, _ process) { u.slurm.KillStepd(u.t, 2) }}})
}
