package doctor

// profileRules are about what stands in the way of profiles (--profile). None of it
// touches another figure.
var profileRules = []rule{
	{
		about: "perf.path", severity: Note,
		finds: func(k known) string {
			if k["perf.path"] == "none" {
				return "perf is not installed"
			}
			return ""
		},
		why:    "probes then profile Go workers alone, and nothing of the kernel; C++ and foreign programs have no profile",
		source: "docs/studies.md, Probes",
		fix:    "apt-get install linux-perf (Debian), linux-tools-generic (Ubuntu), or dnf install perf (Fedora)",
	},
	{
		about: "kernel.perf_event_paranoid", severity: Note,
		finds: func(k known) string {
			switch level := k["kernel.perf_event_paranoid"]; k["perf.sees"] {
			case "nothing":
				return "perf may sample nothing (kernel.perf_event_paranoid is " + level + ")"
			case "programs":
				return "perf may not see into the kernel (kernel.perf_event_paranoid is " + level + ")"
			}
			return ""
		},
		why:    "most of a transport's CPU time is in the kernel, so a profile without it hides where the time goes",
		source: "Linux kernel, Documentation/admin-guide/sysctl/kernel.rst, perf_event_paranoid",
		fix:    "sysctl -w kernel.perf_event_paranoid=1, or give netdyno CAP_PERFMON",
	},
	{
		about: "kernel.kptr_restrict", severity: Note,
		finds: func(k known) string {
			if k["perf.kernel_names"] == "no" && k["perf.sees"] == "programs and kernel" {
				return "the names of the kernel's functions are hidden (kernel.kptr_restrict is " + k["kernel.kptr_restrict"] + ")"
			}
			return ""
		},
		why:    "the kernel's part of a profile is then one activity, undivided",
		source: "Linux kernel, Documentation/admin-guide/sysctl/kernel.rst, kptr_restrict",
		fix:    "sysctl -w kernel.kptr_restrict=0 kernel.perf_event_paranoid=1",
	},
}
