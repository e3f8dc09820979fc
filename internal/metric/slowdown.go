package metric

import (
	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// MostLeft is the share of a trial's exchanges that may lack a time without load before the
// trial has no slowdown.
const MostLeft = 0.01

// SlowdownNames are the metrics that need trials without load.
func SlowdownNames() []string { return []string{SlowdownP50, SlowdownP99} }

// slowdownMetrics are times beside those of the same arm without load. Source: B. Montazeri
// et al., Homa, SIGCOMM 2018, section 5.2, which divides by the best time for each size.
func slowdownMetrics() []Metric {
	metric := func(name, label string, share float64) Metric {
		return Metric{
			Name: name, Unit: "1", Better: Lower, Label: "slowdown " + label, Doc: label + " slowdown",
			Formula: label + " of response (closed loop: service) time ÷ the arm's median service time for that size without load",
			Least:   hist.Least(share),
			in:      func(w *record.Window) (float64, bool) { return slowdown(w, share) },
		}
	}
	return []Metric{metric(SlowdownP50, "p50", 0.5), metric(SlowdownP99, "p99", 0.99)}
}

// slowdown is false too where the percentile lies among exchanges that were left unfinished.
func slowdown(w *record.Window, share float64) (float64, bool) {
	s, ok := w.Slowdowns()
	if !ok || s.Left > MostLeft {
		return 0, false
	}
	x, ok := s.Times.Percentile(share)
	return float64(x) / record.SlowdownUnit, ok && x < hist.MaxNs
}
