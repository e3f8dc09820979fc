package finding_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// timesOf encodes n times around a median in ns, from half of it to three halves, and a tail of a
// hundredth that is ten times as long.
func timesOf(t *testing.T, median float64, n int) string {
	t.Helper()
	h := hist.New()
	for i := range n {
		at := median * (0.5 + (float64(i)+0.5)/float64(n))
		if i%100 == 99 {
			at *= 10
		}
		h.Record(int64(at), 1)
	}
	return encoded(t, h)
}

func encoded(t *testing.T, h *hist.Histogram) string {
	t.Helper()
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

const (
	smallNs, largeNs = 20e3, 600e3 // without load
	smalls, larges   = 90_007, 10_000
)

// bySize gives a client sizes that vary, and times so many times as long as without load.
func bySize(t *testing.T, w *record.Worker, slower float64) {
	t.Helper()
	w.Setup.Exchange.DownMeanBytes = 100
	service, bins := hist.New(), []contract.SizeBin{
		{FromBytes: 64, ToBytes: 256, Service: timesOf(t, slower*smallNs, smalls)},
		{FromBytes: 16384, ToBytes: 65536, Service: timesOf(t, slower*largeNs, larges)},
	}
	for i := range bins {
		b := &bins[i]
		b.Response = b.Service
		h, err := hist.Decode(b.Service)
		if err != nil {
			t.Fatal(err)
		}
		service.Merge(h)
	}
	w.Result.Bins, w.Result.Service, w.Result.Response = bins, encoded(t, service), encoded(t, service)
}

// slowed is an open loop whose arms are slower under load by 1 and by 4, with trials without
// load in every block.
func slowed(t *testing.T) (record.Header, []record.Trial, []record.Record) {
	t.Helper()
	header, trials, records := synthetic.Run(synthetic.Options{
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}}, Connections: []int{50}, Rate: 50_000, Blocks: 8, Primary: []string{metric.SlowdownP50, metric.SlowdownP99},
	})
	for i := range records {
		slower := map[string]float64{"a": 1, "b": 4}[trials[i].Arm]
		bySize(t, &records[i].Workers[1], slower)
	}
	for i, t1 := range trials[:len(trials):len(trials)] {
		if t1.Repeat {
			continue
		}
		r := records[i]
		t1.ID, t1.Unloaded, t1.Order = fmt.Sprintf("u%02d-%03d", t1.Block, i), true, len(trials)
		t1.Levels = t1.Unload()
		r.Trial, r.Workers = t1, append([]record.Worker(nil), r.Workers...)
		result := *r.Workers[1].Result
		r.Workers[1].Result = &result
		bySize(t, &r.Workers[1], 1)
		trials, records = append(trials, t1), append(records, r)
	}
	return header, trials, records
}

// An arm whose times are those without load has a median slowdown of 1 within 2 %; one that
// is four times as slow has four, at every size and together.
func TestSlowdownIsTimeOverTheTimeWithoutLoad(t *testing.T) {
	header, trials, records := slowed(t)
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	if f.Tally.Unloaded != 16 || f.Tally.Planned != 24 || f.Tally.Valid != 24 {
		t.Errorf("tally %+v, want 24 trials and 16 without load", f.Tally)
	}
	for _, v := range f.Trials {
		want := map[string]float64{"a": 1, "b": 4}[v.Plan.Arm]
		if got := v.Trial.Values.At(metric.SlowdownP50); math.Abs(got/want-1) > 0.02 {
			t.Errorf("%s has the slowdown %.3f, want %.0f: %s", v.Plan.ID, got, want, v.Trial.Reason)
		}
		if got := v.Trial.Values.At(metric.SlowdownP99); got < 1.4*want || got > 15*want {
			t.Errorf("%s has the p99 slowdown %.3f", v.Plan.ID, got)
		}
	}
	found := false
	for _, c := range f.Comparisons {
		if c.Arm == "b" && c.Metric == metric.SlowdownP50 {
			found = c.Verdict == compare.Worse && math.Abs(c.Ratio-4) < 0.1
		}
	}
	if !found {
		t.Errorf("comparisons %+v", f.Comparisons)
	}
	if f.Sizes == nil || len(f.Sizes.Sorts) != 2 || len(f.Sizes.Sorts[1].Sizes) != 2 {
		t.Fatalf("sizes %+v", f.Sizes)
	}
	large := f.Sizes.Sorts[1].Sizes[1]
	if math.Abs(large.P50.Value/(4*largeNs/1e3)-1) > 0.02 || math.Abs(large.Share-0.1) > 0.001 || large.Name() != "16 KiB to 64 KiB" {
		t.Errorf("large ones %s: %+v", large.Name(), large)
	}
}

// Exchanges of a size that no trial without load had often enough are left out and said;
// above 1 % of them there is no slowdown.
func TestSizesWithoutATimeAreLeftOut(t *testing.T) {
	header, trials, records := slowed(t)
	for i := range records {
		if trials[i].Unloaded && trials[i].Arm == "b" {
			records[i].Workers[1].Result.Bins = records[i].Workers[1].Result.Bins[:1]
		}
	}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range f.Trials {
		if _, has := v.Trial.Values.Of(metric.SlowdownP50); has != (v.Plan.Arm == "a") {
			t.Errorf("%s: slowdown %v", v.Plan.ID, has)
		}
	}
	said := false
	for _, w := range f.Warnings {
		said = said || w.About == "slowdown" && strings.HasPrefix(w.Text, "8 of 24 trials have no slowdown: up to 10.0 %")
	}
	if !said {
		t.Errorf("warnings %+v", f.Warnings)
	}
}

// Where small exchanges wait behind large ones for most of their time, that is the limit,
// with what free ones took as its proof.
func TestWaitingBehindLargeOnesIsALimit(t *testing.T) {
	for behind, want := range map[float64]trial.Limit{10: trial.HeadOfLine, 1.2: trial.Schedule} {
		header, trials, records := slowed(t)
		for i := range records {
			b := &records[i].Workers[1].Result.Bins[0]
			b.Behind, b.Free = timesOf(t, behind*smallNs, smalls/3), timesOf(t, smallNs, 2*smalls/3)
		}
		f, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		v := f.Trials[0].Trial
		if v.Limit != want || want == trial.HeadOfLine && !strings.Contains(v.LimitProof, "33.3 % of the requests below 256 B") {
			t.Errorf("%.1f times as long behind: %s, %s", behind, v.Limit, v.LimitProof)
		}
	}
}
