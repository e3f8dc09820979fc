package rig

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/run/cpuset"
)

const (
	netDirectory = "sys/class/net/"
	// maxVirtual bounds how many interfaces without a card are told of.
	maxVirtual = 8
)

// link is an interface as the kernel's sockets tell of it.
type link struct {
	index   int
	mtu     int
	address string // of the hardware, "02:00:0a:4d:01:01"
	state   string // as operstate in /sys, "up"
}

// network gathers the loopback, network cards and bonds. Other virtual devices
// come and go with containers; they are told of where there is nothing else,
// as in a network namespace.
func (f *facts) network() {
	if low, high, found := strings.Cut(f.values["net.port_range"], " "); found {
		f.set("net.port_range", low+"-"+high)
	}
	links := f.interfaces()
	var virtual []string
	cards := 0
	for _, name := range slices.Sorted(maps.Keys(links)) {
		switch driver := f.driver(name, links[name]); {
		case driver != "":
			f.card(name, driver, links[name])
			cards++
		case name == "lo":
			f.card(name, "", links[name])
		default:
			virtual = append(virtual, name)
		}
	}
	if cards == 0 && f.kernel != nil {
		for _, name := range virtual[:min(len(virtual), maxVirtual)] {
			f.card(name, "", links[name])
		}
	}
}

// interfaces are those of our network namespace; nil for one of which only
// files tell.
func (f *facts) interfaces() map[string]*link {
	ours := make(map[string]*link)
	if f.kernel != nil {
		if links, err := f.kernel.links(); err == nil {
			for name, l := range links {
				ours[name] = &l
			}
			return ours
		}
	}
	counted := f.text("proc/self/net/dev")
	for _, name := range f.names(netDirectory) {
		// In a network namespace that was entered without a mount of its own,
		// /sys still shows the interfaces of another.
		if counted == "" || strings.Contains(counted, name+":") {
			ours[name] = nil
		}
	}
	return ours
}

// shown says whether /sys shows this very interface, and not one of the same
// name in another namespace.
func (f *facts) shown(name string, l *link) bool {
	if l == nil {
		return true
	}
	directory := netDirectory + name + "/"
	return f.text(directory+"ifindex") == strconv.Itoa(l.index) && f.text(directory+"address") == l.address
}

// driver names what drives a card, or a bond of cards; "" for anything else.
func (f *facts) driver(name string, l *link) string {
	if !f.shown(name, l) {
		return ""
	}
	if f.names(netDirectory+name+"/bonding") != nil {
		return "bonding"
	}
	return f.target(netDirectory + name + "/device/driver")
}

// card gathers one interface.
func (f *facts) card(name, driver string, l *link) {
	key := "nic." + strings.ToLower(name) + "."
	directory := netDirectory + name + "/"
	if l != nil {
		f.set(key+"mtu", strconv.Itoa(l.mtu))
		if name != "lo" {
			f.set(key+"state", l.state)
		}
	}
	if f.shown(name, l) {
		f.set(key+"mtu", f.text(directory+"mtu"))
		f.natural(key+"speed_mbit_per_s", directory+"speed")
		if driver != "" {
			f.set(key+"state", f.text(directory+"operstate"))
			f.set(key+"driver_version", f.text(directory+"device/driver/module/version"))
			f.bus(key, directory)
			f.interrupts(key, directory)
			f.bond(key, directory)
		}
	}
	f.set(key+"driver", driver)
	if f.kernel != nil {
		for part, value := range f.kernel.card(name) {
			f.set(key+part, value)
		}
	}
}

// natural keeps a number; -1 is the kernel's word for unknown.
func (f *facts) natural(key, path string) {
	if n, err := strconv.Atoi(f.text(path)); err == nil && n >= 0 {
		f.set(key, strconv.Itoa(n))
	}
}

// bus gathers where the card sits: the NUMA node, and the PCIe link, "8.0 GT/s x8".
// Source: Linux kernel, Documentation/ABI/testing/sysfs-bus-pci, current_link_speed.
func (f *facts) bus(key, class string) {
	device := f.device(strings.TrimSuffix(class, "/"))
	if device == "" {
		return
	}
	f.natural(key+"numa_node", device+"/numa_node")
	f.set(key+"pcie", lane(f.text(device+"/current_link_speed"), f.text(device+"/current_link_width")))
}

// lane writes a PCIe link; "" when either part is unknown, as of a virtual
// function, whose width is 0.
func lane(speed, width string) string {
	speed, _, known := strings.Cut(speed, " GT/s")
	if n, err := strconv.Atoi(width); !known || err != nil || n <= 0 || n > 64 {
		return ""
	}
	return speed + " GT/s x" + width
}

// interrupts gathers how many the card has and which CPUs take them.
// Source: Linux kernel, Documentation/core-api/irq/irq-affinity.rst.
func (f *facts) interrupts(key, class string) {
	device := f.device(strings.TrimSuffix(class, "/"))
	if device == "" {
		return
	}
	var takers []int
	numbers := f.names(device + "/msi_irqs")
	for _, number := range numbers {
		irq := "proc/irq/" + number
		text := cmp.Or(f.text(irq+"/effective_affinity_list"), f.text(irq+"/smp_affinity_list"))
		if cpus, err := cpuset.Parse(text); err == nil {
			takers = append(takers, cpus...)
		}
	}
	slices.Sort(takers)
	if len(numbers) > 0 {
		f.set(key+"interrupts", strconv.Itoa(len(numbers)))
		f.set(key+"interrupt_cpus", cpuset.Format(slices.Compact(takers)))
	}
}

// bond gathers how a bond shares out its packets.
// Source: Linux kernel, Documentation/networking/bonding.rst.
func (f *facts) bond(key, directory string) {
	word := func(file string) string {
		text, _, _ := strings.Cut(f.text(directory+"bonding/"+file), " ")
		return text
	}
	f.set(key+"bond_mode", word("mode"))
	f.set(key+"bond_hash", word("xmit_hash_policy"))
	f.set(key+"bond_members", f.text(directory+"bonding/slaves"))
}
