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

// A percentile exists from the count that Least names, and not below.
func TestAPercentileNeedsItsTail(t *testing.T) {
	for q, least := range map[float64]int64{0.5: 20, 0.9: 100, 0.99: 1000, 0.999: 10_000} {
		h := New()
		h.Record(1000, least-1)
		if _, ok := h.Percentile(q); ok || Least(q) != least {
			t.Errorf("a percentile %v of %d values, Least %d; want none, %d", q, least-1, Least(q), least)
		}
		h.Record(1000, 1)
		if _, ok := h.Percentile(q); !ok {
			t.Errorf("no percentile %v of %d values", q, least)
		}
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

// Many percentiles at once are the same as one by one.
func TestPercentilesAgreeWithEach(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		h := New()
		for range rng.IntN(4000) {
			h.Record(int64(rng.ExpFloat64()*1e5), 1+int64(rng.IntN(3)))
		}
		var shares []float64
		for i := range 100 {
			shares = append(shares, float64(i)/100)
		}
		all := h.Percentiles(shares)
		for i, q := range shares {
			one, ok := h.Percentile(q)
			if ok != (i < len(all)) || ok && one != all[i] {
				t.Fatalf("%d values: percentile %v is %d (%v) alone, together %v", h.Count(), q, one, ok, all[min(i, len(all)):])
			}
		}
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	r := NewRecorder()
	if n := testing.AllocsPerRun(1000, func() { r.Record(123456) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := NewRecorder()
	for i := 0; b.Loop(); i++ {
		r.Record(int64(i&0xffff) + 10000)
	}
}
