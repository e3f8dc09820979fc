package rig

import (
	"slices"
	"strconv"
	"strings"
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
