package doctor

import (
	"fmt"
	"strconv"
	"strings"
)

// rule is one line of the doctor's knowledge. finds returns what it found, or
// "" when the host is fine or does not tell.
type rule struct {
	about    string
	severity Severity
	finds    func(known) string
	why      string
	source   string
	fix      string
}

// The thresholds below which a host hampers netdyno's own studies, whose
// largest has 10,000 connections and accepts them in bursts.
const (
	leastBacklog = 4096
	leastFiles   = 20_000
	leastPorts   = 20_000
	leastCPUs    = 2
	roomyCPUs    = 4
	mostSteal    = 0.01
	mostLoad     = 0.5 // runnable processes per CPU
)

var rules = []rule{
	{
		about: "cpu.governor", severity: Noise,
		finds: func(k known) string {
			if g := k["cpu.governor"]; g != "" && g != "performance" {
				return "the frequency governor is " + g
			}
			return ""
		},
		why:    "the clock follows the load with a delay, so an arm that sleeps more runs slower for it",
		source: "Linux kernel, Documentation/admin-guide/pm/cpufreq.rst; google/benchmark, docs/reducing_variance.md",
		fix:    "cpupower frequency-set -g performance",
	},
	{
		about: "cpu.boost", severity: Noise,
		finds: func(k known) string {
			if k["cpu.boost"] == "on" {
				return "the clock may rise above its nominal frequency"
			}
			return ""
		},
		why:    "how far it rises depends on temperature and on the neighbours' load, which drift during a run",
		source: "google/benchmark, docs/reducing_variance.md",
		fix:    "echo 0 > /sys/devices/system/cpu/cpufreq/boost (intel_pstate: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo)",
	},
	{
		about: "cpu.topology", severity: Noise,
		finds: func(k known) string {
			if groups := k["cpu.topology"]; groups != "" {
				return "hardware threads share cores (" + shorten(groups) + ")"
			}
			return ""
		},
		why:    "a server and a client on siblings slow each other down although their CPU sets are disjoint",
		source: "Linux kernel, Documentation/admin-guide/cputopology.rst",
		fix:    "seat both ends on different cores, or echo off > /sys/devices/system/cpu/smt/control",
	},
	{
		about: "cpu.count", severity: Distort,
		finds:  func(k known) string { return k.below("cpu.count", leastCPUs, "there is % CPU") },
		why:    "server and client share it, so each one's CPU cost shows in the other's latency",
		source: "METHOD, section 5",
		fix:    "measure on a host with at least four CPUs, or on two hosts",
	},
	{
		about: "cpu.count", severity: Note,
		finds: func(k known) string {
			if n, _ := k.number("cpu.count"); n >= leastCPUs {
				return k.below("cpu.count", roomyCPUs, "there are % CPUs")
			}
			return ""
		},
		why:    "interrupts, the meter and the bench run on the CPUs that are measured",
		source: "METHOD, section 5",
		fix:    "measure on a host with at least four CPUs, or on two hosts",
	},
	{
		about: "cgroup.cpu_max", severity: Distort,
		finds: func(k known) string {
			if quota := k["cgroup.cpu_max"]; quota != "" {
				return "the container's CPU time is limited (cpu.max " + quota + " µs)"
			}
			return ""
		},
		why:    "when the quota is used up, every thread stops until the next period: stalls of up to 100 ms that are nobody's latency",
		source: "Linux kernel, Documentation/admin-guide/cgroup-v2.rst, cpu.max",
		fix:    "give the container whole CPUs (a cpuset) instead of a quota",
	},
	{
		about: "hypervisor", severity: Noise,
		finds: func(k known) string {
			if h := k["hypervisor"]; h != "" {
				return "the host is a virtual machine (" + h + ")"
			}
			return ""
		},
		why:    "its CPUs are shared with strangers, and exits make system calls, timers and interrupts dearer than on metal",
		source: "METHOD, section 7",
		fix:    "compare within one run only, with enough blocks; measure absolute cost on metal",
	},
	{
		about: "steal.share", severity: Noise,
		finds: func(k known) string {
			if share, ok := k.number("steal.share"); ok && share > mostSteal {
				return fmt.Sprintf("%.1f %% of all CPU time since boot was stolen", share*100)
			}
			return ""
		},
		why:    "the hypervisor ran somebody else while a process here wanted to run",
		source: "proc_stat(5), steal",
		fix:    "use a dedicated instance or a quieter hour",
	},
	{
		about: "load.average", severity: Noise,
		finds: func(k known) string {
			load, ok1 := k.number("load.average")
			cpus, ok2 := k.number("cpu.count")
			if ok1 && ok2 && load > mostLoad*cpus {
				return fmt.Sprintf("the load average is %.2f on %.0f CPUs", load, cpus)
			}
			return ""
		},
		why:    "other work takes CPU time, caches and memory bandwidth from the arms, and not evenly",
		source: "proc_loadavg(5)",
		fix:    "stop what shows in top, then wait a minute",
	},
	{
		about: "clocksource", severity: Distort,
		finds: func(k known) string {
			switch c := k["clocksource"]; c {
			case "", "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page":
				return ""
			default:
				return "the clock source is " + c
			}
		},
		why:    "each reading of the clock becomes a system call of up to microseconds, and every exchange takes two",
		source: "vdso(7); Linux kernel, Documentation/timers/timekeeping.rst",
		fix:    "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, if it is available and stable",
	},
	{
		about: "thp", severity: Noise,
		finds: func(k known) string {
			if k["thp"] == "always" {
				return "transparent huge pages are always on"
			}
			return ""
		},
		why:    "the kernel compacts memory when it likes, which shows as stalls and as RSS that nobody asked for",
		source: "Linux kernel, Documentation/admin-guide/mm/transhuge.rst",
		fix:    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
	},
	{
		about: "net.somaxconn", severity: Distort,
		finds:  func(k known) string { return k.below("net.somaxconn", leastBacklog, "net.core.somaxconn is %") },
		why:    "it bounds every listen backlog; connections beyond it are dropped and come again after 1 s",
		source: "listen(2); Linux kernel, Documentation/networking/ip-sysctl.rst",
		fix:    "sysctl -w net.core.somaxconn=" + strconv.Itoa(leastBacklog),
	},
	{
		about: "limits.nofile_hard", severity: Distort,
		finds: func(k known) string {
			return k.below("limits.nofile_hard", leastFiles, "a process may open % files")
		},
		why:    "each connection is a descriptor in the client and another in the server",
		source: "getrlimit(2), RLIMIT_NOFILE",
		fix:    fileLimitFix(leastFiles),
	},
	{
		about: "net.port_range", severity: Distort,
		finds: func(k known) string {
			if n := k.ports(); k["net.port_range"] != "" && n < leastPorts {
				return fmt.Sprintf("there are %d ephemeral ports (%s)", n, k["net.port_range"])
			}
			return ""
		},
		why:    "each connection from one address takes one, and the search slows as they run out",
		source: "ip(7), ip_local_port_range",
		fix:    `sysctl -w net.ipv4.ip_local_port_range="1024 65535", or several source addresses`,
	},
	{
		about: "mitigations", severity: Note,
		finds: func(k known) string {
			if strings.Contains(" "+k["kernel.cmdline"]+" ", " mitigations=off ") {
				return "the kernel's CPU mitigations are off"
			}
			return ""
		},
		why:    "system calls are cheaper here than on most servers, which flatters arms that make many",
		source: "Linux kernel, Documentation/admin-guide/kernel-parameters.txt, mitigations=",
	},
}

// shorten cuts a list of a large machine.
func shorten(text string) string {
	const keep = 40
	if len(text) > keep {
		return text[:keep] + " …"
	}
	return text
}

func fileLimitFix(files int) string {
	return fmt.Sprintf("ulimit -n %d; for good, \"* - nofile %d\" in /etc/security/limits.conf, or LimitNOFILE=%d in the service's unit",
		files, files, files)
}
