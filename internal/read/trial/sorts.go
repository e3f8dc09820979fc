package trial

import (
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// Sort is what a trial's clients counted of one class or one size of exchanges. Times are
// response times, in a closed loop service times.
type Sort struct {
	Class              string  // "" of a size
	FromBytes, ToBytes int64   // of a size; ToBytes is exclusive
	Exchanges          int64   // those that drained included
	ExchangesPerS      float64 // 0 where it is not known
	BytesPerS          float64 // of payload, both directions together; of a class
	P50Ns, P99Ns       int64   // 0 where too few lie beyond
	Slowdown           float64 // p99 of times ÷ the time without load; 0 where it is not known

	ServiceNs int64           // median service time; 0 where too few lie beyond
	Few       *hist.Histogram // service times where there is no median
}

// readSorts reads the times by class and by size, where there are several.
func (v *Judged) readSorts(e *audit) {
	v.Classes = classesOf(e)
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
	s := Sort{Exchanges: times.Count()}
	s.P50Ns, _ = times.Percentile(0.5)
	s.P99Ns, _ = times.Percentile(0.99)
	return s
}

// classesOf returns the times by class over all clients, which mix the same ones; nil where
// a client does not tell them.
func classesOf(e *audit) []Sort {
	var all []Sort
	var times []*hist.Histogram
	var rates [][2]float64 // exchanges and bytes
	for i, g := range e.generators {
		if g.Result == nil || len(g.Result.Classes) == 0 || i > 0 && len(g.Result.Classes) != len(times) {
			return nil
		}
		for k, c := range g.Result.Classes {
			if i == 0 {
				times, rates = append(times, hist.New()), append(rates, [2]float64{})
			}
			if seconds := windowOf(g); seconds > 0 {
				rates[k][0] += float64(c.Exchanges) / seconds
				rates[k][1] += float64(c.SentBytes+c.ReceivedBytes) / seconds
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
		s.ExchangesPerS, s.BytesPerS = rates[k][0], rates[k][1]
		s.Class = e.generators[0].Result.Classes[k].Name
		all = append(all, s)
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
