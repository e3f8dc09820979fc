package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"netdyno/internal/run/rig"
)

// markVariable is inherited by every process that a test starts, however
// deep, so that those it leaves behind can be told from anybody else's.
const markVariable = "NETDYNO_TEST_FAMILY"

// family is the processes of one test.
type family string

func newFamily(t testing.TB) family {
	return family(fmt.Sprintf("%s=%s-%d", markVariable, strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid()))
}

// hosts is this host, whose processes are members when a bench of this test
// starts them.
func (f family) hosts() []rig.Host {
	hosts := rig.Loopback{}.Hosts()
	for i := range hosts {
		hosts[i].Prefix = []string{"env", string(f)}
	}
	return hosts
}

// living returns a line for each member that runs, ourselves left out. A
// zombie has no environment and does not count.
func (f family) living(t testing.TB) []string {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(entries) == 0 {
		t.Fatalf("no processes to be seen: %v", err)
	}
	var lines []string
	for _, path := range entries {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+string(f)+"\x00")) {
			continue // gone meanwhile, or another user's
		}
		pid := filepath.Base(filepath.Dir(path))
		if pid == strconv.Itoa(os.Getpid()) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline")) // gone meanwhile is as good
		lines = append(lines, pid+" "+string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
	}
	return lines
}

// mustEnd fails the test unless every member ends soon: killing is in the
// kernel's hands and takes a moment.
func (f family) mustEnd(t testing.TB) {
	t.Helper()
	const timeout = 30 * time.Second
	var left []string
	for begin := time.Now(); time.Since(begin) < timeout; time.Sleep(10 * time.Millisecond) {
		if left = f.living(t); len(left) == 0 {
			return
		}
	}
	t.Errorf("%d processes outlive the run:\n%s", len(left), strings.Join(left, "\n"))
}

// The search for leftovers must find what is left over.
func TestFamilyFindsItsMembers(t *testing.T) {
	mine := newFamily(t)
	c := exec.Command("sleep", "60")
	c.Env = append(os.Environ(), string(mine))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if found := mine.living(t); len(found) != 1 || !strings.Contains(found[0], "sleep") {
		t.Errorf("found %q, want the one process", found)
	}
	_ = c.Process.Kill() // it lives: nobody has waited for it
	_ = c.Wait()
	mine.mustEnd(t)
}
