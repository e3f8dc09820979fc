package metric

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// hostMetrics say what the hosts' CPUs did besides the workers.
func hostMetrics() []Metric {
	share := func(of func(contract.CPU) float64) func(*record.Window) (float64, bool) {
		return func(w *record.Window) (float64, bool) {
			part, ok := hostCores(w, of, meteredSeconds)
			whole, known := hostCores(w, allNs, meteredSeconds)
			return part / whole, ok && known && whole > 0
		}
	}
	return []Metric{
		{
			Name: "host.softirq_share", Unit: "share", Label: "host softirq", Doc: "share of host CPU in interrupts",
			Formula: "time in interrupts (irq and softirq) ÷ time of all CPUs of all hosts",
			in:      share(func(c contract.CPU) float64 { return float64(c.IRQNs) + float64(c.SoftIRQNs) }),
		},
		{
			Name: HostSteal, Unit: "share", Label: "host steal", Doc: "share of host CPU stolen by the hypervisor",
			Formula: "time that the hypervisor took (steal) ÷ time of all CPUs of all hosts",
			in:      share(func(c contract.CPU) float64 { return float64(c.StealNs) }),
		},
	}
}

// busyNs is the time in which a CPU did something for this host.
func busyNs(c contract.CPU) float64 {
	return float64(c.UserNs) + float64(c.NiceNs) + float64(c.SystemNs) + float64(c.IRQNs) + float64(c.SoftIRQNs)
}

func allNs(c contract.CPU) float64 {
	return busyNs(c) + float64(c.IdleNs) + float64(c.IOWaitNs) + float64(c.StealNs)
}

// hostCores sums what of counts, in CPU seconds over all CPUs of all hosts, each
// host's divided by its length.
func hostCores(w *record.Window, of func(contract.CPU) float64, length spanLength) (float64, bool) {
	hosts := w.Hosts()
	sum := 0.0
	for _, h := range hosts {
		from, to, _, _ := h.Metered()
		grown := 0.0
		for i := range to.CPUs {
			grown += of(to.CPUs[i]) - of(from.CPUs[i])
		}
		l, ok := length(h)
		if grown < 0 || !ok {
			return 0, false
		}
		sum += grown / nsPerS / l
	}
	return sum, len(hosts) > 0
}
