package rig

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
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
		if len(usable) > 0 {
			f.set("cpu.allowed", strconv.Itoa(len(usable)))
		}
	}
	f.steal()
	f.limits()
	f.cgroup()
	f.tasks()
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

// cgroup gathers what the control groups of version 1 and 2 allow, of those of this process
// and above them the least: CPU time, as "quota period" in µs, memory, and tasks.
// Source: Linux kernel, Documentation/admin-guide/cgroup-v2.rst, cgroup-v1.
func (f *facts) cgroup() {
	const none = 1 << 60 // version 1 writes the largest multiple of a page for no limit
	cpus, memory := math.Inf(1), float64(none)
	for _, at := range f.groups("cpu") {
		quota := f.text(at + "cpu.max")
		if quota == "" {
			quota = f.text(at+"cpu.cfs_quota_us") + " " + f.text(at+"cpu.cfs_period_us")
		}
		if share := cpuShare(quota); share < cpus {
			cpus = share
			f.set("cgroup.cpu_max", quota)
		}
	}
	for _, at := range f.groups("memory") {
		limit := cmp.Or(f.text(at+"memory.max"), f.text(at+"memory.limit_in_bytes"))
		if bytes, err := strconv.ParseFloat(limit, 64); err == nil && bytes < memory {
			memory = bytes
			f.set("cgroup.memory_max_bytes", limit)
		}
	}
}

// cpuShare is how many CPUs' time "quota period" allows; without bound for what is no quota.
func cpuShare(text string) float64 {
	words := strings.Fields(text)
	if len(words) != 2 {
		return math.Inf(1)
	}
	quota, err1 := strconv.ParseFloat(words[0], 64)
	period, err2 := strconv.ParseFloat(words[1], 64)
	if err1 != nil || err2 != nil || quota <= 0 || period <= 0 {
		return math.Inf(1)
	}
	return quota / period
}

// groups are the directories of this process's control groups with a controller, its own
// first, then those above. A container may see its own as the uppermost.
func (f *facts) groups(controller string) (all []string) {
	for line := range strings.Lines(f.text("proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || !slices.Contains(strings.Split(parts[1], ","), controller) && parts[1] != "" {
			continue
		}
		top := "sys/fs/cgroup"
		if parts[1] != "" {
			top += "/" + controller
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			all = append(all, path.Join(top, group)+"/")
			if group == "/" {
				break
			}
		}
	}
	return all
}

// tasks gathers how many more threads and processes may begin here: by the control groups,
// and by the limit of a user who is not privileged.
func (f *facts) tasks() {
	least := math.Inf(1)
	keep := func(limit string, used float64, by string) {
		most, err := strconv.ParseFloat(limit, 64)
		if left := max(most-used, 0); err == nil && left < least {
			least = left
			f.set("limits.tasks_left", strconv.Itoa(int(left)))
			f.set("limits.tasks_by", fmt.Sprintf("%s %s, of which %.0f are in use", by, limit, used))
		}
	}
	for _, at := range f.groups("pids") {
		used, _ := strconv.ParseFloat(f.text(at+"pids.current"), 64) // 0 where it is not told
		keep(f.text(at+"pids.max"), used, "pids.max of a control group is")
	}
	status := f.text("proc/self/status")
	held, _ := strconv.ParseUint(value(status, "CapEff", ":"), 16, 64) // none where it is not told
	user, _, _ := strings.Cut(value(status, "Uid", ":"), "\t")
	for line := range strings.Lines(f.text("proc/self/limits")) {
		rest, is := strings.CutPrefix(line, "Max processes")
		if words := strings.Fields(rest); is && len(words) > 0 && words[0] != "unlimited" && user != "0" && held&privileged == 0 {
			keep(words[0], f.threadsOf(user), "ulimit -u is")
		}
	}
}

// privileged are the capabilities, CAP_SYS_ADMIN and CAP_SYS_RESOURCE, for which the kernel
// does not count a user's tasks. Source: Linux kernel, kernel/fork.c, copy_process.
const privileged = 1<<21 | 1<<24

// threadsOf counts a user's threads, as far as they can be seen.
func (f *facts) threadsOf(user string) (sum float64) {
	left := maxProcesses
	for _, entry := range f.names("proc") {
		if _, err := strconv.Atoi(entry); err != nil {
			continue
		}
		if left--; left < 0 {
			break
		}
		status := f.text("proc/" + entry + "/status")
		if own, _, _ := strings.Cut(value(status, "Uid", ":"), "\t"); own == user {
			n, _ := strconv.ParseFloat(value(status, "Threads", ":"), 64) // it may just have ended
			sum += n
		}
	}
	return sum
}

// TasksLeft returns how many more threads and processes this process and its children may
// begin, and which limit says so; false where there is none.
func TasksLeft() (left int, by string, limited bool) {
	f := facts{root: "/", values: map[string]string{}}
	f.tasks()
	left, err := strconv.Atoi(f.values["limits.tasks_left"])
	return left, f.values["limits.tasks_by"], err == nil
}
