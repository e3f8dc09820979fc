package doctor

import (
	"maps"
	"slices"
	"strings"
)

// leastLocked is what a process must be able to lock, in bytes, for buffers
// that a card reads and writes by itself.
const leastLocked = 1 << 30

// deviceRules are about RDMA devices.
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
}

// each asks of every fact between a prefix and a suffix, "rdma.mlx5_0.1", and
// joins what it answers; "" when there is nothing.
func (k known) each(prefix, suffix string, ask func(device, value string) string) string {
	var found []string
	for _, key := range slices.Sorted(maps.Keys(k)) {
		if device, ends := strings.CutSuffix(key, suffix); ends && strings.HasPrefix(device, prefix) {
			if text := ask(device, k[key]); text != "" {
				found = appendNew(found, text)
			}
		}
	}
	return strings.Join(found, "; ")
}
