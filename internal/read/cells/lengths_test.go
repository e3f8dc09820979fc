package cells

import (
	"testing"

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
