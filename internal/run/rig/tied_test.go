package rig

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// What a command leaves running must not keep its end from being noticed.
func TestATiedProcessIsNotHeldByAChild(t *testing.T) {
	c := exec.Command("sh", "-c", "sleep 30 & echo $!")
	var said Tail
	c.Stdout = &said
	ended, err := StartTied(c, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("its end was not noticed while its child lives")
	}
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // the group outlives its leader
}
