package rig

import (
	"strconv"
	"strings"
)

const netDirectory = "sys/class/net/"

// network gathers what /sys tells of the loopback, of network cards and of
// bonds; other virtual devices come and go with containers.
func (f *facts) network() {
	if low, high, found := strings.Cut(f.values["net.port_range"], " "); found {
		f.set("net.port_range", low+"-"+high)
	}
	ours := f.text("proc/self/net/dev")
	for _, name := range f.names(netDirectory) {
		// In a network namespace that was entered without a mount of its own,
		// /sys still shows the interfaces of another.
		if ours != "" && !strings.Contains(ours, name+":") {
			continue
		}
		directory := netDirectory + name + "/"
		driver := f.target(directory + "device/driver")
		if f.names(directory+"bonding") != nil {
			driver = "bonding"
		}
		if driver == "" && name != "lo" {
			continue
		}
		key := "nic." + strings.ToLower(name) + "."
		f.set(key+"driver", driver)
		f.set(key+"mtu", f.text(directory+"mtu"))
		f.natural(key+"speed_mbit_per_s", directory+"speed")
		if driver == "" {
			continue
		}
		f.set(key+"state", f.text(directory+"operstate"))
		f.natural(key+"numa_node", directory+"device/numa_node")
		var receive, send int
		for _, queue := range f.names(directory + "queues") {
			if strings.HasPrefix(queue, "rx-") {
				receive++
			} else {
				send++
			}
		}
		if receive+send > 0 {
			f.set(key+"queues", strconv.Itoa(receive)+" receive, "+strconv.Itoa(send)+" send")
		}
	}
}

// natural keeps a number; -1 is the kernel's word for unknown.
func (f *facts) natural(key, path string) {
	if n, err := strconv.Atoi(f.text(path)); err == nil && n >= 0 {
		f.set(key, strconv.Itoa(n))
	}
}
