package rig

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// rdma gathers the devices that speak verbs, with their ports.
// Source: Linux kernel, Documentation/ABI/stable/sysfs-class-infiniband.
func (f *facts) rdma() {
	const class = "sys/class/infiniband/"
	for _, name := range f.names(class) {
		key := "rdma." + strings.ToLower(name) + "."
		f.set(key+"firmware", f.text(class+name+"/fw_ver"))
		f.set(key+"driver", f.target(class+name+"/device/driver"))
		if device := f.device(class + name); device != "" {
			f.natural(key+"numa_node", device+"/numa_node")
		}
		for _, port := range f.names(class + name + "/ports") {
			directory := class + name + "/ports/" + port + "/"
			f.set(key+port+".state", afterColon(f.text(directory+"state")))
			f.set(key+port+".link_layer", f.text(directory+"link_layer"))
			f.set(key+port+".rate", f.text(directory+"rate"))
			f.set(key+port+".interface", f.text(directory+"gid_attrs/ndevs/0"))
			f.set(key+port+".mtu", f.rdmaMTU(directory))
			f.set(key+port+".gids", f.gids(directory))
		}
	}
}

// rdmaMTU is the largest MTU of RDMA, in bytes, that fits into the interface's of a
// port on Ethernet. Source: Linux kernel, include/rdma/ib_addr.h, iboe_get_mtu.
func (f *facts) rdmaMTU(port string) string {
	const headers, least, most = 96, 256, 4096
	name := f.text(port + "gid_attrs/ndevs/0")
	if name == "" || strings.Contains(name, "/") || f.text(port+"link_layer") != "Ethernet" {
		return ""
	}
	mtu, err := strconv.Atoi(f.text(netDirectory + name + "/mtu"))
	if err != nil {
		return ""
	}
	fits := least
	for fits < most && 2*fits <= mtu-headers {
		fits *= 2
	}
	return strconv.Itoa(fits)
}

// gids are the first addresses of a port, each with its index, which programs are
// told: "0 fe80::1, 3 10.0.0.1".
func (f *facts) gids(port string) string {
	const most = 8
	var found []string
	for _, index := range slices.SortedFunc(slices.Values(f.names(port+"gids")), byNumber) {
		gid, err := netip.ParseAddr(f.text(port + "gids/" + index))
		if err != nil || gid.IsUnspecified() {
			continue
		}
		if len(found) == most {
			return strings.Join(found, ", ") + ", …"
		}
		found = append(found, index+" "+gid.Unmap().String())
	}
	return strings.Join(found, ", ")
}

// byNumber orders "2" before "10".
func byNumber(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }

// afterColon is "ACTIVE" of "4: ACTIVE".
func afterColon(text string) string {
	if _, word, found := strings.Cut(text, ":"); found {
		return word
	}
	return text
}

// gpu gathers what NVIDIA's driver tells in /proc and the PCI bus in /sys.
func (f *facts) gpu() {
	const bus, own = "sys/bus/pci/drivers/nvidia/", "proc/driver/nvidia/"
	f.set("gpu.driver_version", nvidiaVersion(f.text(own+"version")))
	cards := map[string]bool{}
	for _, address := range f.names(own + "gpus") {
		cards[address] = true
	}
	for _, address := range f.names(bus) {
		if strings.Count(address, ":") == 2 {
			cards[address] = true
		}
	}
	if len(cards) > 0 {
		f.set("gpu.count", strconv.Itoa(len(cards)))
	}
	for i, address := range slices.Sorted(maps.Keys(cards)) {
		key := fmt.Sprintf("gpu.%d.", i)
		f.set(key+"bus", address)
		f.set(key+"model", value(f.text(own+"gpus/"+address+"/information"), "Model", ":"))
		f.natural(key+"numa_node", bus+address+"/numa_node")
	}
}

// nvidiaVersion finds the release in "NVRM version: NVIDIA UNIX x86_64 Kernel
// Module  550.54.15  Tue …": the first word made of numbers and points.
func nvidiaVersion(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	for _, word := range strings.Fields(line) {
		if strings.Contains(word, ".") && strings.Trim(word, "0123456789.") == "" {
			return word
		}
	}
	return ""
}
