package lab

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// orphan starts a process with a session of its own, as daemons have, whose parent has
// ended: no signal to the test's processes reaches it.
func orphan(t *testing.T, l *Lab, host int) (pid int) {
	t.Helper()
	if err := l.Command(host, "setsid", "--fork", "sleep", "3600").Run(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(timeout); ; time.Sleep(pollEvery) {
		for _, p := range l.Processes(t, host) {
			if p.Argv[0] == "sleep" {
				return p.Pid
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("no sleep is among %v", l.Processes(t, host))
		}
	}
}

// alive says whether a process exists that is not merely unwaited for.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func there(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// dying is set for the test's own child, which is killed in the middle of a laboratory.
const dying = "NETDYNO_LAB_DYING"

func TestKilledTestLeavesNothing(t *testing.T) {
	if os.Getenv(dying) != "" {
		l := Hosts(t, 2)
		l.SSH(t)
		fmt.Println("ready", orphan(t, l, 1), l.guard.cmd.Process.Pid, l.dir)
		time.Sleep(timeout)
		t.Fatal("nobody has killed this test")
	}
	Hosts(t, 1) // skips this test where the child would skip
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), dying+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var pid, guard int
	var dir string
	line, _ := bufio.NewReader(stdout).ReadString('\n') // what is missing of it does not parse
	_, err = fmt.Sscan(strings.TrimPrefix(line, "ready "), &pid, &guard, &dir)
	if err == nil && (!alive(pid) || !alive(guard) || !there(dir)) {
		err = errors.New("nothing is there, so that its absence would prove nothing")
	}
	_ = child.Process.Kill() // the error of the next line would show
	_ = child.Wait()         // killed
	if err != nil {
		t.Fatalf("the child said %q: %v", line, err)
	}
	for deadline := time.Now().Add(timeout); alive(pid) || alive(guard) || there(dir); time.Sleep(pollEvery) {
		if time.Now().After(deadline) {
			t.Fatalf("left are: the orphan %v, the guard %v, the directory %v", alive(pid), alive(guard), there(dir))
		}
	}
	// A control group goes when the last process in it has gone.
	groups, err := filepath.Glob("/sys/fs/cgroup/*/" + filepath.Base(dir))
	if err != nil || len(groups) > 0 {
		t.Errorf("control groups %v are left, %v", groups, err)
	}
}
