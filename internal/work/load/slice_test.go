package load

import (
	"testing"

	"netdyno/internal/contract"
)

func TestASliceIsOfWhatCompletedSinceTheLast(t *testing.T) {
	l, err := New(contract.Setup{Load: contract.Load{Connections: 2}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	done := func(connection int, ns int64) {
		slot := &l.Slots(connection)[0]
		if _, more := slot.Next(1000); !more {
			t.Fatal("the slot has nothing to send")
		}
		slot.Done(1000, 1000+ns, 1)
	}
	l.Start()
	done(0, 500)
	if s := l.Slice(); s != nil {
		t.Errorf("before the window %+v, want none: its times are not recorded", s)
	}
	l.Open(Now())
	for range 30 {
		done(0, 200)
		done(1, 100)
	}
	if s := l.Slice(); s == nil || s.Count != 60 || s.P50Ns != 100 || s.P99Ns != 0 || s.MaxNs != 200 {
		t.Errorf("%+v, want 60 with a median of 100 ns, the longest of 200 and no p99", s)
	}
	if s := l.Slice(); s != nil {
		t.Errorf("a second slice %+v, want none", s)
	}
}
