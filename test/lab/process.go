package lab

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is a process that was found on a host. Its id is the machine's.
type Process struct {
	Pid  int
	Argv []string
}

// String returns "1234 sleep 60".
func (p Process) String() string { return fmt.Sprintf("%d %s", p.Pid, strings.Join(p.Argv, " ")) }

// Processes returns every process on a host's network, the laboratory's own
// daemons included; ended ones that nobody has waited for are not.
func (l *Lab) Processes(t testing.TB, host int) []Process {
	t.Helper()
	home, err := l.spaces[host].net.Stat()
	if err != nil {
		t.Fatalf("list the processes of %s: %v", name(host), err)
	}
	networks, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil {
		t.Fatalf("list the processes of %s: %v", name(host), err)
	}
	var found []Process
	for _, network := range networks {
		there, err := os.Stat(network)
		if err != nil || !os.SameFile(home, there) {
			continue // it has just ended, or runs elsewhere
		}
		if p, ok := processOf(filepath.Dir(filepath.Dir(network))); ok {
			found = append(found, p)
		}
	}
	return found
}

// Running returns all of the machine's processes whose command line has a part in it. One
// that has ended has no command line.
func Running(t testing.TB, part string) []Process {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []Process
	for _, dir := range dirs {
		if p, ok := processOf(dir); ok && strings.Contains(strings.Join(p.Argv, "\x00"), part) {
			found = append(found, p)
		}
	}
	return found
}

// processOf reads a process's directory in /proc; false when it has just ended.
func processOf(dir string) (Process, bool) {
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	pid, number := strconv.Atoi(filepath.Base(dir))
	return Process{Pid: pid, Argv: strings.Split(string(bytes.TrimSuffix(line, []byte{0})), "\x00")}, err == nil && number == nil
}

// kill kills, on one host, every process of a program, named by its path, and
// waits until the program is gone from it. It returns how many there were.
func (l *Lab) kill(t testing.TB, host int, program string) int {
	t.Helper()
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		t.Fatalf("kill %s on %s: %v", program, name(host), err)
	}
	killed := map[int]bool{}
	for deadline := time.Now().Add(timeout); ; time.Sleep(pollEvery) {
		running := 0
		for _, p := range l.Processes(t, host) {
			file, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.Pid))
			if err != nil || strings.TrimSuffix(file, " (deleted)") != program {
				continue
			}
			running++
			killed[p.Pid] = true
			_ = syscall.Kill(p.Pid, syscall.SIGKILL) // it may be ending by itself
		}
		if running == 0 {
			return len(killed)
		}
		if time.Now().After(deadline) {
			t.Fatalf("kill %s on %s: %d still run after %v", program, name(host), running, timeout)
		}
	}
}
