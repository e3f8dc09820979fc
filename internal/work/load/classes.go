package load

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// The ways in which a client's exchanges are told apart, each with counts and times of its own.
const (
	byClass = iota // of a workload
	byPath         // that a transport asks for, see Paths
	byStep         // of a rate that changes: when an exchange was due
	ways
)

// byWay has what is counted in each way, by class, path or step; nil where exchanges are not
// told apart so.
type byWay[T any] [ways][]T

// classCounts are one shard's completions of one class in one phase.
type classCounts struct{ exchanges, sent, received, errors, late atomic.Int64 }

// classTimes are a class's times in one window and draining after it, over all shards. They
// are made when the class's first exchange completes there: 64 classes would take 30 MB.
type classTimes struct{ service, response atomic.Pointer[hist.Recorder] }

func recordIn(to *atomic.Pointer[hist.Recorder], ns int64) {
	r := to.Load()
	if r == nil {
		to.CompareAndSwap(nil, hist.NewRecorder())
		r = to.Load()
	}
	r.Record(ns)
}

// nameWays names the classes and the steps that the plan has.
func (l *Load) nameWays() {
	for _, c := range l.plan.Classes {
		l.names[byClass] = append(l.names[byClass], c.Name)
	}
	if l.plan.Repeat || len(l.plan.Phases) > contract.MostClasses {
		return
	}
	for _, p := range l.plan.Phases {
		l.stepEnds = append(l.stepEnds, int64(p[0]))
		if k := len(l.stepEnds) - 1; k > 0 {
			l.stepEnds[k] += l.stepEnds[k-1]
		}
		l.names[byStep] = append(l.names[byStep], strconv.Itoa(len(l.stepEnds)))
	}
}

// tellsApart tells whether exchanges are told apart in any way.
func (l *Load) tellsApart() bool {
	return slices.ContainsFunc(l.names[:], func(names []string) bool { return len(names) > 0 })
}

// Paths says that exchanges are told apart by these paths, each of which a slot says by AsksFor
// its number. Call it before Start.
func (l *Load) Paths(names []string) {
	l.names[byPath] = names
	l.newPhases()
}

// AsksFor says which of the paths the exchange in flight asks for.
func (s *Slot) AsksFor(path int) { s.path = path }

// stepAt returns the step of an instant since the start.
func (l *Load) stepAt(ns int64) int {
	last := len(l.stepEnds) - 1
	return min(sort.Search(last, func(k int) bool { return l.stepEnds[k] > ns }), last)
}

// placeIn returns which of a way's an exchange is that was due at an instant.
func (s *Slot) placeIn(way int, due int64) int {
	switch way {
	case byClass:
		return s.draw.Class
	case byPath:
		return s.path
	}
	return s.load.stepAt(due - s.load.startNs.Load())
}

// countApart adds a completed exchange to its class, its path and its step. A step's exchanges
// are those that completed while it lasted, its times those of what was due in it.
func (s *Slot) countApart(c *counters, sent, now, due, received int64) {
	for way, counts := range c.apart {
		if counts == nil {
			continue
		}
		at := s.placeIn(way, due)
		k := &counts[at]
		if way == byStep {
			k = &counts[s.placeIn(way, now)]
		}
		k.exchanges.Add(1)
		k.sent.Add(s.draw.Up)
		k.received.Add(received)
		if c.times == nil {
			continue
		}
		times := &c.times.apart[way][at]
		recordIn(&times.service, now-sent)
		if s.open {
			recordIn(&times.response, now-due)
		}
	}
}

// failApart adds a failed exchange likewise.
func (s *Slot) failApart(c *counters, due int64, late bool) {
	for way, counts := range c.apart {
		if counts == nil {
			continue
		}
		k := &counts[s.placeIn(way, due)]
		if k.errors.Add(1); late {
			k.late.Add(1)
		}
	}
}

// leaveApart notes an exchange that was left unfinished, or was never sent.
func (l *Load) leaveApart(s *Slot, due int64, sent bool) {
	for way := range l.left {
		if l.left[way] != nil && (sent || way == byStep) {
			l.left[way][s.placeIn(way, due)]++
		}
	}
}

// mostClassText bounds what all histograms of a way take of the result's line.
const mostClassText = 512 << 10

// enterApart enters what a window counted in each way, and what drained after it.
func (l *Load) enterApart(window, drain phase, r *contract.Result) (err error) {
	for way, to := range []*[]contract.ClassResult{&r.Classes, &r.Paths, &r.Steps} {
		if len(l.names[way]) > 0 && err == nil {
			*to, err = l.apartResults(way, window, drain)
		}
	}
	return err
}

// apartResults returns what was counted in one way. The histograms of the rarest are left out
// where all would not fit into a line.
func (l *Load) apartResults(way int, window, drain phase) ([]contract.ClassResult, error) {
	all := make([]contract.ClassResult, len(l.names[way]))
	for i := range all {
		r := &all[i]
		r.Name = l.names[way][i]
		for _, c := range window {
			k := &c.apart[way][i]
			r.Exchanges += k.exchanges.Load()
			r.SentBytes += k.sent.Load()
			r.ReceivedBytes += k.received.Load()
			r.Errors += k.errors.Load()
			r.Late += k.late.Load()
		}
		for _, c := range drain {
			r.Drained += c.apart[way][i].exchanges.Load()
			r.Errors += c.apart[way][i].errors.Load()
			r.Late += c.apart[way][i].late.Load()
		}
		if l.left[way] != nil {
			r.Unfinished = l.left[way][i]
		}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].Exchanges, all[a].Exchanges) })
	room := mostClassText
	for _, i := range order {
		times := &window[0].times.apart[way][i]
		for _, e := range []struct {
			of *atomic.Pointer[hist.Recorder]
			to *string
		}{{&times.service, &all[i].Service}, {&times.response, &all[i].Response}} {
			recorder := e.of.Load()
			if recorder == nil {
				continue
			}
			text, err := recorder.Snapshot().Encode()
			if err != nil {
				return nil, err
			}
			if room -= len(text); room >= 0 {
				*e.to = text
			}
		}
	}
	return all, nil
}
