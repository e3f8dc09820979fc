package doctor

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// leastLocked is what a process must be able to lock, in bytes, for buffers
// that a card reads and writes by itself.
const leastLocked = 1 << 30

// deviceRules are about RDMA devices and GPUs.
var deviceRules = []rule{
	{
		about: "rdma.state", severity: Note,
		finds: func(k known) string {
			return k.each("rdma.", ".state", func(device, state string) string {
				return when(state != "ACTIVE", "%s is %s", device, state)
			})
		},
		why:    "RDMA does not work on a port that is not active; a transport over RDMA then falls back to TCP, or fails",
		source: "Linux kernel, Documentation/ABI/stable/sysfs-class-infiniband, state",
		fix:    "rdma link; ip link set dev INTERFACE up for RoCE; on InfiniBand check the cable and the subnet manager (sminfo)",
	},
	{
		about: "limits.memlock_soft", severity: Distort,
		finds: func(k known) string {
			rdma := k.each("rdma.", ".state", func(device, _ string) string { return device })
			bytes, ok := k.number("limits.memlock_soft")
			return when(ok && rdma != "" && bytes < leastLocked, "a process may lock %.0f MiB of memory, and there are RDMA devices", bytes/(1<<20))
		},
		why:    "registering a buffer for RDMA locks its memory; beyond the limit this fails, and libraries use TCP without a message",
		source: "getrlimit(2), RLIMIT_MEMLOCK; ibv_reg_mr(3)",
		fix:    `ulimit -l unlimited; for good, "* - memlock unlimited" in /etc/security/limits.conf, or LimitMEMLOCK=infinity in the service's unit`,
	},
	{
		about: "kernel.modules", severity: Note,
		finds: func(k known) string {
			soft := func(name string) bool { return name == "rdma_rxe" || name == "siw" }
			return k.listed("kernel.modules", "RDMA may be done in software: ", soft)
		},
		why:    "the CPU then does the work of a card; this shows that a program works, not how fast RDMA is",
		source: "rxe(7); Linux kernel, drivers/infiniband/sw",
		fix:    "measure with a card that supports RDMA; rdma link shows which device is which",
	},
	{
		about: "gpu.peermem", severity: Note,
		finds: func(k known) string {
			rdma := k.each("rdma.", ".state", func(device, _ string) string { return device })
			modules := strings.Fields(k["kernel.modules"])
			loaded := slices.Contains(modules, "nvidia_peermem") || slices.Contains(modules, "nv_peer_mem")
			return when(k["gpu.count"] != "" && rdma != "" && !loaded, "there are GPUs and RDMA devices, and nvidia_peermem is not loaded")
		},
		why:    "without it, or DMA-BUF, GPU memory is copied through host memory before it is sent, which is not GPUDirect RDMA",
		source: "NVIDIA, GPUDirect RDMA documentation, section Supporting Kernel Module",
		fix:    "modprobe nvidia-peermem",
	},
	{
		about: "gpu.pcie", severity: Note,
		finds: func(k known) string {
			return k.each("gpu.", ".pcie", func(device, link string) string {
				most := k[device+".pcie_max"]
				carries, ok1 := lanes(link)
				could, ok2 := lanes(most)
				return when(ok1 && ok2 && carries < could, "%s has PCIe %s of %s", device, link, most)
			})
		},
		why:    "the GPU's memory is reached at that speed; an idle GPU lowers it, so check again under load",
		source: "Linux kernel, Documentation/ABI/testing/sysfs-bus-pci, current_link_speed",
		fix:    "nvidia-smi -q -d PCIE under load; then check slot, riser and BIOS",
	},
	{
		about: "gpu.path", severity: Note,
		finds: func(k known) string {
			return k.each("gpu.", "", func(key, way string) string {
				gpu, device, found := strings.Cut(key, ".path.")
				return when(found && way != "same PCIe switch" && !k.near(gpu), "%s and %s: %s", gpu, device, way)
			})
		},
		why:    "GPUDirect RDMA is fast where GPU and card are below one PCIe switch; every step further, through a root complex or between sockets, costs bandwidth",
		source: "NVIDIA, GPUDirect RDMA documentation, section Supported Systems",
		fix:    "nvidia-smi topo -m; use the card that is nearest to the GPU, or put one below the same switch",
	},
	{
		about: "gpu.numa_node", severity: Note,
		finds: func(k known) string {
			card := k.fastest()
			home := k.nic(card, "numa_node")
			return k.each("gpu.", ".numa_node", func(device, node string) string {
				return when(home != "" && node != home, "%s is on NUMA node %s, %s on %s", device, node, card, home)
			})
		},
		why:    "data between them crosses the link between the sockets, over which GPUDirect is slow",
		source: "NVIDIA, GPUDirect RDMA documentation, section Supported Systems",
		fix:    "nvidia-smi topo -m; use the pair on one node",
	},
}

// near says whether a GPU has an RDMA device below its own PCIe switch.
func (k known) near(gpu string) bool {
	for key, way := range k {
		if strings.HasPrefix(key, gpu+".path.") && way == "same PCIe switch" {
			return true
		}
	}
	return false
}

// each asks of every fact between a prefix and a suffix, "rdma.mlx5_0.1", and
// joins what it answers; "" when there is nothing.
func (k known) each(prefix, suffix string, ask func(device, value string) string) string {
	var found []string
	for _, key := range slices.SortedFunc(maps.Keys(k), byNumber) {
		if device, ends := strings.CutSuffix(key, suffix); ends && strings.HasPrefix(device, prefix) {
			if text := ask(device, k[key]); text != "" {
				found = appendNew(found, text)
			}
		}
	}
	return strings.Join(found, "; ")
}

// byNumber orders "gpu.2.bus" before "gpu.10.bus".
func byNumber(a, b string) int {
	for {
		one, restA, _ := strings.Cut(a, ".")
		other, restB, _ := strings.Cut(b, ".")
		n, err1 := strconv.Atoi(one)
		m, err2 := strconv.Atoi(other)
		switch {
		case err1 == nil && err2 == nil && n != m:
			return n - m
		case one != other:
			return strings.Compare(one, other)
		case restA == restB:
			return 0
		}
		a, b = restA, restB
	}
}
