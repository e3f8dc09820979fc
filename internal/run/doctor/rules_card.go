package doctor

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/run/cpuset"
)

// cardRules are asked of every network card that is not down.
var cardRules = []rule{
	{
		about: "offloads", severity: Distort,
		card: func(k known, name string) string {
			off := slices.DeleteFunc(slices.Clone(offloads), func(part string) bool { return k.nic(name, part) != "off" })
			return when(len(off) > 0, "off: %s", strings.Join(off, ", "))
		},
		why:    "the CPU handles each packet of 1500 bytes where it could handle 64 KiB at once, and may compute every checksum: CPU per GB rises several times",
		source: "Linux kernel, Documentation/networking/segmentation-offloads.rst, checksum-offloads.rst",
		fix:    "ethtool -K DEV rx on tx on sg on tso on gso on gro on",
	},
	{
		about: "driver_version", severity: Distort,
		card: func(k known, name string) string {
			version, _, _ := strings.Cut(k.nic(name, "driver_version"), " ")
			return when(k.nic(name, "driver") == "mlx5_core" && version == "3.0-1", "driver mlx5_core %s is known for trouble", version)
		},
		why:    "it was published beside 4.3-1.0.1 with the remark \"this config will cause performance decay\"",
		source: "the publication behind study line-rate, 100 Gbit/s (its hosts, as ethtool -i printed them)",
		fix:    "install a later release on every host (MLNX_OFED, or the kernel's own): 4.3-1.0.1 was the good one there; check: ethtool -i DEV",
	},
	{
		about: "mtu", severity: Note,
		card: func(k known, name string) string {
			mtu, ok := k.number("nic." + name + ".mtu")
			return when(ok && mtu <= 1500 && k.speed(name) >= veryFastCard, "the MTU is %.0f at %.0f Gbit/s", mtu, k.speed(name)/1000)
		},
		why:    "there are six times as many packets as with 9000; receiving them may fill a core before the link is full",
		source: "ESnet fasterdata, MTU issues, jumbo frames",
		fix:    "ip link set dev DEV mtu 9000, when every host and switch on the way can",
	},
	{
		about: "pcie", severity: Distort,
		card: func(k known, name string) string {
			carries, ok := lanes(k.nic(name, "pcie"))
			speed := k.speed(name)
			return when(ok && speed > carries, "PCIe (%s) carries %.0f Gbit/s, the link %.0f", k.nic(name, "pcie"), carries/1000, speed/1000)
		},
		why:    "the PCIe slot, not the network, is then the limit of every arm",
		source: "Linux kernel, Documentation/ABI/testing/sysfs-bus-pci, current_link_speed; pcie_print_link_status in its log",
		fix:    "put the card into a slot of its full width; check: lspci -vv -s BUS | grep -E 'LnkCap|LnkSta'",
	},
	{
		about: "numa_node", severity: Distort,
		card: func(k known, name string) string {
			own, usable, ok := k.nearCPUs(name)
			return when(ok && len(cpuset.Common(own, usable)) == 0, "on NUMA node %s, all our CPUs (%s) are on another", k.nic(name, "numa_node"), shorten(cpuset.Format(usable)))
		},
		why:    "every packet crosses the link between the sockets: less goodput and more CPU per byte",
		source: "ESnet fasterdata, 100G Network Tuning (the correct cores for interrupts and processes)",
		fix:    "numactl --cpunodebind=NODE --membind=NODE netdyno …",
	},
	{
		about: "interrupt_cpus", severity: Distort,
		card: func(k known, name string) string {
			count, _ := k.number("nic." + name + ".interrupts")
			takers, err := cpuset.Parse(k.nic(name, "interrupt_cpus"))
			if cpus, _ := k.number("cpu.count"); err == nil && len(takers) == 1 && count >= manyInterrupts && cpus >= roomyCPUs {
				return fmt.Sprintf("all %.0f interrupts go to CPU %d", count, takers[0])
			}
			return ""
		},
		why:    "one core then receives all packets of the host, and is the limit of every arm",
		source: "Linux kernel, Documentation/networking/scaling.rst, RSS",
		fix:    `n=0; for i in $(ls /sys/class/net/DEV/device/msi_irqs); do echo $((n++ % $(nproc))) > /proc/irq/$i/smp_affinity_list; done`,
	},
	{
		about: "channels", severity: Noise,
		card: func(k known, name string) string {
			set, most, ok := ratio(k.nic(name, "channels"))
			return when(ok && most > 1 && set < k.channelsWanted(name) && k.speed(name) >= fastCard, "%d of %d channels are in use", set, most)
		},
		why:    "there are fewer queues than CPUs: connections that share a queue share the core that serves it",
		source: "Linux kernel, Documentation/networking/scaling.rst, RSS",
		fix:    "ethtool -L DEV combined CHANNELS",
	},
	{
		about: "bond_hash", severity: Distort,
		card: func(k known, name string) string {
			mode, hash := k.nic(name, "bond_mode"), k.nic(name, "bond_hash")
			members := len(strings.Fields(k.nic(name, "bond_members")))
			return when((mode == "802.3ad" || mode == "balance-xor") && members > 1 && !strings.Contains(hash, "3+4") && hash != "", "the bond of %d cards distributes packets by %s", members, hash)
		},
		why:    "all connections between two hosts then use one card, and the bond is no faster than that card",
		source: "Linux kernel, Documentation/networking/bonding.rst, xmit_hash_policy",
		fix:    "ip link set dev DEV type bond xmit_hash_policy layer3+4, and the same at the switch",
	},
}

// offloads are those without which the CPU does a card's work.
var offloads = []string{"rx_checksum", "tx_checksum", "scatter_gather", "tso", "gso", "gro"}

// manyInterrupts are more than a card with one pair of queues has.
const manyInterrupts = 4

// nearCPUs returns the CPUs of a card's NUMA node, and those that we may use.
// It is not ok on a host with one node, or one that does not tell.
func (k known) nearCPUs(name string) (own, usable []int, ok bool) {
	node := k.nic(name, "numa_node")
	for part := range strings.SplitSeq(k["numa.cpus"], "; ") {
		if list, found := strings.CutPrefix(part, node+": "); found && node != "" {
			own, _ = cpuset.Parse(list) // an odd list is no node
		}
	}
	usable, err := cpuset.Parse(k["cpu.usable"])
	nodes, _ := k.number("numa.nodes")
	return own, usable, err == nil && len(own) > 0 && len(usable) > 0 && nodes > 1
}
