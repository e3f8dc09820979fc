package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/record"
)

// Devices lists what a host has beyond network cards, a line for each port of an RDMA
// device and for each GPU; nil for a host with neither. Facts that are absent are left out.
func Devices(facts record.Host) []string {
	var lines []string
	k := facts.Values
	for _, port := range ofKeys(k, "rdma.", ".state") {
		device, number, _ := strings.Cut(port, ".")
		lines = append(lines, "rdma "+device+" port "+number+": "+listed(
			k["rdma."+port+".state"], k["rdma."+port+".link_layer"], k["rdma."+port+".rate"],
			prefixed("on ", k["rdma."+port+".interface"]), prefixed("RDMA MTU ", k["rdma."+port+".mtu"]),
			prefixed("GIDs ", k["rdma."+port+".gids"]), prefixed("firmware ", k["rdma."+device+".firmware"]),
			prefixed("NUMA node ", k["rdma."+device+".numa_node"])))
	}
	for _, number := range ofKeys(k, "gpu.", ".bus") {
		lines = append(lines, "gpu "+number+": "+listed(
			k["gpu."+number+".model"], k["gpu."+number+".bus"], prefixed("NUMA node ", k["gpu."+number+".numa_node"])))
	}
	return lines
}

// ofKeys returns, in order, what stands between a prefix and a suffix in the keys that
// have both.
func ofKeys(values map[string]string, prefix, suffix string) []string {
	var found []string
	for key := range values {
		rest, begins := strings.CutPrefix(key, prefix)
		middle, ends := strings.CutSuffix(rest, suffix)
		if begins && ends {
			found = append(found, middle)
		}
	}
	slices.Sort(found)
	return found
}

// prefixed puts a word before a fact; "" for one that is absent.
func prefixed(word, fact string) string {
	if fact == "" {
		return ""
	}
	return word + fact
}

// listed joins what is there.
func listed(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// Speeds in Mbit/s from which a card asks for more than the defaults of a
// distribution give.
const (
	fastCard     = 10_000
	veryFastCard = 25_000
)

// softDrivers drive nothing that could be slower than the CPU.
var softDrivers = []string{"", "bridge", "dummy", "ifb", "tun", "veth"}

// cards are the interfaces with hardware behind them, or with another host's,
// that are not down; sorted.
func (k known) cards() []string {
	seen := make(map[string]bool)
	for key := range k {
		name, found := strings.CutPrefix(key, "nic.")
		last := strings.LastIndex(name, ".")
		if !found || last <= 0 {
			continue
		}
		name = name[:last]
		state := k["nic."+name+".state"]
		if !slices.Contains(softDrivers, k["nic."+name+".driver"]) && state != "down" && state != "lowerlayerdown" {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// nic returns a card's fact by the last part of its key.
func (k known) nic(name, part string) string { return k["nic."+name+"."+part] }

// speed returns a card's in Mbit/s; 0 when unknown.
func (k known) speed(name string) float64 {
	speed, _ := k.number("nic." + name + ".speed_mbit_per_s")
	return speed
}

// ratio reads "1024 of 8192".
func ratio(text string) (set, most int, ok bool) {
	left, right, found := strings.Cut(text, " of ")
	set, err1 := strconv.Atoi(left)
	most, err2 := strconv.Atoi(right)
	return set, most, found && err1 == nil && err2 == nil
}

// fixOf writes the command for cards by name, which share a finding.
func (k known) fixOf(command string, names []string) string {
	command = strings.NewReplacer(
		"CHANNELS", strconv.Itoa(k.channelsWanted(names[0])), "NODE", k.nic(names[0], "numa_node"), "BUS", k.nic(names[0], "bus"),
	).Replace(command)
	switch {
	case !strings.Contains(command, "DEV"):
		return command
	case len(names) == 1:
		return strings.ReplaceAll(command, "DEV", names[0])
	}
	return fmt.Sprintf("for i in %s; do %s; done", strings.Join(names, " "), strings.ReplaceAll(command, "DEV", "$i"))
}

// channelsWanted is one for each CPU, as far as the card has them; 0 when
// either is unknown.
func (k known) channelsWanted(name string) int {
	_, most, _ := ratio(k.nic(name, "channels"))
	cpus, _ := strconv.Atoi(k["cpu.count"])
	return max(min(most, cpus), 0)
}

// lanes returns what a PCIe link such as "8.0 GT/s x8" carries in Mbit/s, after
// its line code and before its packets' headers. Source: PCI Express Base
// Specification, physical layer: 8b/10b up to 5 GT/s, 128b/130b above.
func lanes(text string) (mbit float64, ok bool) {
	speed, width, found := strings.Cut(text, " GT/s x")
	rate, err1 := strconv.ParseFloat(speed, 64)
	n, err2 := strconv.Atoi(width)
	if !found || err1 != nil || err2 != nil {
		return 0, false
	}
	code := 128.0 / 130
	if rate <= 5 {
		code = 8.0 / 10
	}
	return rate * 1000 * float64(n) * code, true
}
