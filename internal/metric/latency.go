package metric

import (
	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// Percentiles are those that a distribution is printed by: as a metric's name
// has them, as a label does, and the share of the values below.
var Percentiles = []struct {
	Name, Label string
	Share       float64
}{{"p50", "p50", 0.5}, {"p90", "p90", 0.9}, {"p99", "p99", 0.99}, {"p999", "p99.9", 0.999}}

// PercentileName returns the name of the metric that is this percentile of a
// kind of time: "response_p99_us".
func PercentileName(kind, percentile string) string { return kind + "_" + percentile + "_us" }

// latencyMetrics are the distributions of specification §3: merged over clients,
// never averaged, and absent where the tail has too few values.
func latencyMetrics() []Metric {
	kinds := []struct{ kind, formula string }{
		{record.Service, "service time: completion − actual send"},
		{record.Response, "response time: completion − the moment when the request was due; open loop only"},
	}
	var all []Metric
	for _, k := range kinds {
		all = append(all, Metric{
			Name: k.kind + "_mean_us", Unit: "µs", Better: Lower, Label: k.kind + " mean", Doc: "mean " + k.kind + " time",
			Formula: "mean of the " + k.formula,
			in:      func(w *record.Window) (float64, bool) { return meanUs(w, k.kind) },
		})
		for _, p := range Percentiles {
			all = append(all, Metric{
				Name: PercentileName(k.kind, p.Name), Unit: "µs", Better: Lower, Label: k.kind + " " + p.Label, Doc: p.Name + " " + k.kind + " time",
				Formula: p.Label + " of the " + k.kind + " times of all clients; needs at least 10 values beyond it",
				Least:   hist.Least(p.Share),
				in:      func(w *record.Window) (float64, bool) { return percentileUs(w, k.kind, p.Share) },
			})
		}
	}
	return append(all, Metric{
		Name: "lag_p99_us", Unit: "µs", Better: Lower, Label: "lag p99", Doc: "p99 lag of the generator",
		Formula: "p99 of the generator's own lateness: actual send − the moment when the request was due",
		Least:   hist.Least(0.99),
		in:      func(w *record.Window) (float64, bool) { return percentileUs(w, record.Lag, 0.99) },
	})
}

func meanUs(w *record.Window, kind string) (float64, bool) {
	h, ok := w.Histogram(kind)
	if !ok {
		return 0, false
	}
	return h.MeanNs() / nsPerUs, true
}

func percentileUs(w *record.Window, kind string, share float64) (float64, bool) {
	h, ok := w.Histogram(kind)
	if !ok {
		return 0, false
	}
	ns, ok := h.Percentile(share)
	return float64(ns) / nsPerUs, ok
}

// movedBy is the smallest change of a percentile that a reader of three digits
// can see.
const movedBy = 1.01

// Moved returns the percentiles that a window's unfinished exchanges would
// raise by more than 1 %: by the metric's name, what each is at the least, in
// µs, when those exchanges are counted at the age they had reached. Nil when
// none was left or a client does not tell the ages.
func Moved(w *record.Window) map[string]float64 {
	// An unfinished exchange's age counts as the time that the window's
	// percentiles are printed of, as if it had ended then.
	kind := record.Service
	if _, open := w.OfferedRate(); open {
		kind = record.Response
	}
	u, ok := w.Unfinished()
	h, timed := w.Histogram(kind)
	if !ok || u.Ages == nil || !timed {
		return nil
	}
	all := hist.New()
	all.Merge(h)
	all.Merge(u.Ages)
	moved := map[string]float64{}
	for _, p := range Percentiles {
		without, printed := h.Percentile(p.Share)
		with, _ := all.Percentile(p.Share)
		if printed && float64(with) > movedBy*float64(without) {
			moved[PercentileName(kind, p.Name)] = float64(with) / nsPerUs
		}
	}
	return moved
}
