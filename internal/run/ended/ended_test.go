package ended

import (
	"os/exec"
	"testing"
)

func TestAwaitLeavesTheChildToBeReaped(t *testing.T) {
	c := exec.Command("sh", "-c", "exit 7")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	Await(c.Process.Pid)
	_ = c.Wait() // its status is the exit code
	if got := c.ProcessState.ExitCode(); got != 7 {
		t.Errorf("exit code %d, want 7", got)
	}
	Await(c.Process.Pid) // no child any more
}
