package metric

import (
	"slices"

	"netdyno/internal/record"
)

// costMetrics are the CPU costs of specification §4.1.
func costMetrics() []Metric {
	perExchangeUs := bothEnds(Metric{
		Name: CPUPerExchange, Unit: "µs", Suffix: "/exchange", Better: Lower, Label: "CPU", Doc: "CPU per exchange",
		Formula: "cores × 10⁶ ÷ exchanges_per_s; of a fixed amount of work, CPU time ÷ exchanges",
	}, func(w *record.Window, spans []record.Span) (float64, bool) {
		s, ok := cpuSeconds(w, spans)
		return perExchange(w, s*usPerS, ok)
	})
	host := Metric{
		Name: "host.cpu_us_per_exchange", Unit: "µs", Suffix: "/exchange", Better: Lower, Label: "host CPU", Doc: "host CPU per exchange",
		Formula: "busy time of all CPUs of all hosts (user, nice, system, irq, softirq) × 10⁶ ÷ exchanges_per_s",
		in: func(w *record.Window) (float64, bool) {
			busy, ok := hostCores(w, busyNs, costLength(w, meteredSeconds))
			return perExchange(w, busy*usPerS, ok && len(w.Record.Away()) == 0)
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

// cpuSeconds sums the spans' CPU time in seconds, each divided by its
// costLength; false where there is none, as whoever exchanged has spent some.
func cpuSeconds(w *record.Window, spans []record.Span) (float64, bool) {
	ns, ok := sumRate(spans, func(s record.Span) (from, to int64, ok bool) {
		a, b, _, ok := s.Metered()
		if !ok {
			return 0, 0, false
		}
		return a.Process.CPUNs, b.Process.CPUNs, true
	}, costLength(w, meteredSeconds))
	return ns / nsPerS, ok && ns > 0
}
