package cells

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/hist"
)

func TestLengthsInWords(t *testing.T) {
	h := hist.New()
	h.Record(120, 900)
	h.Record(1200, 90)
	h.Record(2000, 20)
	l := lengthsOf(h)
	if got, want := l.Words(), "replies of 120 B to 1.95 KiB: p50 120 B, p99 1.95 KiB"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want := []LengthBar{{128, 900}, {256, 0}, {512, 0}, {1024, 0}, {2048, 110}}
	if !slices.Equal(l.Bars, want) {
		t.Errorf("bars %v, want %v", l.Bars, want)
	}
	few := hist.New()
	few.Record(0, 1)
	few.Record(5, 1)
	if got, want := lengthsOf(few).Words(), "replies of 0 B to 5 B"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if lengthsOf(hist.Constant(77, 1000)) != nil || lengthsOf(hist.New()) != nil {
		t.Error("replies of one length, or none, have a distribution")
	}
}

// The bars hold every reply once, whatever the lengths.
func TestLengthBarsHoldEveryReply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hist.New()
		for _, length := range rapid.SliceOfN(rapid.Int64Range(0, 1<<30), 2, 20).Draw(t, "lengths") {
			h.Record(length, rapid.Int64Range(1, 1000).Draw(t, "n"))
		}
		l := lengthsOf(h)
		if l == nil {
			return
		}
		sum := int64(0)
		for i, b := range l.Bars {
			if sum += b.Count; i > 0 && b.UpToBytes <= l.Bars[i-1].UpToBytes || b.Count < 0 {
				t.Errorf("bars %v", l.Bars)
			}
		}
		if sum != h.Count() || len(l.Bars) > mostLengthBars || l.Bars[0].Count == 0 || l.Bars[len(l.Bars)-1].Count == 0 {
			t.Errorf("%d replies in %d bars: %v", sum, len(l.Bars), l.Bars)
		}
	})
}
