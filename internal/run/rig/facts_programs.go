package rig

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/input"
)

// watchedModules are the kernel's that stand in the way of packages, or that
// make a transport possible.
var watchedModules = []string{
	"arp_tables", "br_netfilter", "ebtables", "ip6_tables", "ip_tables", "ip_vs", "nf_conntrack", "nf_nat", "nf_tables",
	"nv_peer_mem", "nvidia_peermem", "rdma_rxe", "siw", "smc", "tcp_bbr", "tls",
}

// watchedDaemons change settings while a measurement runs.
var watchedDaemons = []string{"irqbalance", "ksmtuned", "numad", "power-profiles-", "thermald", "tlp", "tuned"}

// maxProcesses bounds how many are looked at for a daemon.
const maxProcesses = 20_000

// programs gathers which modules are loaded and which daemons run. What is
// built into the kernel is no module and not told here.
func (f *facts) programs() {
	var loaded []string
	for line := range strings.Lines(f.text("proc/modules")) {
		if name, _, _ := strings.Cut(line, " "); slices.Contains(watchedModules, name) {
			loaded = addFact(loaded, name)
		}
	}
	slices.Sort(loaded)
	f.set("kernel.modules", strings.Join(loaded, " "))

	var running []string
	left := maxProcesses
	for _, entry := range f.names("proc") {
		if _, err := strconv.Atoi(entry); err != nil {
			continue
		}
		if left--; left < 0 {
			break
		}
		if name := f.text("proc/" + entry + "/comm"); slices.Contains(watchedDaemons, name) {
			running = addFact(running, name)
		}
	}
	slices.Sort(running)
	f.set("host.daemons", strings.Join(running, " "))
}

// programDirectories are where perf is looked for beside PATH, which a service may
// not have.
var programDirectories = []string{"/usr/local/bin", "/usr/bin", "/usr/sbin", "/bin"}

// perf gathers whether a profiler is here, and what the kernel lets it see of a process
// of the same user, by trying: a setting, capabilities, a filter of system calls and a
// security module all may forbid it. A kernel that has no perf events tells nothing.
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
	if f.kernel == nil {
		return
	}
	all, none := f.kernel.samples(true), f.kernel.samples(false)
	switch {
	case all == nil:
		f.set("perf.sees", "programs and kernel")
	case none == nil:
		f.set("perf.sees", "programs")
	default:
		f.set("perf.sees", "nothing")
	}
	if none != nil {
		f.set("perf.refused", none.Error())
	}
}

// HashFile returns the SHA-256 of a file of this host, in hexadecimal:
// records name a program by this hash, and a host that receives a program
// compares the hash.
func HashFile(path string) (string, error) {
	f, err := input.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
