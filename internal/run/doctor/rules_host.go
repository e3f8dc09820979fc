package doctor

import (
	"fmt"
)

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
	deepIdle     = 50  // µs to wake; the common C1 takes 1 to 2, C6 over 100
)

// hostRules are about the CPUs, the memory and who else is there.
var hostRules = []rule{
	{
		about: "cpu.governor", severity: Noise,
		finds:  told("cpu.governor", "the frequency governor is %", "performance"),
		why:    "the clock frequency follows the load with a delay, so an arm that sleeps more runs at a lower frequency",
		source: "Linux kernel, Documentation/admin-guide/pm/cpufreq.rst; google/benchmark, docs/reducing_variance.md",
		fix:    "cpupower frequency-set -g performance",
	},
	{
		about: "cpu.boost", severity: Noise,
		finds:  is("cpu.boost", "on", "the clock may rise above its nominal frequency"),
		why:    "how far it rises depends on temperature and on the load of other cores, which drift during a run",
		source: "google/benchmark, docs/reducing_variance.md",
		fix:    "echo 0 > /sys/devices/system/cpu/cpufreq/boost (intel_pstate: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo)",
	},
	{
		about: "cpu.topology", severity: Noise,
		finds: func(k known) string {
			return when(k["cpu.topology"] != "", "hardware threads share cores (%s)", shorten(k["cpu.topology"]))
		},
		why:    "a server and a client on two threads of one core slow each other down, although their CPU sets are disjoint",
		source: "Linux kernel, Documentation/admin-guide/cputopology.rst",
		fix:    "put server and clients on different cores, or echo off > /sys/devices/system/cpu/smt/control",
	},
	{
		about: "cpu.count", severity: Distort,
		finds:  func(k known) string { return k.fewCPUs(1, leastCPUs) },
		why:    "server and client share it, so CPU time of one delays the other",
		source: "docs/specification.md, section 5",
		fix:    "measure on a host with at least four CPUs, or on two hosts",
	},
	{
		about: "cpu.count", severity: Note,
		finds:  func(k known) string { return k.fewCPUs(leastCPUs, roomyCPUs) },
		why:    "interrupts, the meter and the bench run on the CPUs that are measured",
		source: "docs/specification.md, section 5",
		fix:    "measure on a host with at least four CPUs, or on two hosts",
	},
	{
		about: "cgroup.cpu_max", severity: Distort,
		finds:  told("cgroup.cpu_max", "the container's CPU time is limited (cpu.max % µs)"),
		why:    "when the quota is used up, every thread stops until the next period: pauses of up to 100 ms that no arm causes",
		source: "Linux kernel, Documentation/admin-guide/cgroup-v2.rst, cpu.max",
		fix:    "give the container whole CPUs (a cpuset) instead of a quota",
	},
	{
		about: "hypervisor", severity: Noise,
		finds:  told("hypervisor", "the host is a virtual machine (%)"),
		why:    "other guests share its CPUs, and VM exits make system calls, timers and interrupts more expensive than on bare metal",
		source: "docs/specification.md, section 7",
		fix:    "compare within one run only, with enough blocks; measure absolute cost on bare metal",
	},
	{
		about: "steal.share", severity: Noise,
		finds: func(k known) string {
			share, ok := k.number("steal.share")
			return when(ok && share > mostSteal, "%.1f %% of all CPU time since boot was stolen", share*100)
		},
		why:    "the hypervisor ran another guest while a process here was ready to run",
		source: "proc_stat(5), steal",
		fix:    "use a dedicated instance, or measure when the machine is quieter",
	},
	{
		about: "load.average", severity: Noise,
		finds: func(k known) string {
			load, ok1 := k.number("load.average")
			cpus, ok2 := k.number("cpu.count")
			return when(ok1 && ok2 && load > mostLoad*cpus, "the load average is %.2f on %.0f CPUs", load, cpus)
		},
		why:    "other programs take CPU time, cache and memory bandwidth from the arms, and from some more than from others",
		source: "proc_loadavg(5)",
		fix:    "stop the programs that top shows, then wait a minute",
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
		why:    "each reading of the clock becomes a system call of up to several microseconds, and every exchange needs two",
		source: "vdso(7); Linux kernel, Documentation/timers/timekeeping.rst",
		fix:    "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, if it is available and stable",
	},
	{
		about: "thp", severity: Noise,
		finds:  is("thp", "always", "transparent huge pages are always on"),
		why:    "the kernel compacts memory at any time, which shows as pauses and as additional RSS",
		source: "Linux kernel, Documentation/admin-guide/mm/transhuge.rst",
		fix:    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
	},
	{
		about: "cpu.idle_exit_us", severity: Noise,
		finds: func(k known) string {
			us, ok := k.number("cpu.idle_exit_us")
			return when(ok && us >= deepIdle, "an idle CPU takes up to %.0f µs to wake (%s)", us, shorten(k["cpu.idle_states"]))
		},
		why:    "an arm that waits more sleeps in deeper states, and each of its exchanges waits for the wake-up",
		source: "Linux kernel, Documentation/admin-guide/pm/cpuidle.rst; tuned, profile network-latency",
		fix:    fmt.Sprintf("cpupower idle-set --disable-by-latency %d", deepIdle),
	},
	{
		about: "host.daemons", severity: Noise,
		finds: func(k known) string {
			meddles := func(name string) bool { return name != "tuned" } // which sets a profile once
			return k.listed("host.daemons", "running: ", meddles)
		},
		why:    "they move interrupts or pages, or change clock frequencies, during the run, so that blocks differ",
		source: "irqbalance(1); ESnet fasterdata, 100G Network Tuning (the correct cores for interrupts and processes)",
		fix:    "systemctl stop irqbalance numad ksmtuned thermald tlp power-profiles-daemon; then set the interrupts' CPUs by hand",
	},
}
