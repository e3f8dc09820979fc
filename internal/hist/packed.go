package hist

import (
	"encoding/binary"
	"slices"
	"sync"
)

// Packed is a histogram as few bytes, to be kept in large numbers and merged: of each
// place that holds values how far it lies behind the one before, and how many it holds.
type Packed []byte

// Pack returns the histogram's values, to its three digits.
func (h *Histogram) Pack() Packed {
	var room [2 << 10]byte // of most
	packed, before := room[:0], 0
	for _, s := range h.Steps() {
		at := indexOf(max(0, min(s.toNs, MaxNs)))
		packed = binary.AppendUvarint(binary.AppendUvarint(packed, uint64(at-before)), uint64(s.count))
		before = at
	}
	return slices.Clone(packed)
}

// Coarse returns the values in fewer places: so many, a power of two, are one. Its values
// stand at the middle, and shift moves where places begin, so that histograms of many shifts
// together are about as exact as their number makes them, and lean to neither side. Below
// 2 µs nothing is changed.
func (p Packed) Coarse(width, shift int) Packed {
	h, last := New(), -1
	for at, n := range p.places {
		if at >= subBuckets {
			shift := shift & (width - 1)
			at = max((at+shift)&^(width-1)-shift+width/2, subBuckets)
		}
		if at == last {
			h.steps[len(h.steps)-1].count += n
		} else {
			h.steps, last = append(h.steps, step{valueAt(at), valueAt(at+1) - 1, n}), at
		}
	}
	return h.Pack()
}

// places yields each place that holds values, rising.
func (p Packed) places(yield func(at int, n int64) bool) {
	at := 0
	for len(p) > 0 {
		step, size := binary.Uvarint(p)
		n, more := binary.Uvarint(p[size:])
		p = p[size+more:]
		if at += int(step); !yield(at, int64(n)) {
			return
		}
	}
}

// UpTo returns how many values lie at or below each of some percentiles, which rise, and
// how many there are.
func (p Packed) UpTo(percentiles []int64) (below []int64, all int64) {
	below = make([]int64, len(percentiles))
	next := 0
	for at, n := range p.places {
		for ; next < len(below) && at > indexOf(percentiles[next]); next++ {
			below[next] = all
		}
		all += n
	}
	for ; next < len(below); next++ {
		below[next] = all
	}
	return below, all
}

// adder is where packed histograms are added up.
type adder struct{ counts [countsLen]int64 }

var adders = sync.Pool{New: func() any { return new(adder) }}

// Unpack returns the values of all together.
func Unpack(all ...Packed) *Histogram {
	sum := adders.Get().(*adder)
	defer adders.Put(sum)
	first, last := countsLen, -1
	for _, p := range all {
		for at, n := range p.places {
			sum.counts[at] += n
			first, last = min(first, at), max(last, at)
		}
	}
	h := New()
	for at := first; at <= last; at++ {
		if n := sum.counts[at]; n > 0 {
			h.steps = append(h.steps, step{valueAt(at), valueAt(at+1) - 1, n})
			h.count, sum.counts[at] = h.count+n, 0
		}
	}
	return h
}
