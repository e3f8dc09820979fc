package meter

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"netdyno/internal/run/cpuset"
)

// A worker that roams is seen on both of its sets, and on one of them for good once it stays.
func TestAWorkerRoams(t *testing.T) {
	all := cpuset.Of(0)
	if len(all) < 2 {
		t.Skip("one CPU alone can be used here")
	}
	o := Options{CPUs: all[:1], Roam: all[1:2]}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	if err := cpuset.PinProcess(cmd.Process.Pid, o.CPUs); err != nil {
		t.Fatal(err)
	}
	stay := (&session{cmd: cmd}).roam(o)
	for _, set := range [][]int{o.Roam, o.CPUs, o.Roam} {
		for end := time.Now().Add(timeout); !slices.Equal(cpuset.Of(cmd.Process.Pid), set); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it is on %v and never on %v", cpuset.Of(cmd.Process.Pid), set)
			}
		}
	}
	stay()
	for last, end := cpuset.Of(cmd.Process.Pid), time.Now().Add(3*roamsAfter); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if now := cpuset.Of(cmd.Process.Pid); !slices.Equal(now, last) {
			t.Fatalf("it was told to stay on %v and is on %v", last, now)
		}
	}
}
