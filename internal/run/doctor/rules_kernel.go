package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// kernelRules are about the kernel's settings and limits.
var kernelRules = []rule{
	{
		about: "net.somaxconn", severity: Distort,
		finds:  func(k known) string { return k.below("net.somaxconn", leastBacklog, "net.core.somaxconn is %") },
		why:    "it limits every listen backlog; connections beyond it are dropped and tried again after 1 s",
		source: "listen(2); Linux kernel, Documentation/networking/ip-sysctl.rst",
		fix:    "sysctl -w net.core.somaxconn=" + strconv.Itoa(leastBacklog),
	},
	{
		about: "limits.nofile_hard", severity: Distort,
		finds: func(k known) string {
			return k.below("limits.nofile_hard", leastFiles, "a process may open % files")
		},
		why:    "each connection needs a descriptor in the client and another in the server",
		source: "getrlimit(2), RLIMIT_NOFILE",
		fix:    fileLimitFix(leastFiles),
	},
	{
		about: "net.port_range", severity: Distort,
		finds: func(k known) string {
			n := k.ports()
			return when(k["net.port_range"] != "" && n < leastPorts, "there are %d ephemeral ports (%s)", n, k["net.port_range"])
		},
		why:    "each connection from one address needs a port, and finding a free one takes longer as they run out",
		source: "ip(7), ip_local_port_range",
		fix:    `sysctl -w net.ipv4.ip_local_port_range="1024 65535", or several source addresses`,
	},
	{
		about: "net.conntrack_max", severity: Distort,
		finds: func(k known) string {
			return k.below("net.conntrack_max", leastTracked, "the kernel tracks at most % connections")
		},
		why:    "when the table is full packets are dropped, and each closed connection stays in it for up to 120 s",
		source: "Linux kernel, Documentation/networking/nf_conntrack-sysctl.rst, nf_conntrack_max",
		fix:    fmt.Sprintf("sysctl -w net.netfilter.nf_conntrack_max=%d", 4*leastTracked),
	},
	{
		about: "kernel.modules", severity: Note,
		finds: func(k known) string {
			filter := func(name string) bool { return slices.Contains(packetFilters, name) }
			return k.listed("kernel.modules", "packets may be filtered: ", filter)
		},
		why:    "every packet is checked against every rule and, with conntrack, looked up in its table: CPU time that is not counted for any worker",
		source: "Linux kernel, Documentation/networking/nf_conntrack-sysctl.rst; nft(8)",
		fix:    "nft list ruleset; then, on the data network only, a rule for notrack and accept before all others",
	},
	{
		about: "net.tcp_rmem", severity: Note,
		finds:  func(k known) string { return k.short("net.tcp_rmem", "a TCP receive buffer") },
		why:    "one connection cannot have more than this in flight; on links with a longer delay the limit is then receive-window",
		source: "Linux kernel, Documentation/networking/ip-sysctl.rst, tcp_rmem; ESnet fasterdata, Linux host tuning",
		fix:    `sysctl -w net.ipv4.tcp_rmem="4096 131072 67108864"`,
	},
	{
		about: "net.tcp_wmem", severity: Note,
		finds:  func(k known) string { return k.short("net.tcp_wmem", "a TCP send buffer") },
		why:    "one connection cannot have more than this in flight; on links with a longer delay the limit is then send-buffer",
		source: "Linux kernel, Documentation/networking/ip-sysctl.rst, tcp_wmem; ESnet fasterdata, Linux host tuning",
		fix:    `sysctl -w net.ipv4.tcp_wmem="4096 65536 67108864"`,
	},
}

// packetFilters are the modules that have packets pass through rules.
var packetFilters = []string{"arp_tables", "br_netfilter", "ebtables", "ip6_tables", "ip_tables", "ip_vs", "nf_nat", "nf_tables"}

const (
	// leastTracked holds 20,000 connections and as many just closed.
	leastTracked = 65_536
	// farAway is the round trip in s over which one connection should be able to
	// fill the card: that of a data centre under load, or of a metropolitan network.
	farAway = 1e-3
)

// short returns text about a buffer, in bytes the last number of the fact, that
// holds less than what the fastest card sends in a round trip.
func (k known) short(key, text string) string {
	fields := strings.Fields(k[key])
	fastest := 0.0
	for _, name := range k.cards() {
		fastest = max(fastest, k.speed(name))
	}
	if len(fields) == 0 || fastest < fastCard {
		return ""
	}
	bytes, err := strconv.ParseFloat(fields[len(fields)-1], 64)
	if needed := fastest * 1e6 / 8 * farAway; err == nil && bytes < needed {
		return fmt.Sprintf("%s holds %s, while %.0f Gbit/s over 1 ms are %s",
			text, quantity.FormatBytes(bytes), fastest/1000, quantity.FormatBytes(needed))
	}
	return ""
}

// profileRules are about what stands in the way of profiles (--profile). None of it
// touches another figure.
var profileRules = []rule{
	{
		about: "perf.path", severity: Note,
		finds:  is("perf.path", "none", "perf is not installed"),
		why:    "probes then profile Go workers alone, and nothing of the kernel; C++ and foreign programs have no profile",
		source: "docs/studies.md, Probes",
		fix:    "apt-get install linux-perf (Debian), linux-tools-generic (Ubuntu), or dnf install perf (Fedora)",
	},
	{
		about: "kernel.perf_event_paranoid", severity: Note,
		finds: func(k known) string {
			switch k["perf.sees"] {
			case "nothing":
				return "perf may sample nothing (" + perfRefusal(k) + ")"
			case "programs":
				return "perf may not see into the kernel (" + perfRefusal(k) + ")"
			}
			return ""
		},
		why:    "most of a transport's CPU time is in the kernel, so a profile without it hides where the time goes",
		source: "Linux kernel, Documentation/admin-guide/sysctl/kernel.rst, perf_event_paranoid",
		fix:    "sysctl -w kernel.perf_event_paranoid=1, or give netdyno CAP_PERFMON; a container also needs perf_event_open in its filter of system calls",
	},
}

// perfRefusal says what stands in the way of perf. The kernel's setting is told by EACCES;
// other errors are those of a filter of system calls, which the setting does not lift.
func perfRefusal(k known) string {
	if refused := k["perf.refused"]; refused != "" && refused != syscall.EACCES.Error() {
		return "perf_event_open: " + refused + ", by a filter of system calls"
	}
	return "kernel.perf_event_paranoid is " + k["kernel.perf_event_paranoid"]
}

// PerfRefusal says why perf does not see into the kernel of a host; "" where it does, or
// where that is not known.
func PerfRefusal(facts record.Host) string {
	if sees := facts.Values["perf.sees"]; sees == "" || sees == "programs and kernel" {
		return ""
	}
	return "perf may not see into the kernel (" + perfRefusal(facts.Values) + ")"
}
