package doctor

import (
	"slices"
	"strings"

	"netdyno/internal/record"
)

// Devices lists what a host has beyond network cards, a line for each port of an RDMA
// device and for each GPU, with the way from it to each card; nil for a host with
// neither. Facts that are absent are left out.
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
		ways := []string{k["gpu."+number+".model"], k["gpu."+number+".bus"], k["gpu."+number+".pcie"], prefixed("NUMA node ", k["gpu."+number+".numa_node"])}
		for _, card := range ofKeys(k, "gpu."+number+".path.", "") {
			ways = append(ways, "to "+card+": "+k["gpu."+number+".path."+card])
		}
		lines = append(lines, "gpu "+number+": "+listed(ways...))
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
