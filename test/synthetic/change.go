package synthetic

import (
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// Histogram encodes a histogram of how often each time was taken.
func Histogram(times map[time.Duration]int64) string {
	h := hist.New()
	for each, n := range times {
		h.Record(int64(each), n)
	}
	text, err := h.Encode()
	if err != nil {
		panic(err)
	}
	return text
}

// Still lets a worker and its meter not run for a while, in seconds after the opening.
func Still(w *record.Worker, from, to float64) {
	if w.AtResult == nil || w.AtResult.Beat == nil {
		w.AtResult = &contract.Meter{AtNs: w.Close.Meter.AtNs, Beat: &contract.Beat{EveryNs: 10_000_000}}
	}
	opened := float64(w.Open.Meter.AtNs)
	w.AtResult.Beat.Stood = append(w.AtResult.Beat.Stood, contract.Standstill{FromNs: int64(opened + 1e9*from), ToNs: int64(opened + 1e9*to)})
}

// Leave lets exchanges of a client stay without an answer: how many by their age when
// draining ended.
func Leave(c *record.Worker, ages map[time.Duration]int64) {
	c.Result.Unfinished, c.Result.Ages = 0, Histogram(ages)
	for _, n := range ages {
		c.Result.Unfinished += n
	}
}
