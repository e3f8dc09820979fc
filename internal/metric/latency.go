package metric

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// Percentile is one that a distribution is printed by: as a metric's name has it, as a
// label does, and the share of the values below.
type Percentile struct {
	Name, Label string
	Share       float64
	Brief       bool // stands where there is room for a few: a usual one, or one that was asked for
}

// Percentiles are those that are measured, their shares rising.
var Percentiles = []Percentile{{"p50", "p50", 0.5, true}, {"p90", "p90", 0.9, true}, {"p95", "p95", 0.95, false}, {"p99", "p99", 0.99, true}, {"p999", "p99.9", 0.999, false}}

// AskPercentiles adds percentiles, written as 75 or 99.99, to those that are measured. A
// command calls it before it reads or measures anything; nothing else may run meanwhile.
func AskPercentiles(asked ...string) error {
	for _, text := range asked {
		percent, err := strconv.ParseFloat(text, 64)
		if err != nil || !(percent >= 1 && percent <= 99.9999) {
			return fmt.Errorf("percentile %q: expected a number from 1 to 99.9999, such as 75 or 99.99", text)
		}
		text = strconv.FormatFloat(percent, 'f', -1, 64)
		share, _ := strconv.ParseFloat(text+"e-2", 64) // to the last bit, where ÷ 100 is not
		p := Percentile{"p" + strings.Replace(text, ".", "", 1), "p" + text, share, true}
		if i := slices.IndexFunc(Percentiles, func(known Percentile) bool { return known.Label == p.Label }); i >= 0 {
			Percentiles[i].Brief = true
			continue
		}
		if i := slices.IndexFunc(Percentiles, func(known Percentile) bool { return known.Name == p.Name }); i >= 0 {
			return fmt.Errorf("percentile %s: its name %s is that of %s; ask for one of them", text, p.Name, Percentiles[i].Label)
		}
		Percentiles = append(Percentiles, p)
	}
	slices.SortFunc(Percentiles, func(a, b Percentile) int { return cmp.Compare(a.Share, b.Share) })
	registry = registered()
	names, places = named(registry)
	return nil
}

// PercentileName returns the name of the metric that is this percentile of a
// kind of time: "response_p99_us".
func PercentileName(kind, percentile string) string { return kind + "_" + percentile + "_us" }

// MeanName returns the name of the metric that is the mean of a kind of time: "response_mean_us".
func MeanName(kind string) string { return kind + "_mean_us" }

// latencyMetrics are the distributions of specification §3: merged over clients,
// never averaged, and absent where the tail has too few values.
func latencyMetrics() []Metric {
	return append(timesOf(
		timed{record.Service, record.Service, "service time: completion − actual send"},
		timed{record.Response, record.Response, "response time: completion − the moment when the request was due; open loop only"},
	), Metric{
		Name: LagP99, Unit: "µs", Better: Lower, Label: "lag p99", Doc: "p99 lag of the generator",
		Formula: "p99 of the generator's own lateness: actual send − the moment when the request was due",
		Least:   hist.Least(0.99), Kind: record.Lag, Share: 0.99,
		in: func(w *record.Window) (float64, bool) { return percentileUs(w, record.Lag, 0.99) },
	})
}

// timed is a kind of time: as records have it, as a label does, and what it is.
type timed struct{ kind, label, formula string }

// timesOf are the mean and the percentiles of kinds of time.
func timesOf(kinds ...timed) (all []Metric) {
	for _, k := range kinds {
		all = append(all, Metric{
			Name: MeanName(k.kind), Unit: "µs", Better: Lower, Label: k.label + " mean", Doc: "mean " + k.label + " time",
			Formula: "mean of the " + k.formula + "; what was left unfinished counts at its age",
			in:      func(w *record.Window) (float64, bool) { return meanUs(w, k.kind) },
		})
		for _, p := range Percentiles {
			all = append(all, Metric{
				Name: PercentileName(k.kind, p.Name), Unit: "µs", Better: Lower, Label: k.label + " " + p.Label, Doc: p.Name + " " + k.label + " time",
				Formula: p.Label + " of the " + k.label + " times of all clients, what was left unfinished at its age; needs at least 10 values beyond it",
				Least:   hist.Least(p.Share), Kind: k.kind, Share: p.Share,
				in: func(w *record.Window) (float64, bool) { return percentileUs(w, k.kind, p.Share) },
			})
		}
	}
	return all
}

func meanUs(w *record.Window, kind string) (float64, bool) {
	t, ok := w.Times(kind)
	if !ok {
		return 0, false
	}
	return t.Least.MeanNs() / nsPerUs, true
}

func percentileUs(w *record.Window, kind string, share float64) (float64, bool) {
	t, ok := w.Times(kind)
	if !ok {
		return 0, false
	}
	ns, ok := t.Least.Percentile(share)
	return float64(ns) / nsPerUs, ok
}

// PercentilesOf returns the metrics that are percentiles of a kind of time, rising.
func PercentilesOf(kind string) []Metric {
	return slices.DeleteFunc(All(), func(m Metric) bool { return m.Kind != kind })
}

// movedBy is the smallest change of a percentile that a reader of three digits
// can see.
const movedBy = 1.01

// Exact returns how many of some percentiles (shares that rise) are what they
// would be however long the unfinished exchanges still took, to 1 %. Those beyond
// are lower bounds.
func Exact(t record.Times, shares []float64) int {
	least := t.Least.Percentiles(shares)
	if !t.Bounded() {
		return len(shares)
	}
	for i, ns := range t.Most.Percentiles(shares) {
		if i == len(least) || float64(ns) > movedBy*float64(least[i]) {
			return i
		}
	}
	return len(shares)
}

// Moved returns the figures that are lower bounds, because exchanges that were left
// unfinished would raise them however much longer they took: every mean, and the
// percentiles that lie among those exchanges; by the metric's name, in µs. Empty
// when nothing was left.
func Moved(w *record.Window) map[string]float64 {
	moved := map[string]float64{}
	for _, kind := range []string{record.Service, record.Response} {
		t, ok := w.Times(kind)
		if !ok || !t.Bounded() {
			continue
		}
		for _, p := range Percentiles {
			if us, printed := percentileUs(w, kind, p.Share); printed && Exact(t, []float64{p.Share}) == 0 {
				moved[PercentileName(kind, p.Name)] = us
			}
		}
		moved[MeanName(kind)], _ = meanUs(w, kind)
	}
	return moved
}
