package hist

import (
	"math"
	"math/rand/v2"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// What is read straight from the text answers every question as the library does,
// to the last bit.
func TestStepsAnswerAsTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		want := hdr.New(MinNs, MaxNs, Digits)
		for range rng.IntN(3000) {
			if err := want.RecordValues(int64(min(math.Exp(rng.Float64()*27), MaxNs)), 1+rng.Int64N(1<<rng.IntN(20))); err != nil {
				t.Fatal(err)
			}
		}
		text, err := want.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		h, ok := decodeSteps(string(text))
		if !ok {
			t.Fatal("the library's own text was not read")
		}
		agree(t, h, want)
	}
}

// agree holds a histogram to the library's.
func agree(t *testing.T, h *Histogram, want *hdr.Histogram) {
	t.Helper()
	if h.Count() != want.TotalCount() || h.MaxNs() != want.Max() || h.MeanNs() != want.Mean() {
		t.Fatalf("%d values, mean %v, max %d; the library says %d, %v, %d", h.Count(), h.MeanNs(), h.MaxNs(), want.TotalCount(), want.Mean(), want.Max())
	}
	steps := h.Steps()
	for _, bar := range want.Distribution() {
		if bar.Count == 0 {
			continue
		}
		if len(steps) == 0 || steps[0] != (step{bar.From, bar.To, bar.Count}) {
			t.Fatalf("steps %v, want next %+v", steps[:min(1, len(steps))], bar)
		}
		steps = steps[1:]
	}
	n := float64(want.TotalCount())
	for i := range 1000 {
		q := float64(i) / 1000
		rank := 100 * math.Ceil(q*n-almostWhole) / n
		if got, ok := h.Percentile(q); ok && got != want.ValueAtPercentile(rank) {
			t.Fatalf("percentile %v of %v values is %d, the library's %d", q, n, got, want.ValueAtPercentile(rank))
		}
	}
	if !h.counts().Equals(want) {
		t.Fatal("the counts differ")
	}
}

// Histograms of other geometries are the library's to read.
func TestDecodeReadsOtherGeometries(t *testing.T) {
	for _, want := range []*hdr.Histogram{hdr.New(1, 1_000_000, 3), hdr.New(1000, MaxNs, 3), hdr.New(1, MaxNs, 2)} {
		for i := range int64(2000) {
			if err := want.RecordValue(i * 400); err != nil {
				t.Fatal(err)
			}
		}
		text, err := want.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		h, err := Decode(string(text))
		if err != nil {
			t.Fatal(err)
		}
		agree(t, h, want)
	}
}

func TestMergeAddsSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		sum, want := New(), hdr.New(MinNs, MaxNs, Digits)
		for range 3 {
			one := New()
			for range rng.IntN(50) {
				one.Record(rng.Int64N(1<<(1+rng.IntN(30))), 1+rng.Int64N(9))
			}
			text, err := one.Encode()
			if err != nil {
				t.Fatal(err)
			}
			read, err := Decode(text)
			if err != nil {
				t.Fatal(err)
			}
			sum.Merge(read)
			want.Merge(one.counts())
		}
		if sum.Count() > 0 {
			agree(t, sum, want)
		}
	}
}

// Whatever is read straight from a text, the library reads as well, and the same.
func FuzzDecode(f *testing.F) {
	h := New()
	h.Record(1000, 3)
	h.Record(5_000_000, 70_000)
	text, err := h.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add("HISTFAAAABl42pNpmSzMwMCgyAABTBBKEEgAAIYBAzk=")
	f.Fuzz(func(t *testing.T, text string) {
		read, ok := decodeSteps(text)
		if !ok {
			return
		}
		want, err := hdr.Decode([]byte(text))
		if err != nil {
			t.Fatalf("read what the library refuses: %v", err)
		}
		if want.TotalCount() > 0 {
			agree(t, read, want)
		}
	})
}
