package metric

import "netdyno/internal/record"

// arrivalMetrics are about what an open loop sent as it was declared, and what
// any client was left with at the end (specification §3.3, §3.5).
func arrivalMetrics() []Metric {
	return []Metric{
		{
			Name: ArrivalGapCV, Unit: "1", Suffix: "sd ÷ mean", Label: "variation of the gaps", Doc: "coefficient of variation of the gaps between sends",
			Formula: "standard deviation ÷ mean of the gaps between one client's sends; of several clients the one farthest from the declared arrivals (constant 0, Poisson 1); open loop only",
			in: func(w *record.Window) (float64, bool) {
				a, ok := w.Arrivals()
				return a.CV, ok
			},
		},
		{
			Name: Unfinished, Unit: "1", Suffix: "exchanges", Better: Lower, Label: "left unfinished", Doc: "number of exchanges left unfinished",
			Formula: "exchanges due in the window that were not complete when draining ended, those never sent included, summed over clients",
			in: func(w *record.Window) (float64, bool) {
				u, ok := w.Unfinished()
				return float64(u.Exchanges), ok
			},
		},
		{
			Name: UnfinishedAge, Unit: "µs", Better: Lower, Label: "oldest unfinished", Doc: "age of the oldest unfinished exchange",
			Formula: "end of the draining − the moment when the oldest unfinished exchange was due (closed loop: sent); absent where none was left",
			in: func(w *record.Window) (float64, bool) {
				u, ok := w.Unfinished()
				if !ok || u.Ages == nil {
					return 0, false
				}
				return float64(u.Ages.MaxNs()) / nsPerUs, true
			},
		},
	}
}
