package load

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// binOf returns the bin of an exchange by its larger message: bin 0 is below 64 B, and
// bin k from 64·4^(k−1) B on. One of contract.MaxMessage has bin mostBins − 1.
func binOf(bytes int64) int { return max(0, (bits.Len64(uint64(bytes))-5)/2) }

const mostBins = 14

// apart is how many bins larger an exchange is that holds up a small one: its bin begins
// at 16 times where the small one's does.
const apart = 2

// binEdges returns from where up to where, exclusive, a bin's sizes are, in bytes.
func binEdges(bin int) (from, to int64) {
	if bin > 0 {
		from = 64 << (2 * (bin - 1))
	}
	return from, 64 << (2 * bin)
}

// sizes are the times of a client's exchanges by size, in a window and draining. They
// are all the times that are kept: those of the whole client are their sums, so that an
// exchange is recorded once. What is behind or free is not in whole.
type sizes struct {
	largest int      // bin
	stripes []bySize // of the shards in turn, so that their CPUs do not write to one place
}

// bySize are the times of some shards. Recorders are made when a bin's first exchange
// completes: all would take 13 MB.
type bySize [mostBins]struct {
	service, whole, behind, free atomic.Pointer[hist.Recorder]
}

// mostStripes bounds the recorders of a client on many CPUs.
const mostStripes = 8

// waits says of a small exchange whether a larger one was in flight on its connection. A
// slot that has its connection for itself has waits of its own, and only its goroutine
// uses it; slots of one connection share it. Of exchanges that have completed only the
// last one of each bin is known.
type waits struct {
	last  [mostBins]span // of a slot alone; else under mu
	slots []Slot         // of the connection; nil for one alone
	begun [mostBins]atomic.Int32
	mu    sync.RWMutex
}

// newSizes makes the sizes of a window; nil where all exchanges are of one size.
func (l *Load) newSizes() *sizes {
	if !l.draws.Vary() {
		return nil
	}
	return &sizes{largest: binOf(max(l.exchange.UpBytes, l.exchange.DownBytes)), stripes: make([]bySize, min(len(l.shards), mostStripes))}
}

// newWaits gives every slot its stripe and, where exchanges can wait for each other, its
// connection's waits. In a closed loop those of a slot alone cannot.
func (l *Load) newWaits() {
	for i := range l.slots {
		l.slots[i].stripe = (i / l.plan.InFlight) % len(l.shards) % min(len(l.shards), mostStripes)
	}
	if l.plan.InFlight == 1 && l.plan.Rate == 0 {
		return
	}
	all := make([]waits, l.ActiveConnections())
	for i := range all {
		slots := l.Slots(i)
		if len(slots) > 1 {
			all[i].slots = slots
		}
		for k := range slots {
			slots[k].waits = &all[i]
		}
	}
}

// beginSize notes the size of the exchange that begins.
func (s *Slot) beginSize() {
	s.bin = binOf(max(s.draw.Up, s.draw.Down))
	if w := s.waits; w != nil && w.slots != nil && s.bin >= apart {
		s.flying.Store(int32(s.bin))
		w.begun[s.bin].Add(1)
	}
}

// endSize takes it back. A completed exchange says from when until when it was in flight.
func (s *Slot) endSize(in span) {
	w := s.waits
	if w == nil || s.bin < apart {
		return
	}
	if w.slots == nil {
		if in.to > 0 {
			w.last[s.bin] = in
		}
		return
	}
	if in.to > 0 {
		w.mu.Lock()
		w.last[s.bin] = in
		w.mu.Unlock()
	}
	s.flying.Store(0)
	w.begun[s.bin].Add(-1)
}

// countSize adds a completed exchange to its bin, which what came back decides, too.
func (s *Slot) countSize(z *sizes, sent, now, due, received int64) {
	largest, bin := z.largest, min(binOf(max(s.draw.Up, received)), mostBins-1)
	of := &z.stripes[s.stripe][bin]
	if s.open {
		recordIn(&of.service, now-sent)
	} else {
		due = sent
	}
	switch {
	case s.waits == nil || bin > largest-apart:
		recordIn(&of.whole, now-due)
	case s.waits.behind(bin, largest, span{due, sent}):
		recordIn(&of.behind, now-due)
	default:
		recordIn(&of.free, now-due)
	}
}

// behind tells whether an exchange larger than those of a bin was in flight at some moment
// from when one was due until it was sent.
func (w *waits) behind(bin, largest int, begins span) bool {
	if w.slots == nil {
		return w.completed(bin, largest, begins)
	}
	for b := bin + apart; b <= largest; b++ {
		if w.begun[b].Load() <= 0 {
			continue
		}
		for i := range w.slots {
			if s := &w.slots[i]; int(s.flying.Load()) == b && s.pending.Load() <= begins.to {
				return true
			}
		}
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.completed(bin, largest, begins)
}

func (w *waits) completed(bin, largest int, begins span) bool {
	for _, in := range w.last[min(bin+apart, largest+1) : largest+1] {
		if begins.from <= in.to && in.from <= begins.to {
			return true
		}
	}
	return false
}

// mostBinText bounds what all histograms of bins take of the result's line.
const mostBinText = 256 << 10

// binResults returns what was counted of each size that there was. Where all would not fit
// into a line, the histograms of the largest sizes, which are the rarest, are left out.
func (p phase) binResults(open bool) ([]contract.SizeBin, error) {
	z := p[0].times.sizes
	if z == nil {
		return nil, nil
	}
	var all []contract.SizeBin
	room := mostBinText
	for i := range mostBins {
		alone, behind, free, times := z.timesOf(i)
		if times.Count() == 0 {
			continue
		}
		var b contract.SizeBin
		b.FromBytes, b.ToBytes = binEdges(i)
		service, response := times, hist.New()
		if open {
			service, response = alone, times
		}
		for _, e := range []struct {
			of *hist.Histogram
			to *string
		}{{service, &b.Service}, {response, &b.Response}, {behind, &b.Behind}, {free, &b.Free}} {
			if e.of.Count() == 0 {
				continue
			}
			text, err := e.of.Encode()
			if err != nil {
				return nil, err
			}
			if room -= len(text); room >= 0 {
				*e.to = text
			}
		}
		all = append(all, b)
	}
	return all, nil
}

// timesOf returns the times of a bin: in an open loop the service times, and the response
// times; in a closed one nothing, and the service times. Of the latter behind and free are
// those of small exchanges.
func (z *sizes) timesOf(bin int) (service, behind, free, times *hist.Histogram) {
	service, behind, free, times = hist.New(), hist.New(), hist.New(), hist.New()
	for i := range z.stripes {
		of := &z.stripes[i][bin]
		for _, x := range []struct {
			from *atomic.Pointer[hist.Recorder]
			to   *hist.Histogram
		}{{&of.service, service}, {&of.whole, times}, {&of.behind, behind}, {&of.free, free}} {
			if r := x.from.Load(); r != nil {
				x.to.Merge(r.Snapshot())
			}
		}
	}
	times.Merge(behind)
	times.Merge(free)
	return service, behind, free, times
}

// recorders are those there are: in an open loop of response times, or where service is
// asked for of service times; in a closed one of service times.
func (z *sizes) recorders(service bool) (all []*hist.Recorder) {
	for i := range z.stripes {
		for bin := range z.stripes[i] {
			of := &z.stripes[i][bin]
			from := []*atomic.Pointer[hist.Recorder]{&of.whole, &of.behind, &of.free}
			if service {
				from = []*atomic.Pointer[hist.Recorder]{&of.service}
			}
			for _, p := range from {
				if r := p.Load(); r != nil {
					all = append(all, r)
				}
			}
		}
	}
	return all
}
