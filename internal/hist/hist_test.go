package hist

import (
	"math/rand/v2"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The recorder's bucket must be the library's bucket for every value.
func TestRecorderAgreesWithLibrary(t *testing.T) {
	r, want := NewRecorder(), hdr.New(MinNs, MaxNs, Digits)
	rng := rand.New(rand.NewPCG(1, 2))
	values := []int64{0, 1, 2, 1023, 1024, 2047, 2048, 2049, 4095, 4096, MaxNs - 1, MaxNs}
	for range 20000 {
		values = append(values, rng.Int64N(1<<(1+rng.Int64N(38))))
	}
	for _, v := range values {
		v = min(v, MaxNs)
		r.Record(v)
		if err := want.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.Snapshot(); !got.counts().Equals(want) {
		t.Fatalf("recorder and library differ: %d against %d values, max %d against %d",
			got.Count(), want.TotalCount(), got.MaxNs(), want.Max())
	}
}

func TestRecorderClampsAndSaysSo(t *testing.T) {
	r := NewRecorder()
	r.Record(-5)
	r.Record(MaxNs + 1)
	h := r.Snapshot()
	if h.Count() != 2 || r.OverMax() != 1 {
		t.Fatalf("count %d over %d, want 2 and 1", h.Count(), r.OverMax())
	}
}

func TestPercentileRefusesThinTails(t *testing.T) {
	h := New()
	h.Record(1000, 999)
	if _, ok := h.Percentile(0.99); ok {
		t.Fatal("p99 of 999 values has fewer than 10 beyond it")
	}
	h.Record(1000, 1)
	if v, ok := h.Percentile(0.99); !ok || v < 999 || v > 1001 {
		t.Fatalf("p99 = %d, %v", v, ok)
	}
	if p := h.Percentiles([]float64{0.5, 0.99, 0.995}); len(p) != 2 {
		t.Fatalf("percentiles %v, want those of two shares", p)
	}
}

func TestEncodingRoundTrip(t *testing.T) {
	h := New()
	for i := range int64(5000) {
		h.Record(i*i, 1)
	}
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if !back.counts().Equals(h.counts()) {
		t.Fatal("decoded histogram differs")
	}
	if _, err := Decode("not base64 !"); err == nil {
		t.Fatal("garbage decoded")
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	r := NewRecorder()
	if n := testing.AllocsPerRun(1000, func() { r.Record(123456) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
