// Package hist holds HdrHistograms of nanoseconds: a recorder that load
// generators share without locks, and the snapshots that readers merge and
// query. Encoding and quantiles are hdrhistogram-go's; only the recording path
// is our own, because the library's is neither atomic nor bounded for values
// out of range.
//
// Source: G. Tene, HdrHistogram (hdrhistogram.org), counts-array layout and
// V2 compressed encoding.
package hist

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The geometry of every histogram in netdyno: 1 ns to 5 minutes at three
// significant decimal digits (at most 0.1 % error).
const (
	MinNs  = 1
	MaxNs  = 300_000_000_000
	Digits = 3
)

const (
	subBucketMagnitude = 11 // 2^11 = 2048 ≥ 2 · 10^Digits
	subBuckets         = 1 << subBucketMagnitude
	halfBuckets        = subBuckets / 2
	halfMagnitude      = subBucketMagnitude - 1
	buckets            = 29 // 2048 · 2^28 > MaxNs
	countsLen          = (buckets + 1) * halfBuckets
)

// Recorder counts values from any number of goroutines. The zero value is not
// usable; see NewRecorder. It takes 240 KB.
type Recorder struct {
	counts  [countsLen]atomic.Int64
	overMax atomic.Int64
}

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder { return new(Recorder) }

// Record adds one value in ns. Negative values count as 0; values above MaxNs
// count as MaxNs and in OverMax. Allocation-free; about 5 ns uncontended.
func (r *Recorder) Record(ns int64) {
	if ns < 0 {
		ns = 0
	}
	if ns > MaxNs {
		r.overMax.Add(1)
		ns = MaxNs
	}
	r.counts[indexOf(ns)].Add(1)
}

// indexOf returns the position of a value in the counts array.
func indexOf(ns int64) int {
	bucket := 64 - bits.LeadingZeros64(uint64(ns)|(subBuckets-1)) - subBucketMagnitude
	return (bucket+1)<<halfMagnitude + int(ns>>bucket) - halfBuckets
}

// OverMax returns how many values exceeded MaxNs.
func (r *Recorder) OverMax() int64 { return r.overMax.Load() }

// Snapshot copies the counts into a Histogram that the caller owns.
func (r *Recorder) Snapshot() *Histogram {
	h := New()
	for i := range r.counts {
		if n := r.counts[i].Load(); n > 0 {
			h.Record(valueAt(i), n) // a value inside the range is always accepted
		}
	}
	return h
}

// valueAt returns the lowest value counted at position i.
func valueAt(i int) int64 {
	bucket := i>>halfMagnitude - 1
	sub := i&(halfBuckets-1) + halfBuckets
	if bucket < 0 {
		bucket, sub = 0, sub-halfBuckets
	}
	return int64(sub) << bucket
}

// Histogram is a distribution of ns at rest. One goroutine may use it. It is held
// as the library's counts while it is filled, and as its steps, which answer every
// question, once it is asked.
type Histogram struct {
	filled *hdr.Histogram // nil while the steps are all there is
	steps  Steps          // of netdyno's geometry, unless filled is of another
	known  bool           // the steps are those of filled
	count  int64          // of the steps
}

// New returns an empty histogram.
func New() *Histogram { return &Histogram{known: true} }

// Constant returns n values of ns, clamped to [0, MaxNs].
func Constant(ns, n int64) *Histogram {
	at := indexOf(max(0, min(ns, MaxNs)))
	return &Histogram{known: true, count: n, steps: Steps{{valueAt(at), valueAt(at+1) - 1, n}}}
}

// counts returns the library's histogram, made from the steps where there is none,
// to be changed.
func (h *Histogram) counts() *hdr.Histogram {
	if h.filled == nil {
		h.filled = hdr.New(MinNs, MaxNs, Digits)
		for _, s := range h.steps {
			_ = h.filled.RecordValues(s.fromNs, s.count) // a step of the same geometry always fits
		}
	}
	return h.filled
}

// Record adds n values of ns, clamped to [0, MaxNs].
func (h *Histogram) Record(ns, n int64) {
	_ = h.counts().RecordValues(max(0, min(ns, MaxNs)), n) // clamped: cannot fail
	h.known = false
}

// Merge adds other's counts to h.
func (h *Histogram) Merge(other *Histogram) {
	if h.filled == nil && other.filled == nil && h.count <= math.MaxInt64-other.count {
		h.steps, h.count = merged(h.steps, other.steps), h.count+other.count
		return
	}
	h.counts().Merge(other.counts())
	h.known = false
}

// Scaled returns the distribution of the values times a factor.
func (h *Histogram) Scaled(factor float64) *Histogram {
	scaled := New()
	for ns, n := range h.Steps().All() {
		scaled.Record(int64(math.Round(min(float64(ns)*factor, MaxNs))), n)
	}
	return scaled
}

// Count returns the number of values.
func (h *Histogram) Count() int64 {
	if h.filled != nil {
		return h.filled.TotalCount()
	}
	return h.count
}

// MeanNs returns the mean in ns, 0 when empty.
func (h *Histogram) MeanNs() float64 {
	mean, all := 0.0, float64(h.Count())
	for _, s := range h.Steps() {
		mean += float64(s.count) * float64(s.medianNs()) / all
	}
	return mean
}

// CV returns the coefficient of variation, standard deviation ÷ mean; 0 when empty.
func (h *Histogram) CV() float64 {
	mean := h.MeanNs()
	if !(mean > 0) {
		return 0
	}
	squares := 0.0
	for _, s := range h.Steps() {
		off := float64(s.medianNs()) - mean
		squares += off * off * float64(s.count)
	}
	return math.Sqrt(squares/float64(h.Count())) / mean
}

// MaxNs returns the largest value (to three digits), 0 when empty.
func (h *Histogram) MaxNs() int64 {
	if steps := h.Steps(); len(steps) > 0 {
		return steps[len(steps)-1].toNs
	}
	return 0
}

// LeastNs returns the smallest value (to three digits), 0 when empty.
func (h *Histogram) LeastNs() int64 {
	if steps := h.Steps(); len(steps) > 0 {
		return steps[0].fromNs
	}
	return 0
}

// TailMin is the least number of values that must lie beyond a percentile for
// it to be printed (specification §3.2).
const TailMin = 10

// almostWhole is how far from a whole number a product may lie that is whole but
// for its last bits.
const almostWhole = 1e-9

// Least returns how many values a distribution must have for its percentile q
// (0…1): TailMin of them lie beyond it.
func Least(q float64) int64 { return int64(math.Ceil(TailMin/(1-q) - almostWhole)) }

// Percentile returns the value in ns at or below which q (0…1) of all values
// lie; false when fewer than TailMin values lie beyond it.
//
// The rank is rounded up, as HdrHistogram in Java does; the Go library rounds
// it to the nearest and may come out one value lower.
func (h *Histogram) Percentile(q float64) (int64, bool) {
	if h.Count() < Least(q) {
		return 0, false
	}
	return h.Percentiles([]float64{q})[0], true
}

// Percentiles returns Percentile of shares that rise, in one pass over the
// steps; it ends before the first share that does not exist.
func (h *Histogram) Percentiles(shares []float64) []int64 {
	for i, q := range shares {
		if h.Count() < Least(q) {
			shares = shares[:i]
			break
		}
	}
	return h.Quantiles(shares)
}

// Quantiles returns the values at shares that rise, however few lie beyond: what
// percentiles may be, not what is shown as one.
func (h *Histogram) Quantiles(shares []float64) []int64 {
	values := make([]int64, 0, len(shares))
	steps, passed, next := h.Steps(), int64(0), 0
	for _, q := range shares {
		rank := max(1, int64(math.Ceil(q*float64(h.Count())-almostWhole)))
		for next < len(steps) && passed+steps[next].count < rank {
			passed += steps[next].count
			next++
		}
		switch {
		case next == len(steps):
			values = append(values, h.MaxNs())
		case q*float64(h.Count()) <= almostWhole: // the least value
			values = append(values, steps[next].fromNs)
		default:
			values = append(values, steps[next].toNs)
		}
	}
	return values
}

// Point is one step of a distribution: the share of values at or below Ns.
type Point struct {
	Share   float64 `json:"share"`
	Ns      int64   `json:"ns"`
	AtLeast bool    `json:"at_least,omitempty"` // Ns is a lower bound
}

// Encode returns the standard V2 compressed encoding in base64.
func (h *Histogram) Encode() (string, error) {
	b, err := h.counts().Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encode histogram: %w", err)
	}
	return string(b), nil
}

// Slicer tells what recorders counted since it was last asked. The recorders may be
// written to meanwhile; one goroutine may use a Slicer.
type Slicer struct {
	before []int64 // by position, over all recorders
}

// NewSlicer returns a Slicer, whose first slice begins at the creation of its recorders. It
// takes 240 KB, whatever their number.
func NewSlicer() *Slicer { return &Slicer{before: make([]int64, countsLen)} }

// Next returns the values that recorders counted since the last call: those of then, and
// any that were made since. It reads every position of every recorder: some 15 µs for each.
func (s *Slicer) Next(recorders []*Recorder) *Histogram {
	h := New()
	for i := range s.before {
		sum := int64(0)
		for _, r := range recorders {
			sum += r.counts[i].Load()
		}
		if n := sum - s.before[i]; n > 0 {
			h.Record(valueAt(i), n)
		}
		s.before[i] = sum
	}
	return h
}
