package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
)

// guarding waits until the test has closed our stdin, by its end or by its
// death; then kills what runs on the networks given as arguments, again and
// again until nothing does, and removes the laboratory's control groups and directory.
const guarding = `
dir=$1; shift
cat >/dev/null
for try in $(seq 500); do
	pids=$(find /proc/[0-9]*/ns/net -maxdepth 0 "$@" 2>/dev/null | cut -d/ -f3)
	[ -z "$pids" ] && break
	kill -KILL $pids 2>/dev/null
	sleep 0.01
done
for try in $(seq 500); do
	groups=$(find /sys/fs/cgroup -depth -type d -path "*/${dir##*/}*" 2>/dev/null)
	[ -z "$groups" ] && break
	rmdir $groups 2>/dev/null
done
rm -rf "$dir"
`

// guard is a process outside the laboratory that outlives the test and clears up. It
// holds the namespaces open, so that their numbers are not given to others before the
// clearing is done.
type guard struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	held  []*os.File
}

func startGuard(dir string, spaces []space) (*guard, error) {
	g := &guard{}
	var match []string
	for _, s := range spaces {
		var status syscall.Stat_t
		if err := syscall.Fstat(int(s.net.Fd()), &status); err != nil {
			return nil, fmt.Errorf("guard the laboratory: %w", err)
		}
		if len(match) > 0 {
			match = append(match, "-o")
		}
		match = append(match, "-lname", `net:\[`+strconv.FormatUint(status.Ino, 10)+`\]`)
		g.held = append(g.held, s.net, s.uts)
	}
	g.cmd = exec.Command("sh", slices.Concat([]string{"-c", guarding, "lab-guard", dir, "("}, match, []string{")"})...)
	g.cmd.ExtraFiles = g.held
	g.cmd.Dir = "/"
	// Its own group: an interrupt from the terminal is for the test alone.
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if g.stdin, err = g.cmd.StdinPipe(); err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("guard the laboratory: %w", err)
	}
	return g, nil
}

// path names a held namespace for other programs to enter.
func (g *guard) path(namespace *os.File) string {
	const firstExtra = 3
	return fmt.Sprintf("/proc/%d/fd/%d", g.cmd.Process.Pid, firstExtra+slices.Index(g.held, namespace))
}

// finish has the guard clear up now, and waits for it.
func (g *guard) finish() error {
	return errors.Join(g.stdin.Close(), g.cmd.Wait())
}
