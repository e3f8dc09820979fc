package rig

import (
	"fmt"
	"maps"
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
		f.set(key+"board", f.text(class+name+"/board_id"))
		f.set(key+"driver", f.target(class+name+"/device/driver"))
		if device := f.device(class + name); device != "" {
			f.natural(key+"numa_node", device+"/numa_node")
		}
		for _, port := range f.names(class + name + "/ports") {
			directory := class + name + "/ports/" + port + "/"
			f.set(key+port+".state", afterColon(f.text(directory+"state")))
			f.set(key+port+".physical_state", afterColon(f.text(directory+"phys_state")))
			f.set(key+port+".link_layer", f.text(directory+"link_layer"))
			f.set(key+port+".rate", f.text(directory+"rate"))
			f.set(key+port+".interface", f.text(directory+"gid_attrs/ndevs/0"))
		}
	}
}

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
		f.set(key+"firmware", value(f.text(own+"gpus/"+address+"/information"), "GPU Firmware", ":"))
		f.natural(key+"numa_node", bus+address+"/numa_node")
		f.set(key+"pcie", lane(f.text(bus+address+"/current_link_speed"), f.text(bus+address+"/current_link_width")))
		f.set(key+"pcie_max", lane(f.text(bus+address+"/max_link_speed"), f.text(bus+address+"/max_link_width")))
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
