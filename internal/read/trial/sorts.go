package trial

import (
	"math"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// Sort is what a trial's clients counted of one class, path, step or size of exchanges. Times are
// response times, in a closed loop service times.
type Sort struct {
	Class              string      // or the path, or the step, from its rate to its rate; "" of a size
	FromBytes, ToBytes int64       // of a size; ToBytes is exclusive
	Exchanges          int64       // those that drained included
	Errors             int64       // but of a size
	OfferedPerS        float64     // of a step
	ExchangesPerS      float64     // 0 where it is not known
	BytesPerS          float64     // of payload, both directions together; of a class
	P50Ns, P99Ns       int64       // 0 where too few lie beyond
	TimeNs             float64     // of them all together
	Times              hist.Packed // what was left unfinished, or timed out, is hist.MaxNs
	Slowdown           float64     // p99 of times ÷ the time without load; 0 where it is not known

	ServiceNs int64           // median service time; 0 where too few lie beyond
	Few       *hist.Histogram // service times where there is no median
}

// readSorts reads the times by class and by size, where there are several.
func (v *Judged) readSorts(e *audit) {
	v.Classes = classesOf(e, func(r *contract.Result) []contract.ClassResult { return r.Classes })
	v.Paths = classesOf(e, func(r *contract.Result) []contract.ClassResult { return r.Paths })
	v.Steps = stepsOf(e)
	bins, ok := e.window.Bins()
	if !ok || len(bins) == 1 && !v.Plan.Unloaded {
		return
	}
	for _, b := range bins {
		s := sortOf(b.Times())
		s.FromBytes, s.ToBytes = b.FromBytes, b.ToBytes
		if ns, known := b.Service.Percentile(0.5); known {
			s.ServiceNs = ns
		} else if v.Plan.Unloaded {
			s.Few = b.Service
		}
		if service, all := e.window.Histogram(record.Service); all {
			s.ExchangesPerS = e.values[metric.ExchangesPerS] * float64(s.Exchanges) / float64(service.Count())
		}
		if ns := v.Unloaded[b.FromBytes]; ns > 0 {
			s.Slowdown = float64(s.P99Ns) / ns
		}
		v.Sizes = append(v.Sizes, s)
	}
	if s, known := e.window.Slowdowns(); known {
		v.Left = s.Left
	}
}

// divide finds the slowdowns of a trial that was judged before its times without load were
// known.
func (v *Judged) divide() {
	w := record.NewWindow(v.times)
	w.Unloaded, v.times = v.Unloaded, nil
	if v.Trial.Values.IsZero() {
		return
	}
	for _, name := range metric.SlowdownNames() {
		m, _ := metric.Named(name) // of the registry, held by a test
		if x, has := m.In(w); has {
			v.Trial.Values.Set(name, x)
		}
	}
	if s, known := w.Slowdowns(); known && len(v.Sizes) > 0 {
		v.Left = s.Left
	}
	for i := range v.Sizes {
		if ns := v.Unloaded[v.Sizes[i].FromBytes]; ns > 0 {
			v.Sizes[i].Slowdown = float64(v.Sizes[i].P99Ns) / ns
		}
	}
}

func sortOf(times *hist.Histogram) Sort {
	s := Sort{Exchanges: times.Count(), Times: times.Pack(), TimeNs: times.MeanNs() * float64(times.Count())}
	s.P50Ns, _ = times.Percentile(0.5)
	s.P99Ns, _ = times.Percentile(0.99)
	return s
}

// classesOf returns what clients counted by class, or what else of tells, over all of them, which
// tell the same ones; nil where a client does not tell them.
func classesOf(e *audit, of func(*contract.Result) []contract.ClassResult) []Sort {
	var all []Sort
	var times []*hist.Histogram
	var left []int64
	for i, g := range e.generators {
		if g.Result == nil || len(of(g.Result)) == 0 || i > 0 && len(of(g.Result)) != len(times) {
			return nil
		}
		for k, c := range of(g.Result) {
			if i == 0 {
				times, left, all = append(times, hist.New()), append(left, 0), append(all, Sort{Class: c.Name})
			}
			all[k].Errors += c.Errors
			left[k] += c.Unfinished + c.Late
			if seconds := windowOf(g); seconds > 0 {
				all[k].ExchangesPerS += float64(c.Exchanges) / seconds
				all[k].BytesPerS += float64(c.SentBytes+c.ReceivedBytes) / seconds
			}
			text := c.Response
			if !e.open {
				text = c.Service
			}
			if text == "" {
				continue
			}
			h, err := hist.Decode(text)
			if err != nil {
				return nil
			}
			times[k].Merge(h)
		}
	}
	for k, h := range times {
		s := sortOf(h)
		if left[k] > 0 {
			h.Record(hist.MaxNs, left[k])
		}
		s.Class, s.Errors, s.ExchangesPerS, s.BytesPerS, s.Times = all[k].Class, all[k].Errors, all[k].ExchangesPerS, all[k].BytesPerS, h.Pack()
		all[k] = s
	}
	return all
}

// stepsOf returns what clients counted by step, each of which is called by its rates, but for the
// warm-up's; nil where they do not tell.
func stepsOf(e *audit) []Sort {
	all := classesOf(e, func(r *contract.Result) []contract.ClassResult { return r.Steps })
	if len(all) == 0 || e.generators[0].Setup == nil || len(e.generators[0].Setup.Load.Phases) != len(all) {
		return nil
	}
	seconds := windowOf(e.generators[0])
	for k := range all {
		first, last, lasts := 0.0, 0.0, 0.0
		for _, g := range e.generators {
			p := g.Setup.Load.Phases[k]
			first, last, lasts = first+p[1], last+p[2], p[0]/1e9
		}
		all[k].OfferedPerS, all[k].Class = (first+last)/2, quantity.RateText(math.Round(first))
		if first != last {
			all[k].Class += ".." + quantity.RateText(math.Round(last))
		}
		all[k].ExchangesPerS *= seconds / lasts
		all[k].BytesPerS *= seconds / lasts
	}
	if setup := e.generators[0].Setup; float64(setup.WarmupNs) == setup.Load.Phases[0][0] {
		all = all[1:]
	}
	return all
}

// UnloadedTimes returns for each trial that has one its arm's times without load: those of
// the trials without load of its block, and where these have too few exchanges of a size,
// those of all blocks together. Median and not mean, so that half of an arm's unloaded
// exchanges have a slowdown below 1.
func UnloadedTimes(unloaded []*Judged) func(record.Trial) record.UnloadedNs {
	type place struct {
		key   string
		block int
	}
	const all = 0 // blocks
	medians, few := map[place]map[int64][]float64{}, map[place]map[int64]*hist.Histogram{}
	for _, v := range unloaded {
		if v.Trial.Status != Valid || v.Trial.Partial() {
			continue
		}
		for _, s := range v.Sizes {
			for _, block := range []int{v.Plan.Block, all} {
				at := place{v.Plan.UnloadedKey(), block}
				if medians[at] == nil {
					medians[at], few[at] = map[int64][]float64{}, map[int64]*hist.Histogram{}
				}
				if s.ServiceNs > 0 {
					medians[at][s.FromBytes] = append(medians[at][s.FromBytes], float64(s.ServiceNs))
				} else if h := few[at][s.FromBytes]; h != nil {
					h.Merge(s.Few)
				} else {
					few[at][s.FromBytes] = hist.New()
					few[at][s.FromBytes].Merge(s.Few)
				}
			}
		}
	}
	times := map[place]record.UnloadedNs{}
	for at := range medians {
		ns := record.UnloadedNs{}
		for _, from := range []place{at, {at.key, all}} {
			for bytes, several := range medians[from] {
				if ns[bytes] == 0 {
					ns[bytes] = stat.Median(several)
				}
			}
			for bytes, h := range few[from] {
				if median, known := h.Percentile(0.5); known && ns[bytes] == 0 {
					ns[bytes] = float64(median)
				}
			}
		}
		times[at] = ns
	}
	return func(t record.Trial) record.UnloadedNs {
		key := t.UnloadedKey()
		if ns := times[place{key, t.Block}]; ns != nil {
			return ns
		}
		return times[place{key, all}]
	}
}
