package record

import "netdyno/internal/contract"

// bothEnds makes the server's and the client's metric of one kind. A pair is
// both ends in one process, so it has neither.
func bothEnds(m Metric, of func(*Window, []Span) (float64, bool)) []Metric {
	var both []Metric
	for _, end := range []contract.Role{contract.Server, contract.Client} {
		one := m
		one.Name = string(end) + "." + m.Name
		one.Doc = string(end) + " " + m.Doc
		one.in = func(w *Window) (float64, bool) {
			spans, ok := w.Spans(end)
			if !ok {
				return 0, false
			}
			return of(w, spans)
		}
		both = append(both, one)
	}
	return both
}

// sumRate sums a cumulative counter's growth per second over spans; false
// when one counter is absent or ran backwards.
func sumRate(spans []Span, counter func(Span) (from, to int64, ok bool), length func(Span) (float64, bool)) (float64, bool) {
	sum := 0.0
	for _, s := range spans {
		from, to, ok := counter(s)
		if !ok || to < from {
			return 0, false
		}
		l, ok := length(s)
		if !ok {
			return 0, false
		}
		sum += delta(from, to) / l
	}
	return sum, true
}

func meteredSeconds(s Span) (float64, bool) {
	_, _, length, ok := s.Metered()
	return length, ok
}

func cores(spans []Span) (float64, bool) {
	sum := 0.0
	for _, s := range spans {
		c, ok := s.Cores()
		if !ok {
			return 0, false
		}
		sum += c
	}
	return sum, true
}

// per returns by what a worker's growth is divided before it is compared with
// the clients' work: its own seconds, so that edges which lie a little apart at
// the two ends cancel. A fixed amount of work has no common window, but every
// worker counted all of it: there totals are compared, divided by nothing.
func (w *Window) per(length func(Span) (float64, bool)) func(Span) (float64, bool) {
	if _, fixed := w.WorkSeconds(); !fixed {
		return length
	}
	return func(s Span) (float64, bool) {
		_, ok := length(s)
		return 1, ok
	}
}

// perClient does the same for the clients' own counts.
func (w *Window) perClient() func(*Worker) (float64, bool) {
	_, fixed := w.WorkSeconds()
	return func(g *Worker) (float64, bool) {
		length, ok := seconds(g.Result.FromNs, g.Result.ToNs)
		if fixed {
			length = 1
		}
		return length, ok
	}
}

// perExchange divides a sum that was made by per by the exchanges so counted.
func perExchange(w *Window, sum float64, ok bool) (float64, bool) {
	exchanges, known := resultSum(w, exchangesOf, w.perClient())
	return sum / exchanges, ok && known && exchanges > 0
}

// cpu sums the spans' CPU seconds, divided by per.
func cpu(w *Window, spans []Span) (float64, bool) {
	ns, ok := sumRate(spans, func(s Span) (from, to int64, ok bool) {
		a, b, _, ok := s.Metered()
		if !ok {
			return 0, 0, false
		}
		return a.Process.CPUNs, b.Process.CPUNs, true
	}, w.per(meteredSeconds))
	return ns / nsPerS, ok
}

// costMetrics are the CPU prices of METHOD §4.1.
func costMetrics() []Metric {
	perEx := bothEnds(Metric{
		Name: "cpu_us_per_exchange", Unit: "µs", Better: Lower, Doc: "CPU per exchange",
		Formula: "cores × 1e6 ÷ exchanges_per_s; of a fixed amount of work, CPU time ÷ exchanges",
	}, func(w *Window, spans []Span) (float64, bool) {
		c, ok := cpu(w, spans)
		return perExchange(w, c*usPerS, ok)
	})
	host := Metric{
		Name: "host.cpu_us_per_exchange", Unit: "µs", Better: Lower, Doc: "host CPU per exchange",
		Formula: "busy time of all CPUs of all hosts (user, nice, system, irq, softirq) × 1e6 ÷ exchanges_per_s",
		in: func(w *Window) (float64, bool) {
			busy, ok := hostCores(w, busyNs, w.per(meteredSeconds))
			return perExchange(w, busy*usPerS, ok && len(w.Record.Away()) == 0)
		},
	}
	perGB := bothEnds(Metric{
		Name: "cpu_s_per_gb", Unit: "s/GB", Better: Lower, Doc: "CPU per GB",
		Formula: "cores ÷ goodput_bytes_per_s × 1e9; of a fixed amount of work, CPU time ÷ payload bytes",
	}, func(w *Window, spans []Span) (float64, bool) {
		c, ok := cpu(w, spans)
		g, known := delivered(w, w.perClient(), w.per(Span.Seconds))
		return c / g * bytesPerGB, ok && known && g > 0
	})
	used := bothEnds(Metric{
		Name: "cores", Unit: "s/s", Better: Lower, Doc: "CPU use",
		Formula: "Δ CPU time of the process tree ÷ Δ time, between the meter's readings at the window's edges; a server's Δ time is at most work_s",
	}, func(_ *Window, spans []Span) (float64, bool) { return cores(spans) })
	metering := bothEnds(Metric{
		Name: "meter_share", Unit: "share", Doc: "CPU of the meter, of that of what it meters",
		Formula: "Δ CPU time of the meter itself ÷ Δ CPU time of the process tree that it meters",
	}, func(_ *Window, spans []Span) (float64, bool) {
		own, ok := sumRate(spans, func(s Span) (from, to int64, ok bool) {
			a, b, _, ok := s.Metered()
			if !ok || b.OwnCPUNs == 0 {
				return 0, 0, false
			}
			return a.OwnCPUNs, b.OwnCPUNs, true
		}, meteredSeconds)
		c, known := cores(spans)
		return own / nsPerS / c, ok && known && c > 0
	})
	all := append(perEx, host)
	all = append(all, perGB...)
	all = append(all, used...)
	return append(all, metering...)
}

// hostMetrics say what the hosts' CPUs did besides the workers.
func hostMetrics() []Metric {
	share := func(of func(contract.CPU) float64) func(*Window) (float64, bool) {
		return func(w *Window) (float64, bool) {
			part, ok := hostCores(w, of, meteredSeconds)
			whole, known := hostCores(w, allNs, meteredSeconds)
			return part / whole, ok && known && whole > 0
		}
	}
	return []Metric{
		{
			Name: "host.softirq_share", Unit: "share", Doc: "share of host CPU in interrupts",
			Formula: "irq and softirq time ÷ time of all CPUs",
			in:      share(func(c contract.CPU) float64 { return float64(c.IRQNs) + float64(c.SoftIRQNs) }),
		},
		{
			Name: "host.steal_share", Unit: "share", Doc: "share of host CPU stolen by the hypervisor",
			Formula: "steal time ÷ time of all CPUs",
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

// hostCores sums what of counts, in CPU seconds over all CPUs of all hosts,
// divided by length.
func hostCores(w *Window, of func(contract.CPU) float64, length func(Span) (float64, bool)) (float64, bool) {
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
