package hist

// Slicer tells what recorders counted since it was last asked. The recorders may be
// written to meanwhile; one goroutine may use a Slicer.
type Slicer struct {
	recorders []*Recorder
	before    []int64 // by position, over all recorders
}

// NewSlicer returns a Slicer over recorders, the first slice of which begins at their
// creation. It takes 240 KB, whatever their number.
func NewSlicer(recorders []*Recorder) *Slicer {
	return &Slicer{recorders: recorders, before: make([]int64, countsLen)}
}

// Next returns the values that were counted since the last call. It reads every
// position of every recorder: some 15 µs for each recorder.
func (s *Slicer) Next() *Histogram {
	h := New()
	for i := range s.before {
		sum := int64(0)
		for _, r := range s.recorders {
			sum += r.counts[i].Load()
		}
		if n := sum - s.before[i]; n > 0 {
			h.Record(valueAt(i), n)
		}
		s.before[i] = sum
	}
	return h
}
