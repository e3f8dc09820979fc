package hist

import "testing"

func TestASliceHoldsWhatWasCountedSinceTheLast(t *testing.T) {
	a, b := NewRecorder(), NewRecorder()
	s, both := NewSlicer(), []*Recorder{a, b}
	if n := s.Next(both).Count(); n != 0 {
		t.Errorf("the first slice of empty recorders holds %d values", n)
	}
	a.Record(1000)
	b.Record(2000)
	b.Record(3_000_000)
	if h := s.Next(both); h.Count() != 3 || h.MaxNs() < 3_000_000 || h.MaxNs() > 3_003_000 {
		t.Errorf("the second slice holds %d values up to %d ns, want 3 up to 3 ms", h.Count(), h.MaxNs())
	}
	a.Record(1000)
	if h := s.Next(both); h.Count() != 1 || h.MaxNs() != 1000 {
		t.Errorf("the third slice holds %d values up to %d ns, want 1 of 1000 ns", h.Count(), h.MaxNs())
	}
}
