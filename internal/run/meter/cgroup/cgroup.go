// Package cgroup reads what the kernel knows of the control group of a process: what it has
// used, what it may use, and for how long it stood still for that.
package cgroup

import (
	"os"
	"path"
	"strconv"
	"strings"

	"netdyno/internal/contract"
)

// Reader finds and reads control groups, of version 1 and 2 and of both side by side. The
// zero value is ready; one goroutine may use it.
//
// Source: Linux kernel, Documentation/admin-guide/cgroup-v2.rst; cgroup-v1/memory.rst,
// cpuacct.rst; Documentation/scheduler/sched-bwc.rst.
type Reader struct {
	proc   string // "" for /proc
	mounts []groupMount
	looked bool
}

// groupMount is where a hierarchy can be seen, as far as this process sees it.
type groupMount struct {
	root, at    string   // the group that is mounted, and its directory
	controllers []string // of version 1; nil of version 2
}

// Of reads the control group of a process; nil where the process is in none but the root's,
// or nothing of its group can be seen.
func (g *Reader) Of(pid int) *contract.Group {
	if !g.looked {
		g.looked = true
		text, _ := os.ReadFile(path.Join(g.dir(), "self/mountinfo")) // without it no group is seen
		g.mounts = parseMounts(string(text))
	}
	text, err := os.ReadFile(path.Join(g.dir(), strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return nil
	}
	group := &contract.Group{}
	seen := false
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, m := range g.mounts {
			for _, what := range m.serves(parts[1]) {
				if levels := m.levels(parts[2]); len(levels) > 0 && readers[what](group, levels) {
					group.Name, seen = parts[2], true
				}
			}
		}
	}
	if !seen {
		return nil
	}
	return group
}

func (g *Reader) dir() string {
	if g.proc != "" {
		return g.proc
	}
	return "/proc"
}

// parseMounts reads proc_pid_mountinfo(5).
func parseMounts(text string) []groupMount {
	var all []groupMount
	for line := range strings.Lines(text) {
		before, after, found := strings.Cut(line, " - ")
		own, kind := strings.Fields(before), strings.Fields(after)
		if !found || len(own) < 5 || len(kind) < 3 {
			continue
		}
		m := groupMount{root: unescaped(own[3]), at: unescaped(own[4])}
		switch kind[0] {
		case "cgroup2":
			all = append(all, m)
		case "cgroup":
			m.controllers = strings.Split(kind[2], ",")
			all = append(all, m)
		}
	}
	return all
}

// unescaped undoes the octal form in which mountinfo writes spaces and the like.
func unescaped(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}

// serves returns what a mount tells of a hierarchy, as /proc/PID/cgroup names it.
func (m groupMount) serves(hierarchy string) []string {
	if hierarchy == "" && m.controllers == nil {
		return []string{"v2"}
	}
	var told []string
	for name := range strings.SplitSeq(hierarchy, ",") {
		for _, c := range m.controllers {
			if _, known := readers[c]; known && c == name {
				told = append(told, c)
			}
		}
	}
	return told
}

// levels returns the directories of a group and of those above it, the group's first; none
// where the mount does not show the group. The root of all has no bounds, but a container
// may see its own group as the root.
func (m groupMount) levels(group string) []string {
	below, is := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
	if !is || below != "" && below[0] != '/' || strings.Contains(group, "/..") {
		return nil
	}
	var all []string
	for at := path.Clean("/" + below); ; at = path.Dir(at) {
		if at == "/" && m.root == "/" && !m.bounded() {
			return all
		}
		all = append(all, path.Join(m.at, at))
		if at == "/" {
			return all
		}
	}
}

// noLimit is from where version 1 means none: it writes the largest multiple of a page.
const noLimit = 1 << 60

// bounded tells whether what is mounted is a group that may have bounds. Version 2 has the
// file of a quota in every group but the root of all.
func (m groupMount) bounded() bool {
	most := decimal(textOf(m.at, "memory.limit_in_bytes"))
	return textOf(m.at, "cpu.max") != "" || decimal(textOf(m.at, "cpu.cfs_quota_us")) > 0 || most > 0 && most < noLimit
}

// readers fill in what a controller tells, and report whether it told anything.
var readers = map[string]func(*contract.Group, []string) bool{
	"v2": func(g *contract.Group, levels []string) bool {
		cpu, told := numbersIn(levels[0], "cpu.stat")
		g.CPUNs = cpu["usage_usec"] * 1000
		for i, at := range levels {
			words := strings.Fields(textOf(at, "cpu.max")) // "50000 100000", "max 100000"
			if len(words) == 2 && words[0] != "max" {
				stat := cpu
				if i > 0 {
					stat, _ = numbersIn(at, "cpu.stat")
				}
				tighter(g, contract.Quota{
					AllowedNs: decimal(words[0]) * 1000, PeriodNs: decimal(words[1]) * 1000,
					Periods: stat["nr_periods"], Throttled: stat["nr_throttled"], ThrottledNs: stat["throttled_usec"] * 1000,
				})
			}
			if most := textOf(at, "memory.max"); most != "" && most != "max" {
				events, _ := numbersIn(at, "memory.events")
				smaller(g, decimal(most), decimal(textOf(at, "memory.current")), events["max"])
			}
		}
		g.MemoryBytes = decimal(textOf(levels[0], "memory.current"))
		for _, resource := range []string{"cpu", "memory", "io"} {
			// "some avg10=0.00 avg60=0.00 avg300=0.00 total=4711"
			some, _, _ := strings.Cut(textOf(levels[0], resource+".pressure"), "\n")
			if _, total, found := strings.Cut(some, "total="); found {
				if g.Pressure == nil {
					g.Pressure = map[string]int64{}
				}
				g.Pressure[resource] = decimal(total) * 1000
			}
		}
		return told && (g.CPUNs > 0 || g.MemoryBytes > 0)
	},
	"cpu": func(g *contract.Group, levels []string) bool {
		for _, at := range levels {
			if most := decimal(textOf(at, "cpu.cfs_quota_us")); most > 0 {
				stat, _ := numbersIn(at, "cpu.stat")
				tighter(g, contract.Quota{
					AllowedNs: most * 1000, PeriodNs: decimal(textOf(at, "cpu.cfs_period_us")) * 1000,
					Periods: stat["nr_periods"], Throttled: stat["nr_throttled"], ThrottledNs: stat["throttled_time"],
				})
			}
		}
		return g.Quota != nil
	},
	"cpuacct": func(g *contract.Group, levels []string) bool {
		g.CPUNs = decimal(textOf(levels[0], "cpuacct.usage"))
		return g.CPUNs > 0
	},
	"memory": func(g *contract.Group, levels []string) bool {
		for _, at := range levels {
			if most := decimal(textOf(at, "memory.limit_in_bytes")); most > 0 && most < noLimit {
				smaller(g, most, decimal(textOf(at, "memory.usage_in_bytes")), decimal(textOf(at, "memory.failcnt")))
			}
		}
		g.MemoryBytes = decimal(textOf(levels[0], "memory.usage_in_bytes"))
		return g.MemoryBytes > 0
	},
}

// tighter keeps the quota that allows the least.
func tighter(g *contract.Group, q contract.Quota) {
	if q.PeriodNs > 0 && (g.Quota == nil || q.CPUs() < g.Quota.CPUs()) {
		g.Quota = &q
	}
}

// smaller keeps the limit of memory that leaves the least.
func smaller(g *contract.Group, most, used, met int64) {
	if l := g.MemoryLimit; most > 0 && (l == nil || most-used < l.Bytes-l.UsedBytes) {
		g.MemoryLimit = &contract.MemoryLimit{Bytes: most, UsedBytes: used, Met: met}
	}
}

func textOf(directory, file string) string {
	text, err := os.ReadFile(path.Join(directory, file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// numbersIn reads a file of lines "name number"; false where there is none.
func numbersIn(directory, file string) (map[string]int64, bool) {
	text := textOf(directory, file)
	all := map[string]int64{}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) == 2 {
			all[words[0]] = decimal(words[1])
		}
	}
	return all, text != ""
}

// decimal returns a number that the kernel wrote; 0 for none, and for -1 and "max".
func decimal(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}
