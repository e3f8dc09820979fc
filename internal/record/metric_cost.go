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

// perExchange divides rate by rate, so that edges which lie a little apart at
// the two ends cancel.
func perExchange(w *Window, perSecond float64, ok bool) (float64, bool) {
	rate, known := exchangeRate(w)
	return perSecond / rate, ok && known && rate > 0
}

// costMetrics are the CPU prices of METHOD §4.1.
func costMetrics() []Metric {
	perEx := bothEnds(Metric{
		Name: "cpu_us_per_exchange", Unit: "µs", Better: Lower, Doc: "CPU per exchange",
		Formula: "cores × 1e6 ÷ exchanges_per_s",
	}, func(w *Window, spans []Span) (float64, bool) {
		c, ok := cores(spans)
		return perExchange(w, c*usPerS, ok)
	})
	host := Metric{
		Name: "host.cpu_us_per_exchange", Unit: "µs", Better: Lower, Doc: "host CPU per exchange",
		Formula: "busy time of all CPUs of all hosts (user, nice, system, irq, softirq) × 1e6 ÷ exchanges_per_s",
		in: func(w *Window) (float64, bool) {
			busy, ok := hostCores(w, busyNs)
			return perExchange(w, busy*usPerS, ok)
		},
	}
	perGB := bothEnds(Metric{
		Name: "cpu_s_per_gb", Unit: "s/GB", Better: Lower, Doc: "CPU per GB",
		Formula: "cores ÷ goodput_bytes_per_s × 1e9",
	}, func(w *Window, spans []Span) (float64, bool) {
		c, ok := cores(spans)
		g, known := goodput(w)
		return c / g * bytesPerGB, ok && known && g > 0
	})
	used := bothEnds(Metric{
		Name: "cores", Unit: "s/s", Better: Lower, Doc: "CPU use",
		Formula: "Δ CPU time of the process tree ÷ Δ time, between the meter's readings at the window's edges",
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
			part, ok := hostCores(w, of)
			whole, known := hostCores(w, allNs)
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

// hostCores returns the CPU seconds per second that of counts, over all CPUs
// of all hosts.
func hostCores(w *Window, of func(contract.CPU) float64) (float64, bool) {
	hosts := w.Hosts()
	sum := 0.0
	for _, h := range hosts {
		from, to, length, _ := h.Metered()
		grown := 0.0
		for i := range to.CPUs {
			grown += of(to.CPUs[i]) - of(from.CPUs[i])
		}
		if grown < 0 {
			return 0, false
		}
		sum += grown / nsPerS / length
	}
	return sum, len(hosts) > 0
}

// memoryMetrics are RSS and context switches of the process trees.
func memoryMetrics() []Metric {
	atClose := func(of func(*contract.Meter) int64) func(*Window, []Span) (float64, bool) {
		return func(_ *Window, spans []Span) (float64, bool) {
			sum := 0.0
			for _, s := range spans {
				if s.To.Meter == nil || of(s.To.Meter) <= 0 {
					return 0, false
				}
				sum += float64(of(s.To.Meter))
			}
			return sum, true
		}
	}
	all := bothEnds(Metric{
		Name: "rss_bytes", Unit: "B", Better: Lower, Doc: "memory",
		Formula: "resident set of the process tree at the window's closing edge",
	}, atClose(func(m *contract.Meter) int64 { return m.Process.RSSBytes }))
	all = append(all, bothEnds(Metric{
		Name: "peak_rss_bytes", Unit: "B", Better: Lower, Doc: "peak memory",
		Formula: "highest resident set of the process tree since it began",
	}, atClose(func(m *contract.Meter) int64 { return m.Process.PeakRSSBytes }))...)
	return append(all, bothEnds(Metric{
		Name: "switches_per_exchange", Unit: "1", Better: Lower, Doc: "context switches per exchange",
		Formula: "voluntary and involuntary context switches per second ÷ exchanges_per_s",
	}, func(w *Window, spans []Span) (float64, bool) {
		perSecond, ok := sumRate(spans, func(s Span) (from, to int64, ok bool) {
			a, b, _, ok := s.Metered()
			if !ok {
				return 0, 0, false
			}
			return a.Process.VoluntarySwitches + a.Process.InvoluntarySwitches,
				b.Process.VoluntarySwitches + b.Process.InvoluntarySwitches, true
		}, meteredSeconds)
		return perExchange(w, perSecond, ok)
	})...)
}

// runtimeMetrics exist where the worker's language has a managed runtime.
func runtimeMetrics() []Metric {
	rate := func(spans []Span, of func(*contract.Runtime) int64) (float64, bool) {
		return sumRate(spans, func(s Span) (from, to int64, ok bool) {
			a, b := s.From.Reading.Runtime, s.To.Reading.Runtime
			if a == nil || b == nil {
				return 0, 0, false
			}
			return of(a), of(b), true
		}, Span.Seconds)
	}
	all := bothEnds(Metric{
		Name: "gc_cpu_share", Unit: "share", Better: Lower, Doc: "GC share of CPU",
		Formula: "CPU time of the garbage collector ÷ CPU time of the process tree, both per second of the window",
	}, func(_ *Window, spans []Span) (float64, bool) {
		gc, ok := rate(spans, func(r *contract.Runtime) int64 { return r.GCCPUNs })
		c, known := cores(spans)
		return gc / nsPerS / c, ok && known && c > 0
	})
	all = append(all, bothEnds(Metric{
		Name: "gc_pause_us_per_s", Unit: "µs/s", Better: Lower, Doc: "GC pause time",
		Formula: "stop-the-world time of the garbage collector per second of the window",
	}, func(_ *Window, spans []Span) (float64, bool) {
		ns, ok := rate(spans, func(r *contract.Runtime) int64 { return r.GCPauseNs })
		return ns / nsPerUs, ok
	})...)
	return append(all, bothEnds(Metric{
		Name: "alloc_bytes_per_exchange", Unit: "B", Better: Lower, Doc: "allocation per exchange",
		Formula: "bytes allocated per second ÷ exchanges_per_s",
	}, func(w *Window, spans []Span) (float64, bool) {
		bytes, ok := rate(spans, func(r *contract.Runtime) int64 { return r.AllocBytes })
		return perExchange(w, bytes, ok)
	})...)
}
