package view

import (
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Readings that lie further apart than this, as a multiple of their usual distance, are
// not joined: nobody knows what was between them.
const timelineGap = 2.9

// addWorker adds what one worker and its meter told between ticks. Their times are
// counted from the worker's own opening mark, at which both were read.
func (t *Timeline) addWorker(w *record.Worker, open float64) {
	if w.Open == nil {
		return
	}
	t.addTimes(w, open)
	t.addRuntime(w, open)
	if w.Open.Meter != nil {
		t.addMetered(w, open)
		t.addTCP(w, open)
	}
}

// since returns the place of an instant on the axis, of a worker whose opening mark was
// at begin on the same clock.
func since(at, begin int64, open float64) float64 { return open + float64(at-begin)/1e9 }

func (t *Timeline) addTimes(w *record.Worker, open float64) {
	p50, p99 := Track{Of: w.Role, Name: "p50", Unit: "µs"}, Track{Of: w.Role, Name: "p99", Unit: "µs"}
	most := Track{Of: w.Role, Name: "most", Unit: "µs"}
	before, step := 0.0, usualStep(w.Ticks, tickAt)
	for i, tick := range w.Ticks {
		at := since(tick.AtNs, w.Open.Reading.AtNs, open)
		if i == 0 || at-before > timelineGap*step || tick.Times == nil {
			p50.cut()
			p99.cut()
			most.cut()
		}
		if times := tick.Times; times != nil && i > 0 {
			middle := (at + before) / 2
			putTime(&p50, middle, times.P50Ns)
			putTime(&p99, middle, times.P99Ns)
			most.addPoint(middle, float64(times.MaxNs)/1e3)
		}
		before = at
	}
	if t.addTracks(p50, p99, most); len(most.Runs) > 0 {
		t.Times = record.Service
		if w.Setup != nil && w.Setup.Load.Rate > 0 {
			t.Times = record.Response
		}
	}
}

// putTime adds a percentile, where there were values enough for one.
func putTime(t *Track, at float64, ns int64) {
	if ns == 0 {
		t.cut()
		return
	}
	t.addPoint(at, float64(ns)/1e3)
}

func (t *Timeline) addRuntime(w *record.Worker, open float64) {
	var told []contract.Tick
	for _, tick := range w.Ticks {
		if tick.Runtime != nil {
			told = append(told, tick)
		}
	}
	d := newDrawer(w.Role, told, tickAt, w.Open.Reading.AtNs, open)
	of := func(value func(*contract.Runtime) int64) func(int) (float64, bool) {
		return func(i int) (float64, bool) { return float64(value(told[i].Runtime)), true }
	}
	t.addTracks(
		d.rate("pauses", "µs/s", 1e-3, of(func(r *contract.Runtime) int64 { return r.GCPauseNs })),
		d.rate("collecting", "s/s", 1e-9, of(func(r *contract.Runtime) int64 { return r.GCCPUNs })),
		d.rate("cycles", "1/s", 1, of(func(r *contract.Runtime) int64 { return r.GCCycles })),
		d.rate("allocated", "B/s", 1, of(func(r *contract.Runtime) int64 { return r.AllocBytes })),
		d.level("heap", "B", of(func(r *contract.Runtime) int64 { return r.HeapBytes })),
		d.level("heap from the system", "B", of(func(r *contract.Runtime) int64 { return r.HeapSysBytes })),
		d.level("stacks from the system", "B", of(func(r *contract.Runtime) int64 { return r.StackSysBytes })),
	)
}

func (t *Timeline) addMetered(w *record.Worker, open float64) {
	all := w.Metered
	d := newDrawer(w.Role, all, meterAt, w.Open.Meter.AtNs, open)
	process := func(value func(contract.Process) int64) func(int) (float64, bool) {
		return func(i int) (float64, bool) { return float64(value(all[i].Process)), true }
	}
	t.addTracks(
		d.level("resident", "B", process(func(p contract.Process) int64 { return p.RSSBytes })),
		d.rate("user", "s/s", 1e-9, process(func(p contract.Process) int64 { return p.UserNs })),
		d.rate("system", "s/s", 1e-9, process(func(p contract.Process) int64 { return p.SystemNs })),
	)
	name := busiest(all)
	link := func(value func(contract.Interface) int64) func(int) (float64, bool) {
		return func(i int) (float64, bool) {
			counters, ok := all[i].Interfaces.Of(name)
			return float64(value(counters)), ok
		}
	}
	t.addTracks(
		d.rate("in by "+name, "B/s", 1, link(func(i contract.Interface) int64 { return i.ReceivedBytes })),
		d.rate("out by "+name, "B/s", 1, link(func(i contract.Interface) int64 { return i.SentBytes })),
	)
}

// addTCP adds what the meter saw of connections, which it looks at more rarely.
func (t *Timeline) addTCP(w *record.Worker, open float64) {
	var all []contract.Meter
	for _, m := range w.Metered {
		if m.TCP != nil {
			all = append(all, m)
			t.Seen = max(t.Seen, m.TCP.Sockets)
		}
	}
	d := newDrawer(w.Role, all, meterAt, w.Open.Meter.AtNs, open)
	of := func(value func(*contract.TCP) int64) func(int) (float64, bool) {
		return func(i int) (float64, bool) { return float64(value(all[i].TCP)), true }
	}
	same := d // a counter summed over connections also rises with each new connection
	same.joined = func(i, j int) bool { return all[i].TCP.Sockets == all[j].TCP.Sockets }
	t.addTracks(
		same.rate("retransmits", "1/s", 1, of(func(c *contract.TCP) int64 { return c.Retransmits })),
		d.level("congestion window", "segments", of(func(c *contract.TCP) int64 { return c.CongestionWindow })),
		d.level("received, not read", "B", of(func(c *contract.TCP) int64 { return c.ReceiveBufferedBytes })),
		d.level("sent, not acknowledged", "B", of(func(c *contract.TCP) int64 { return c.SendQueuedBytes })),
	)
}

// busiest names the interface that moved the most bytes between the first reading and
// the last.
func busiest(all []contract.Meter) string {
	if len(all) == 0 {
		return ""
	}
	name, most := "", int64(-1)
	first, last := all[0].Interfaces, all[len(all)-1].Interfaces
	for _, after := range last {
		before, _ := first.Of(after.Name)
		if moved := after.ReceivedBytes + after.SentBytes - before.ReceivedBytes - before.SentBytes; moved > most {
			name, most = after.Name, moved
		}
	}
	return name
}

// drawer makes tracks of n readings that lie some step apart, in seconds.
type drawer struct {
	of     contract.Role
	n      int
	step   float64
	at     func(i int) float64
	joined func(i, j int) bool // whether a difference of two readings means anything; nil for always
}

// newDrawer is of readings by a clock that was at begin when the window opened.
func newDrawer[T any](of contract.Role, all []T, atNs func(T) int64, begin int64, open float64) drawer {
	return drawer{of: of, n: len(all), step: usualStep(all, atNs), at: func(i int) float64 { return since(atNs(all[i]), begin, open) }}
}

func tickAt(t contract.Tick) int64   { return t.AtNs }
func meterAt(m contract.Meter) int64 { return m.AtNs }

// usualStep is the median distance of readings in seconds.
func usualStep[T any](all []T, atNs func(T) int64) float64 {
	var steps []int64
	for i := 1; i < len(all); i++ {
		steps = append(steps, atNs(all[i])-atNs(all[i-1]))
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return float64(steps[len(steps)/2]) / 1e9
}

// level draws what was so at each reading.
func (d drawer) level(name, unit string, value func(int) (float64, bool)) Track {
	t := Track{Of: d.of, Name: name, Unit: unit}
	for i := range d.n {
		v, ok := value(i)
		if i > 0 && d.at(i)-d.at(i-1) > timelineGap*d.step || !ok {
			t.cut()
		}
		if ok {
			t.addPoint(d.at(i), v)
		}
	}
	return t
}

// rate draws what was added between two readings per second, times a factor, in the
// middle between them; nothing where an amount fell or one is missing.
func (d drawer) rate(name, unit string, factor float64, value func(int) (float64, bool)) Track {
	t := Track{Of: d.of, Name: name, Unit: unit}
	for i := 1; i < d.n; i++ {
		from, had := value(i - 1)
		to, has := value(i)
		length := d.at(i) - d.at(i-1)
		if !had || !has || !(length > 0) || length > timelineGap*d.step || to < from || d.joined != nil && !d.joined(i-1, i) {
			t.cut()
			continue
		}
		t.addPoint((d.at(i)+d.at(i-1))/2, (to-from)/length*factor)
	}
	return t
}
