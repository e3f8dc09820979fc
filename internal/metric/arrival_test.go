package metric_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// gaps returns the sums of n gaps that alternate between two lengths in ns.
func gaps(n int64, a, b float64) *contract.Arrivals {
	half := float64(n) / 2
	return &contract.Arrivals{
		Gaps: n, SumNs: int64(half * (a + b)), SumSquaresNs2: half * (a*a + b*b), StretchNs: int64(half*(a+b)) + 1,
	}
}

func TestArrivalGaps(t *testing.T) {
	bursty := gaps(1000, 0, 2e6) // standard deviation = mean
	even := gaps(1000, 1e6, 1e6)
	wide := gaps(1000, 0.5e6, 1.5e6) // half of it
	for _, c := range []struct {
		name     string
		arrival  contract.Arrival
		of       [2]*contract.Arrivals
		rate     float64
		want, at float64 // CV and declared step of the client it is of
	}{
		{"by default constant: the least even", "", [2]*contract.Arrivals{even, bursty}, 1000, 1, 1e6},
		{"each client by itself", contract.Constant, [2]*contract.Arrivals{wide, even}, 1000, 0.5, 1e6},
		{"poisson: the farthest from 1", contract.Poisson, [2]*contract.Arrivals{bursty, wide}, 500, 0.5, 2e6},
		{"even", contract.Constant, [2]*contract.Arrivals{even, even}, 1000, 0, 1e6},
		{"a client does not tell", contract.Constant, [2]*contract.Arrivals{even, nil}, 1000, math.NaN(), 0},
		{"no gap", contract.Constant, [2]*contract.Arrivals{even, {}}, 1000, math.NaN(), 0},
		{"closed loop", "", [2]*contract.Arrivals{even, even}, 0, math.NaN(), 0},
	} {
		r := handMade(t)
		for i, a := range c.of {
			w := &r.Workers[i+1]
			w.Setup.Load.Arrival, w.Setup.Load.Rate, w.Result.Arrivals = c.arrival, c.rate, a
		}
		got := value(t, "arrival_gap_cv", r)
		if math.IsNaN(got) != math.IsNaN(c.want) || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: coefficient of variation %v, want %v", c.name, got, c.want)
		}
		if a, ok := record.NewWindow(r).Arrivals(); ok && a.StepNs != c.at {
			t.Errorf("%s: declared step %v ns, want %v", c.name, a.StepNs, c.at)
		}
	}
}

// leave makes client i leave n exchanges of an age unfinished.
func leave(t *testing.T, r *record.Record, i int, ageNs, n int64) {
	t.Helper()
	h := hist.New()
	h.Record(ageNs, n)
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r.Workers[i].Result.Unfinished, r.Workers[i].Result.Ages = n, text
}

// giveUp makes client i give up n exchanges of an age, which time out.
func giveUp(t *testing.T, r *record.Record, i int, ageNs, n int64) {
	t.Helper()
	leave(t, r, i, ageNs, n)
	of := r.Workers[i].Result
	of.Late, of.Ages, of.Unfinished = of.Ages, "", 0
	of.Counts.Errors = map[contract.ErrorKind]int64{contract.Timeout: n}
}

// What timed out is no time of what completed, and no lower figure than its deadline.
func TestWhatTimedOutCountsAtItsDeadline(t *testing.T) {
	for rate, want := range map[float64]string{
		1000: "response_mean_us response_p99_us service_mean_us service_p99_us", 0: "service_mean_us service_p99_us",
	} {
		r := handMade(t)
		for i := range r.Workers[1:] {
			r.Workers[i+1].Setup.Load.Rate = rate
		}
		giveUp(t, r, 2, 1_000_000_000, 20)
		if got := bounds(r); got != want {
			t.Errorf("at %v/s the bounds are %s, want %s", rate, got, want)
		}
		name := strings.Fields(want)[1]
		if got := value(t, name, r); math.Abs(got/1e6-1) > 2e-3 {
			t.Errorf("at %v/s %s is %v µs, want 1 s", rate, name, got)
		}
		checkValues(t, r, map[string]float64{"unfinished": 0})
		for i := range r.Workers[1:] { // nothing was answered
			r.Workers[i+1].Result.Service, r.Workers[i+1].Result.Response = "", ""
		}
		giveUp(t, r, 1, 1_000_000_000, 1e4)
		if got := value(t, strings.Replace(name, "p99", "p50", 1), r); math.Abs(got/1e6-1) > 2e-3 {
			t.Errorf("at %v/s the median of requests that all timed out is %v µs", rate, got)
		}
	}
}

func TestUnfinished(t *testing.T) {
	const second = 1_000_000_000
	r := handMade(t)
	checkValues(t, r, map[string]float64{"unfinished": 0, "unfinished_age_max_us": math.NaN()})
	leave(t, r, 1, 2*second, 3)
	leave(t, r, 2, 1*second, 4)
	if got := value(t, "unfinished", r); got != 7 {
		t.Errorf("unfinished = %v, want those of both clients", got)
	}
	if got := value(t, "unfinished_age_max_us", r); math.Abs(got-2e6) > 2e3 { // three digits
		t.Errorf("the oldest is %v µs, want 2 s", got)
	}
	r.Workers[1].Result.Ages = "" // its ages are not told
	checkValues(t, r, map[string]float64{"unfinished": 7, "unfinished_age_max_us": math.NaN()})
	r.Workers[1].Result = nil
	checkValues(t, r, map[string]float64{"unfinished": math.NaN()})
}

// bounds names the figures that are lower bounds, sorted.
func bounds(r *record.Record) string {
	return strings.Join(slices.Sorted(maps.Keys(metric.Moved(record.NewWindow(r)))), " ")
}

// 1500 times of 100 and 200 µs, and 20 exchanges that waited for 3 s: the p99
// among 1520 lies with those 20, the p90 does not. An open loop's ages are no service
// times, so of these only what completed is known.
func TestUnfinishedExchangesCountAtTheirAge(t *testing.T) {
	for _, c := range []struct {
		rate   float64
		bounds string
		values map[string]float64
	}{
		{1000, "response_mean_us response_p99_us service_mean_us service_p99_us", map[string]float64{"response_p99_us": 3e6, "service_p99_us": 200}},
		{0, "service_mean_us service_p99_us", map[string]float64{"service_p99_us": 3e6, "service_p90_us": 200}},
	} {
		r := handMade(t)
		for i := range r.Workers[1:] {
			r.Workers[i+1].Setup.Load.Rate = c.rate
		}
		before := value(t, "service_mean_us", r)
		if got := bounds(r); got != "" {
			t.Errorf("%s are bounds, and nothing was left", got)
		}
		leave(t, r, 2, 3_000_000_000, 20)
		if got := bounds(r); got != c.bounds {
			t.Errorf("at %v/s the bounds are %s, want %s", c.rate, got, c.bounds)
		}
		mean, want := "service_mean_us", (1500*before+20*3e6)/1520
		if c.rate > 0 {
			mean, want = "response_mean_us", (1500*value(t, "service_mean_us", r)+20*3e6)/1520
		}
		if got := value(t, mean, r); math.Abs(got/want-1) > 0.01 {
			t.Errorf("at %v/s %s is %v, want %v", c.rate, mean, got, want)
		}
		for name, want := range c.values {
			if got := value(t, name, r); math.Abs(got/want-1) > 2e-3 {
				t.Errorf("at %v/s %s is %v, want %v", c.rate, name, got, want)
			}
		}
	}
}

// A percentile is exact where no age could change it, also below what was measured; a
// mean never is.
func TestYoungUnfinishedExchangesMoveMeansAlone(t *testing.T) {
	r := handMade(t)
	leave(t, r, 2, 50_000, 5)
	if got := bounds(r); got != "response_mean_us service_mean_us" {
		t.Errorf("bounds are %q", got)
	}
}

// A client that does not tell how long exchanges had waited leaves the figures of those
// that completed, as bounds.
func TestUnfinishedExchangesOfUnknownAge(t *testing.T) {
	r := handMade(t)
	r.Workers[1].Setup.Load.Rate, r.Workers[2].Setup.Load.Rate = 0, 0
	leave(t, r, 2, 3_000_000_000, 20)
	r.Workers[2].Result.Ages = ""
	if got := bounds(r); got != "service_mean_us service_p99_us" {
		t.Errorf("bounds are %q", got)
	}
	if got := value(t, "service_p99_us", r); math.Abs(got-200) > 1 {
		t.Errorf("the p99 is %v µs, want that of what completed", got)
	}
}
