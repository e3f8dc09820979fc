package rig

import (
	"fmt"
	"strconv"
	"strings"

	"netdyno/internal/run/cpuset"
)

// host gathers memory, limits, load and the operating system.
func (f *facts) host() {
	f.set("os.release", strings.Trim(value(f.text("etc/os-release"), "PRETTY_NAME", "="), `"`))
	if nodes, err := cpuset.Parse(f.text("sys/devices/system/node/online")); err == nil && len(nodes) > 0 {
		f.set("numa.nodes", strconv.Itoa(len(nodes)))
		var cpus []string
		for _, node := range nodes {
			if list := f.text(fmt.Sprintf("sys/devices/system/node/node%d/cpulist", node)); list != "" {
				cpus = append(cpus, fmt.Sprintf("%d: %s", node, list))
			}
		}
		f.set("numa.cpus", strings.Join(cpus, "; "))
	}
	f.memory()
	f.set("thp", chosen(f.text("sys/kernel/mm/transparent_hugepage/enabled")))
	if load := strings.Fields(f.text("proc/loadavg")); len(load) > 0 {
		f.set("load.average", load[0])
	}
	if usable, err := cpuset.Parse(value(f.text("proc/self/status"), "Cpus_allowed_list", ":")); err == nil {
		f.set("cpu.usable", cpuset.Format(usable))
	}
	f.steal()
	f.limits()
	f.cgroup()
}

// memory gathers the host's memory.
func (f *facts) memory() {
	kib, _, found := strings.Cut(value(f.text("proc/meminfo"), "MemTotal", ":"), " kB")
	if n, err := strconv.ParseInt(kib, 10, 64); found && err == nil {
		f.set("memory.total_bytes", strconv.FormatInt(n<<10, 10))
	}
}

// chosen is the word in brackets of a list of choices.
func chosen(text string) string {
	_, rest, found := strings.Cut(text, "[")
	word, _, closed := strings.Cut(rest, "]")
	if !found || !closed {
		return ""
	}
	return word
}

// steal is the share of all CPU time since boot that the hypervisor gave to
// others.
func (f *facts) steal() {
	line, _, _ := strings.Cut(f.text("proc/stat"), "\n")
	fields := strings.Fields(line)
	// proc_stat(5): cpu user nice system idle iowait irq softirq steal; guest
	// time, which follows, is already in user.
	const steal = 8
	if len(fields) <= steal || fields[0] != "cpu" {
		return
	}
	var ticks [steal + 1]float64
	var total float64
	for i := 1; i <= steal; i++ {
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return
		}
		ticks[i] = n
		total += n
	}
	if total > 0 {
		f.set("steal.share", fmt.Sprintf("%.4f", ticks[steal]/total))
	}
}

// limits are those of netdyno's own process. Go raises the soft limit of
// files to the hard one in its own processes and hands the former value to its
// children; workers raise theirs as well.
func (f *facts) limits() {
	for line := range strings.Lines(f.text("proc/self/limits")) {
		if rest, found := strings.CutPrefix(line, "Max open files"); found {
			if fields := strings.Fields(rest); len(fields) >= 2 {
				f.set("limits.nofile_soft", fields[0])
				f.set("limits.nofile_hard", fields[1])
			}
		}
		if rest, found := strings.CutPrefix(line, "Max locked memory"); found {
			if fields := strings.Fields(rest); len(fields) >= 2 {
				f.set("limits.memlock_soft", fields[0])
			}
		}
	}
}

// cgroup gathers the quota that a container may have: CPU time, as
// "quota period" in µs, and memory. Source: Linux kernel,
// Documentation/admin-guide/cgroup-v2.rst.
func (f *facts) cgroup() {
	for line := range strings.Lines(f.text("proc/self/cgroup")) {
		path, found := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !found {
			continue
		}
		directory := "sys/fs/cgroup" + path + "/"
		if quota := f.text(directory + "cpu.max"); !strings.HasPrefix(quota, "max") {
			f.set("cgroup.cpu_max", quota)
		}
		if limit := f.text(directory + "memory.max"); limit != "max" {
			f.set("cgroup.memory_max_bytes", limit)
		}
	}
}
