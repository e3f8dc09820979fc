package load

import (
	"cmp"
	"slices"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// classCounts are one shard's completions of one class in one phase.
type classCounts struct{ exchanges, sent, received, errors atomic.Int64 }

// classTimes are a class's times in the window and draining, over all shards. They are
// made when the class's first exchange completes there: 64 classes would take 30 MB.
type classTimes struct{ service, response atomic.Pointer[hist.Recorder] }

func recordIn(to *atomic.Pointer[hist.Recorder], ns int64) {
	r := to.Load()
	if r == nil {
		to.CompareAndSwap(nil, hist.NewRecorder())
		r = to.Load()
	}
	r.Record(ns)
}

// countClass adds a completed exchange to its class.
func (s *Slot) countClass(c *counters, sent, now, due, received int64) {
	k := &c.classes[s.draw.Class]
	k.exchanges.Add(1)
	k.sent.Add(s.draw.Up)
	k.received.Add(received)
	if c.times == nil {
		return
	}
	times := &s.load.classTimes[s.draw.Class]
	recordIn(&times.service, now-sent)
	if s.open {
		recordIn(&times.response, now-due)
	}
}

// mostClassText bounds what all histograms of classes take of the result's line.
const mostClassText = 512 << 10

// classResults returns what was counted of each class; nil where there are none. The
// histograms of the rarest classes are left out where all would not fit into a line.
func (l *Load) classResults() ([]contract.ClassResult, error) {
	all := make([]contract.ClassResult, len(l.plan.Classes))
	for i := range all {
		r := &all[i]
		r.Name = l.plan.Classes[i].Name
		for _, c := range l.window {
			k := &c.classes[i]
			r.Exchanges += k.exchanges.Load()
			r.SentBytes += k.sent.Load()
			r.ReceivedBytes += k.received.Load()
			r.Errors += k.errors.Load()
		}
		for _, c := range l.drain {
			r.Drained += c.classes[i].exchanges.Load()
			r.Errors += c.classes[i].errors.Load()
		}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].Exchanges, all[a].Exchanges) })
	room := mostClassText
	for _, i := range order {
		for _, e := range []struct {
			of *atomic.Pointer[hist.Recorder]
			to *string
		}{{&l.classTimes[i].service, &all[i].Service}, {&l.classTimes[i].response, &all[i].Response}} {
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
