package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/record"
)

// Named is a host with the name that its facts were given.
type Named struct {
	Name  string
	Facts record.Host
}

// concern is one line about what may differ between hosts, and whether a difference
// matters. The facts of one concern are compared one by one.
type concern struct {
	keys     []string // facts; of a card, those of each host's fastest
	card     bool
	severity Severity
	why      string
	source   string
	fix      string
}

// concerns are what makes hosts unlike each other as ends of a link. Facts that
// no line names are listed as of little matter.
var concerns = []concern{
	{
		keys: []string{"driver", "driver_version"}, card: true, severity: Distort,
		why:    "the same work runs through other code on each host, so that swapping the ends changes the figures",
		source: "the publication behind study line-rate, 100 Gbit/s: the older of two releases of its driver \"will cause performance decay\"",
		fix:    "install the same release on every host; check: ethtool -i DEV",
	},
	{
		keys: []string{"firmware"}, card: true, severity: Noise,
		why:    "it schedules queues, verifies checksums and paces packets; releases differ in speed and in errors",
		source: "Linux kernel, Documentation/networking/devlink/devlink-info.rst, fw.version",
		fix:    "flash the same release on every card; check: ethtool -i DEV, devlink dev info",
	},
	{
		keys: []string{"mtu"}, card: true, severity: Distort,
		why:    "larger packets are fragmented, refused or lost, and one direction costs more per byte than the other",
		source: "RFC 1191, Path MTU Discovery; ESnet fasterdata, MTU issues",
		fix:    "ip link set dev DEV mtu N, the same on every host and switch",
	},
	{
		keys: []string{"speed_mbit_per_s"}, card: true, severity: Distort,
		why:    "the slower card decides the speed of the link; what the faster one could do is not measured",
		source: "docs/specification.md, section 5",
		fix:    "ethtool DEV; check cable, port and autonegotiation of the slower one",
	},
	{
		keys: offloads, card: true, severity: Distort,
		why:    "one host's CPU does what the other's card does: CPU per GB of the two ends cannot be compared",
		source: "Linux kernel, Documentation/networking/segmentation-offloads.rst, checksum-offloads.rst",
		fix:    "ethtool -K DEV rx on tx on sg on tso on gso on gro on, on every host",
	},
	{
		keys: []string{"lro", "ring_receive", "ring_send", "channels", "coalesce_us", "coalesce_adaptive", "pause_receive", "pause_send", "pcie"},
		card: true, severity: Noise,
		why:    "interrupts come at another rate and on other CPUs, and bursts lose other numbers of packets",
		source: "Linux kernel, Documentation/networking/scaling.rst; ethtool(8)",
		fix:    "ethtool -g -l -c -a DEV on each host, then use the same settings",
	},
	{
		keys: []string{"kernel.release", "kernel.version"}, severity: Noise,
		why:    "TCP, drivers and mitigations change between releases, and so does the cost of a system call",
		source: "docs/specification.md, section 6",
		fix:    "boot the same kernel on every host",
	},
	{
		keys: []string{"net.congestion_control", "net.default_qdisc", "net.tcp_rmem", "net.tcp_wmem"}, severity: Noise,
		why:    "each sender follows its own rules, so the two directions behave like two different networks",
		source: "Linux kernel, Documentation/networking/ip-sysctl.rst",
		fix:    "copy the settings: sysctl net | sort > FILE on one host, sysctl -p FILE on the others",
	},
	{
		keys:     []string{"cpu.model", "cpu.count", "cpu.microcode", "cpu.governor", "cpu.boost", "cpu.smt", "clocksource", "thp", "hypervisor"},
		severity: Note,
		why:      "a server costs more on one host than on another; arms on the same hosts can still be compared",
		source:   "docs/specification.md, section 7",
		fix:      "to compare software alone, use equal hosts",
	},
}

// Differ returns in what hosts differ and whether that matters, the gravest
// first; nothing of fewer than two. Of cards it compares each host's fastest
// that is not down: their names may differ. A fact that only some hosts tell is
// no difference, since they may have been asked by another version.
func Differ(hosts []Named) []Advice {
	if len(hosts) < 2 {
		return nil
	}
	var list []Advice
	judged := make(map[string]bool)
	for _, c := range concerns {
		var lines, names []string
		for _, h := range hosts {
			names = append(names, known(h.Facts.Values).fastest())
		}
		for _, part := range c.keys {
			judged[part] = judged[part] || !c.card
			if line := differing(hosts, part, c.card); line != "" {
				lines = append(lines, line)
			}
		}
		if len(lines) > 0 {
			about := c.keys[0]
			fix := c.fix
			if c.card {
				about = "nic." + about
				fix = strings.ReplaceAll(fix, "DEV", strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), "|"))
			}
			list = append(list, Advice{
				About: about, What: strings.Join(lines, "; "), Why: c.why, Source: c.source, Fix: fix, Severity: c.severity,
			})
		}
	}
	slices.SortStableFunc(list, func(a, b Advice) int { return cmp.Compare(b.Severity, a.Severity) })
	return append(list, others(hosts, judged)...)
}

// differing writes who has which value of a fact, "mtu 9000 at a, b; 1500 at
// c"; "" when all that tell agree.
func differing(hosts []Named, part string, card bool) string {
	var values []string
	holders := make(map[string][]string)
	for _, h := range hosts {
		k := known(h.Facts.Values)
		value := k[part]
		if card {
			value = k.nic(k.fastest(), part)
		}
		if value != "" {
			values = appendNew(values, value)
			holders[value] = append(holders[value], h.Name)
		}
	}
	if len(values) < 2 {
		return ""
	}
	texts := each.Of(values, func(value string) string { return fmt.Sprintf("%s at %s", value, strings.Join(holders[value], ", ")) })
	return part + " " + strings.Join(texts, ", ")
}

// maxOthers bounds how many differences of little matter are named.
const maxOthers = 12

// others names the facts that differ and that no concern is about: what a host
// is called and does at the moment left out, cards by their own concerns.
func others(hosts []Named, judged map[string]bool) []Advice {
	var keys []string
	for _, h := range hosts[1:] {
		for _, line := range record.DiffHosts(hosts[0].Facts, h.Facts) {
			key, rest, _ := strings.Cut(line, ": ")
			oneSided := strings.HasPrefix(rest, "unknown,") || strings.HasSuffix(rest, ", then unknown")
			if !judged[key] && !oneSided && !strings.HasPrefix(key, "nic.") {
				keys = appendNew(keys, key)
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	text := strings.Join(keys[:min(len(keys), maxOthers)], ", ")
	if more := len(keys) - maxOthers; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []Advice{{
		About: "facts", What: "also unlike: " + text, Severity: Note,
		Why: "seldom a reason for unlike figures; netdyno report lists the values", Source: "docs/specification.md, section 6",
	}}
}
