package rig

import (
	"os"
	"path/filepath"
	"strconv"
)

// Capabilities by their numbers, as capabilities(7) has them.
const (
	capSysAdmin = 21
	capSyslog   = 34
	capPerfmon  = 38
)

// programDirectories are where perf is looked for beside PATH, which a service may
// not have.
var programDirectories = []string{"/usr/local/bin", "/usr/bin", "/usr/sbin", "/bin"}

// perf gathers whether a profiler is here, and what the kernel lets it see of a process
// of the same user. A kernel that has no perf events tells nothing.
func (f *facts) perf() {
	paranoid, err := strconv.Atoi(f.text("proc/sys/kernel/perf_event_paranoid"))
	if err != nil {
		return
	}
	f.set("perf.path", "none")
	for _, directory := range append(filepath.SplitList(os.Getenv("PATH")), programDirectories...) {
		file := filepath.Join(directory, "perf")
		if info, err := os.Stat(filepath.Join(f.root, file)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			f.set("perf.path", file)
			break
		}
	}
	f.set("kernel.perf_event_paranoid", strconv.Itoa(paranoid))
	restrict := f.text("proc/sys/kernel/kptr_restrict")
	f.set("kernel.kptr_restrict", restrict)

	held, _ := strconv.ParseUint(value(f.text("proc/self/status"), "CapEff", ":"), 16, 64) // none where it is not told
	has := func(capability int) bool { return held>>capability&1 == 1 }
	switch admitted := has(capSysAdmin) || has(capPerfmon); {
	case admitted || paranoid <= 1:
		f.set("perf.sees", "programs and kernel")
	case paranoid == 2:
		f.set("perf.sees", "programs")
	default:
		f.set("perf.sees", "nothing")
	}
	named := restrict == "0" && (paranoid <= 1 || has(capSyslog)) || restrict == "1" && has(capSyslog)
	f.set("perf.kernel_names", map[bool]string{true: "yes", false: "no"}[named])
}
