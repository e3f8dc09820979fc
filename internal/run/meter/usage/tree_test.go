package usage

import (
	"os/exec"
	"runtime"
	"testing"
)

// A process that nobody has waited for is there still, and has ended.
func TestEndedOfAZombie(t *testing.T) {
	t.Parallel()
	c := exec.Command("cat")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var tree Tree
	if tree.Ended(c.Process.Pid) {
		t.Error("a process that reads has ended")
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	for !tree.Ended(c.Process.Pid) { // the test's own limit bounds it
		runtime.Gosched()
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if !tree.Ended(c.Process.Pid) {
		t.Error("a process that is gone has not ended")
	}
}

func TestParseEnded(t *testing.T) {
	for text, want := range map[string]bool{
		"1 (a) b) S 0 1 1 0 -1 4194304 1":  false,
		"1 (a) b) R 0 1 1 0 -1 4194308 1":  true, // PF_EXITING
		"1 (a) b) Z 0 1 1 0 -1 4194304 1":  true,
		"1 (Z 4 4 4 4 4 4 4) S 0 1 1 0 -1": false,
	} {
		if got := parseEnded([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
