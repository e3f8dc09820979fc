package record

import "netdyno/internal/hist"

// Unfinished is what was due in the window and not complete when draining ended.
type Unfinished struct {
	Exchanges int64
	Ages      *hist.Histogram // since due, at the end of the draining; nil when there are none or a client does not tell
}

// late returns the ages of the exchanges that timed out, since they were due; nil where none
// did.
func (w *Window) late() (all *hist.Histogram) {
	for _, g := range w.Generators() {
		if g.Result == nil || g.Result.Late == "" {
			continue
		}
		if h, err := hist.Decode(g.Result.Late); err == nil {
			if all == nil {
				all = hist.New()
			}
			all.Merge(h)
		}
	}
	return all
}

// Unfinished sums up over all clients; false when one left no result.
func (w *Window) Unfinished() (Unfinished, bool) {
	var u Unfinished
	generators, told := w.Generators(), true
	var ages *hist.Histogram // made when there is something in it: most trials leave nothing
	for _, g := range generators {
		if g.Result == nil || g.Result.Unfinished < 0 {
			return Unfinished{}, false
		}
		if g.Result.Unfinished == 0 && g.Result.Ages == "" {
			continue
		}
		u.Exchanges += g.Result.Unfinished
		h, err := hist.Decode(g.Result.Ages)
		if err != nil || h.Count() != g.Result.Unfinished {
			told = false
			continue
		}
		if ages == nil {
			ages = hist.New()
		}
		ages.Merge(h)
	}
	if told && ages != nil && ages.Count() > 0 {
		u.Ages = ages
	}
	return u, len(generators) > 0
}

// UnfinishedShare returns the share of the exchanges that the clients began, or should
// have begun, in the window which were never completed; false as Unfinished.
func (w *Window) UnfinishedShare() (float64, bool) {
	u, ok := w.Unfinished()
	if !ok {
		return 0, false
	}
	all := float64(u.Exchanges)
	for _, g := range w.Generators() {
		all += float64(g.Result.Counts.Exchanges) + float64(g.Result.Drained)
	}
	return float64(u.Exchanges) / max(all, 1), true
}

// Times are a window's times of one kind over all clients, between what is known
// and what may be. The two are the same histogram where everything completed.
type Times struct {
	// Least counts what was left unfinished, or was given up at its deadline, at the age that
	// it had reached, as if it had ended then. Where an age is not one of this kind it is
	// left out: an open loop tells ages since due, which are response times.
	Least *hist.Histogram
	Most  *hist.Histogram // the same if what was left had never ended: at the histogram's maximum
}

// Bounded tells whether something was left unfinished or given up, so that the two differ.
func (t Times) Bounded() bool { return t.Most != t.Least }

// Times returns the times of one kind; false where Histogram has none. The window
// keeps them.
func (w *Window) Times(kind string) (Times, bool) {
	t, known := w.times[kind]
	if !known {
		t = w.bounded(kind)
		w.times[kind] = t
	}
	return t, t.Least != nil
}

func (w *Window) bounded(kind string) Times {
	if ofParts(kind) {
		return w.boundedParts(kind)
	}
	aged := Service
	if _, open := w.OfferedRate(); open {
		aged = Response
	}
	late := w.late()
	completed, ok := w.Histogram(kind)
	if !ok && (late == nil || kind != aged) {
		return Times{}
	} else if !ok {
		completed = hist.New()
	}
	u, told := w.Unfinished()
	if kind == Lag || !told || u.Exchanges == 0 && late == nil { // what was never sent has no lag
		return Times{completed, completed}
	}
	t := Times{hist.New(), hist.New()}
	t.Least.Merge(completed)
	t.Most.Merge(completed)
	for _, ages := range []*hist.Histogram{u.Ages, late} {
		if kind == aged && ages != nil {
			t.Least.Merge(ages)
		}
	}
	t.Most.Record(hist.MaxNs, u.Exchanges)
	if late != nil {
		t.Most.Record(hist.MaxNs, late.Count())
	}
	return t
}

// boundedParts are times of parts of exchanges. An exchange that ended before its part came
// counts at its age, and at most for ever.
func (w *Window) boundedParts(kind string) Times {
	came, _ := w.Histogram(kind)
	waiting := hist.New()
	for _, g := range w.Generators() {
		if g.Result == nil {
			return Times{}
		}
		if _, text, _ := inParts(g.Result, kind); text != "" {
			if h, err := hist.Decode(text); err == nil {
				waiting.Merge(h)
			}
		}
	}
	if waiting.Count() == 0 {
		return Times{came, came}
	}
	t := Times{hist.New(), hist.New()}
	if came != nil {
		t.Least.Merge(came)
		t.Most.Merge(came)
	}
	t.Least.Merge(waiting)
	t.Most.Record(hist.MaxNs, waiting.Count())
	return t
}
