package trial

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// Pool says that the server works at so many exchanges at a time, and that the others wait.
const Pool Limit = "pool"

// Only trials of one arm at several loads show a pool, see LimitByPool.
var limitPool = limitRule{Pool, func(*audit) (contract.Role, string) { return "", "" }, meanPool}

// What shows a pool (specification §5).
const (
	poolLevel  = 0.85             // of the highest rate: from there on it no longer grows
	poolBelow  = 0.9              // of it: under that load nothing waits for the pool's whole time
	poolGrown  = 1.5              // times as many in flight, and as long, where it is full
	poolEven   = 1.25             // p90 ÷ p10 of service times none of which waited
	poolWorks  = 0.5              // of a place's time: more CPU time than that is no waiting
	poolWhole  = 0.1              // of a pool's size, by which that may be off a whole number
	poolLeast  = time.Millisecond // service time, beside which what the kernels take is little
	poolNearby = 0.1              // of the service time that the way may take
)

// served is how a server answered in a trial at one load. Its zero value tells nothing.
type served struct {
	rate, inFlight float64
	mean           float64 // service times, in ns
	p10, p50, p90  float64
	cores          float64 // that the server used
	trip           float64 // shortest round trip, in ns
}

// servedIn reads how the server answered; the zero value where it was not metered.
func servedIn(e *audit) served {
	h, timed := e.window.Histogram(record.Service)
	inFlight, known := e.inFlight()
	_, metered := e.values[metric.OfServer+metric.Cores]
	if !timed || !known || !metered || e.thinking || failed(e) > 0 {
		return served{}
	}
	at := h.Quantiles([]float64{0.1, 0.5, 0.9})
	s := served{
		rate: e.values[metric.ExchangesPerS], inFlight: inFlight, mean: h.MeanNs(),
		p10: float64(at[0]), p50: float64(at[1]), p90: float64(at[2]), cores: e.values[metric.OfServer+metric.Cores],
	}
	if client, accounted := tcpEnds(e)[contract.Client]; accounted {
		s.trip = float64(client.least)
	}
	return s
}

// LimitByPool names a pool where trials of an arm at several loads show one: from some
// load on only the time of an exchange grows, and no CPU was full.
func LimitByPool(judged []*Judged) {
	arms := map[string][]*Judged{}
	for _, v := range judged {
		if v.Trial.Status == Valid && v.served.rate > 0 {
			key := v.Plan.Arm + levelsBut(v.Plan, "connections", "rate", "window", "warmup")
			arms[key] = append(arms[key], v)
		}
	}
	for _, arm := range arms {
		size, words := poolOf(arm)
		for _, v := range arm {
			if words != "" && (v.Trial.Limit == Latency || v.Trial.Limit == Unknown) && v.served.inFlight >= poolGrown*size {
				v.Trial.Limit, v.LimitOf = Pool, contract.Server
				v.Trial.LimitProof = words + "; " + v.Trial.LimitProof
			}
		}
	}
}

// levelsBut writes the levels of a trial, some factors left out.
func levelsBut(t record.Trial, factors ...string) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(t.Levels)) {
		if !slices.Contains(factors, name) {
			text += " " + name + "=" + t.Levels[name]
		}
	}
	return text
}

// poolOf returns the size of the pool that trials at several loads show, by Little's law:
// the most that the server answers in a second × the time that each takes where nothing
// waits. No words where they show none.
func poolOf(arm []*Judged) (size float64, words string) {
	loads, full := loadsOf(arm)
	if len(full) == 0 || len(loads) < 3 {
		return 0, ""
	}
	top := slices.MaxFunc(full, byInFlight)
	low := slices.MinFunc(loads, byInFlight)
	knee := slices.ContainsFunc(loads, func(s served) bool { return s.rate >= poolLevel*top.rate && poolGrown*s.inFlight <= top.inFlight })
	each := low.mean
	switch {
	case low.p90 <= poolEven*low.p10:
		each = low.p50
	case low.rate > top.rate/2: // some may have waited
		return 0, ""
	}
	size = top.rate * each / 1e9
	whole := math.Round(size)
	switch {
	case !knee, low.rate > poolBelow*top.rate, top.inFlight < poolGrown*size, top.mean < poolGrown*each,
		whole < 1, math.Abs(size-whole) > poolWhole*size, each < float64(poolLeast), top.trip > poolNearby*each, top.cores > poolWorks*size:
		return 0, ""
	}
	return size, fmt.Sprintf("it serves %.0f at a time, %s each: its rate is %s/s with %.0f in flight and hardly grows from there to %.0f, while no CPU is full",
		whole, quantity.FormatDuration(time.Duration(each)), quantity.FormatFigure(top.rate), whole, top.inFlight)
}

func byInFlight(a, b served) int { return cmp.Compare(a.inFlight, b.inFlight) }

// loadsOf returns what an arm's trials of each load show, by the trial of
// median rate, and those loads at which nothing but waiting was seen and the rate was as high as at any.
func loadsOf(arm []*Judged) (loads, full []served) {
	at := map[string][]*Judged{}
	for _, v := range arm {
		load := v.Plan.Levels["connections"] + " " + v.Plan.Levels["rate"]
		at[load] = append(at[load], v)
	}
	var waits []bool
	most := 0.0
	for _, of := range at {
		slices.SortFunc(of, func(a, b *Judged) int { return cmp.Compare(a.served.rate, b.served.rate) })
		s, n := of[len(of)/2].served, 0
		for _, v := range of {
			if v.Trial.Limit == Latency {
				n++
			}
		}
		loads, waits, most = append(loads, s), append(waits, 2*n > len(of)), max(most, s.rate)
	}
	for i, s := range loads {
		if waits[i] && s.rate >= poolLevel*most {
			full = append(full, s)
		}
	}
	return loads, full
}

// What its name stands for in netdyno explain.
var meanPool = Meaning{
	Called: "a pool in the server",
	Means:  "from some load on only the time of an exchange grows, and no CPU is full: by Little's law the server works at so many exchanges at a time, and the others wait",
	Cure:   "enlarge the pool (of workers, threads or connections), or shorten what each of them waits for", Says: true,
}
