package metric

import (
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// costMetrics are the CPU costs of specification §4.1.
func costMetrics() []Metric {
	perExchangeUs := bothEnds(Metric{
		Name: CPUPerExchange, Unit: "µs", Suffix: "/exchange", Better: Lower, Label: "CPU", Doc: "CPU per exchange",
		Formula: "cores × 10⁶ ÷ exchanges_per_s; of a fixed amount of work, CPU time ÷ exchanges",
	}, cpuPerExchange)
	host := Metric{
		Name: "host.cpu_us_per_exchange", Unit: "µs", Suffix: "/exchange", Better: Lower, Label: "host CPU", Doc: "host CPU per exchange",
		Formula: "busy time of all CPUs of all hosts (user, nice, system, irq, softirq) × 10⁶ ÷ exchanges_per_s",
		in: func(w *record.Window) (float64, bool) {
			busy, ok := hostCores(w, busyNs, costLength(w, meteredSeconds))
			return perExchange(w, busy*usPerS, ok && len(w.Record.Away()) == 0 && !w.Alternated())
		},
	}
	perGB := bothEnds(Metric{
		Name: CPUPerGB, Unit: "s/GB", Better: Lower, Label: "CPU per GB", Doc: "CPU per GB",
		Formula: "cores ÷ goodput_bytes_per_s × 10⁹; of a fixed amount of work, CPU time ÷ payload bytes",
	}, func(w *record.Window, spans []record.Span) (float64, bool) {
		s, ok := cpuSeconds(w, spans)
		bytes, known := delivered(w, served, workLength(w), costLength(w, record.Span.Seconds))
		return s / bytes * bytesPerGB, ok && known && bytes > 0
	})
	used := bothEnds(Metric{
		Name: Cores, Unit: "s/s", Better: Lower, Label: "cores", Doc: "CPU use",
		Formula: "CPU time of the process tree ÷ time, between the two readings of the window; a server's time is at most work_s",
	}, func(_ *record.Window, spans []record.Span) (float64, bool) { return cores(spans) })
	metering := bothEnds(Metric{
		Name: MeterShare, Unit: "share", Label: "share of metering", Doc: "CPU of the meter, of that of what it meters",
		Formula: "CPU time of the meter itself ÷ CPU time of the process tree that it meters, in the window",
	}, func(_ *record.Window, spans []record.Span) (float64, bool) {
		own, ok := sumRate(spans, func(s record.Span) (from, to int64, ok bool) {
			a, b, _, ok := s.Metered()
			if !ok || b.OwnCPUNs == 0 {
				return 0, 0, false
			}
			return a.OwnCPUNs, b.OwnCPUNs, true
		}, meteredSeconds)
		c, known := cores(spans)
		return own / nsPerS / c, ok && known && c > 0
	})
	return slices.Concat(perExchangeUs, []Metric{host}, perGB, used, metering)
}

// cpuPerExchange is the spans' CPU time for an exchange, in µs.
func cpuPerExchange(w *record.Window, spans []record.Span) (float64, bool) {
	s, ok := cpuSeconds(w, spans)
	return perExchange(w, s*usPerS, ok)
}

// cpuSeconds sums the spans' CPU time in seconds, each divided by its
// costLength; false where there is none, as whoever exchanged has spent some.
func cpuSeconds(w *record.Window, spans []record.Span) (float64, bool) {
	ns, ok := processRate(spans, func(p contract.Process) int64 { return p.CPUNs }, costLength(w, meteredSeconds))
	return ns / nsPerS, ok && ns > 0
}

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
