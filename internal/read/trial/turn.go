package trial

import (
	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/course"
	"netdyno/internal/record"
)

// turnOf is a turn of which all counts agree, for what is said of all turns of its load
// together. Its rate is that of the time in which our processes ran.
func turnOf(e *audit, t *Trial) course.Turn {
	g := e.generators[0] // a turn that is valid has its counts
	turn := course.Turn{Block: t.Block, FromNs: g.Result.FromNs, ToNs: g.Result.ToNs, Open: e.open, Others: t.Others}
	for _, g := range e.generators {
		turn.Late += g.Result.Counts.Errors[contract.Timeout]
	}
	turn.Service, _ = t.Times.Of(record.Service)
	if turn.Times = turn.Service; e.open {
		turn.Times, _ = t.Times.Of(record.Response)
	}
	ran := 1.0
	for _, s := range t.Stalls {
		ran -= (s.ToS - s.FromS) / float64(turn.ToNs-turn.FromNs) * 1e9
		turn.Stood = append(turn.Stood, [2]int64{turn.FromNs + int64(s.FromS*1e9), turn.FromNs + int64(s.ToS*1e9)})
	}
	perS, rated := t.Values.Of(metric.ExchangesPerS)
	if turn.Rated = rated && ran > 0.5; turn.Rated {
		turn.PerS = perS / ran
	}
	if len(e.generators) > 1 { // whose ticks come at different times
		return turn
	}
	turn.Slots = int(e.slots)
	for _, tick := range g.Ticks {
		turn.Ticks = append(turn.Ticks, course.Tick{AtNs: tick.AtNs, Done: tick.Exchanges})
	}
	return turn
}
