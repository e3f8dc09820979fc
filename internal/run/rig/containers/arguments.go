package containers

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"netdyno/internal/run/cpuset"
)

// arguments run container i, in which some of this host's files are mounted.
func (r *Rig) arguments(i int, mounted []string) []string {
	argv := []string{
		"run", "-i", "--rm", "--pull=never", "--log-driver=none", "--name=" + r.nameOf(i), "--network=" + r.networkOf(i),
		// The filter of system calls has none of io_uring's, and is asked at every call.
		"--security-opt=seccomp=unconfined",
		"--security-opt=label=disable", // what is mounted keeps its labels
		"--tmpfs=/tmp",
	}
	argv = slices.Concat(argv, ulimits(), mounted)
	if r.options.CPUs > 0 {
		argv = append(argv, "--cpuset-cpus="+cpuset.Format(r.hosts[i].CPUs))
	}
	if r.options.Quota != "" {
		argv = append(argv, "--cpus="+r.options.Quota)
	}
	if r.options.MemoryBytes > 0 {
		argv = append(argv, fmt.Sprintf("--memory=%d", r.options.MemoryBytes))
	}
	return append(argv, r.tag(), "cat")
}

// ulimits are our own, as far as may be had: what podman takes by itself can be more than
// it may set, and descriptors fewer than thousands of connections need.
func ulimits() []string {
	const mostProcesses = 32768 // podman lowers its own to that
	var argv []string
	for _, l := range []struct {
		name   string
		number int
		most   uint64
	}{{"nofile", unix.RLIMIT_NOFILE, 1 << 20}, {"nproc", unix.RLIMIT_NPROC, mostProcesses}} {
		var own unix.Rlimit
		if unix.Getrlimit(l.number, &own) == nil {
			n := min(own.Max, l.most)
			argv = append(argv, fmt.Sprintf("--ulimit=%s=%d:%d", l.name, n, n))
		}
	}
	return argv
}
