package rigs_test

import (
	"testing"

	"netdyno/test/lab"
)

// TestSSHFaults breaks what carries a trial to its hosts.
func TestSSHFaults(t *testing.T) {
	t.Parallel()
	session := fault{name: "a killed session", says: []string{"ssh ended (status 137, killed)", "the connection is gone"},
		hurt: func(u *underway, victim lab.Process) { u.killCarrier("ssh", "-- "+u.placeOf(victim)+" ", u.worker) }}
	connection := fault{name: "a killed connection", says: []string{"ssh ended (status 255)", "the connection is gone"},
		hurt: func(u *underway, victim lab.Process) { u.killCarrier("ssh", " -M ", "-- "+u.placeOf(victim)) }}
	daemon := fault{name: "a killed sshd", says: connection.says, hurt: func(u *underway, victim lab.Process) {
		node := u.nodeOf(victim)
		u.ssh.Kill(u.t, node)
		u.ssh.Start(u.t, node)
	}}
	suffer(t, sshBed(t, held), few([]fault{
		session.in("born", 1), connection.in("idle", 1), daemon.in("unconnected", 2), session.in("ready", 3),
		daemon.in("running", 1), connection.in("window", 2), session.in("stopping", 1),
		killedWorker.in("window", 3), killedMeter.in("running", 2),
	}, 1, 4, 6))
}

// TestCut takes a host from the network, with and without a word about it. Only
// deadlines can tell.
func TestCut(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fault{
		"cable":    {name: "a pulled cable", state: "window", node: 2},
		"firewall": {name: "dropped packets", state: "running", node: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "cable" {
				soak(t)
			}
			b := sshBed(t, held)
			var undo func()
			f.hurt = func(*underway, lab.Process) {
				if undo = func() { b.Mend(t, f.node) }; name == "firewall" {
					undo = b.Drop(t, f.node)
				} else {
					b.Cut(t, f.node)
				}
			}
			f.mend = func() { undo() }
			f.silent = true
			f.says = []string{"no mark within 10s"}
			suffer(t, b, []fault{f})
		})
	}
}
