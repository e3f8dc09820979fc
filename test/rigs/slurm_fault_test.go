package rigs_test

import (
	"strings"
	"testing"

	"netdyno/test/lab"

	"netdyno/internal/record"
)

// TestSlurmFaults breaks what carries a trial to its nodes.
func TestSlurmFaults(t *testing.T) {
	t.Parallel()
	step := fault{name: "a killed srun", says: []string{"srun ended (status 137, killed)", "the connection is gone"},
		hurt: func(u *underway, victim lab.Process) {
			u.killCarrier("srun", "--nodelist="+u.placeOf(victim)+" ", u.worker)
		}}
	suffer(t, slurmBed(t, held), append(few(always(step), 1, 5), few([]fault{killedWorker.in("window", 3), killedMeter.in("running", 2)})...))
}

// A killed slurmstepd leaves its srun hanging, so that only a deadline of ours
// can tell.
func TestKilledStepDaemon(t *testing.T) {
	t.Parallel()
	suffer(t, slurmBed(t, held), []fault{{name: "a killed slurmstepd", state: "window", node: 2, silent: true, says: []string{"no mark within 10s"},
		hurt: func(u *underway, _ lab.Process) { u.slurm.KillStepd(u.t, 2) }}})
}

// Without its slurmd a node carries the trial under way to its end, and no other
// until it is back.
func TestKilledNodeDaemon(t *testing.T) {
	t.Parallel()
	b := slurmBed(t, held)
	before := b.census(t)
	u := b.start(t, endless...)
	_, number := u.held("window", 2)
	b.slurm.KillSlurmd(2)
	u.release()
	if r := u.Next(u.t, number); r.Outcome != record.OK {
		t.Errorf("the trial under way is %s: %+v", r.Outcome, r.Failure)
	}
	r := u.Next(u.t, number+1)
	b.slurm.StartSlurmd(t, 2)
	if r.Failure == nil || r.Failure.State != "born" || !strings.Contains(r.Failure.Text, "node2") {
		t.Errorf("the trial without a slurmd is %s: %+v, want it failed of node2", r.Outcome, r.Failure)
	}
	t.Logf("%+v; it took %.1f s", r.Failure, float64(r.Timeline.EndNs)/1e9)
	// The next trial may have begun before the slurmd was back, but not the one after.
	if r := u.Next(u.t, len(u.Contents(u.t).Records)+1); r.Outcome != record.OK {
		t.Errorf("a trial that began with the slurmd back is %s: %+v", r.Outcome, r.Failure)
	}
	u.interrupt()
	before.nothingLeft(t)
}
