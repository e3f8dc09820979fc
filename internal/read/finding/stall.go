package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// What makes a standstill (METHOD §2.4).
const (
	stallShare   = 0.02 // of the window: by as much a rate is diluted, and the margin of most studies is as wide
	stallSeconds = 0.38 // two ticks in a row without progress, less what ticks jitter by
	stallLossy   = 1.4  // three timeouts of a retransmission in a row, where the link is to lose packets
	stallGaps    = 10   // times the mean time between two completions: rarer than 1 in 20,000 even under Poisson arrivals
	stallCycles  = 2    // times what an exchange usually takes, and the pause after it
	silentTicks  = 0.58 // seconds without a tick, of which there are five: the worker itself may have stood still
)

// Stall is a time inside the window in which a client completed nothing and no
// byte of its reached it, in seconds since the opening.
type Stall struct {
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
}

// moment is what a worker had done at an instant of its own clock, in seconds
// since its opening mark.
type moment struct {
	at                  float64
	exchanges, received int64
}

func (m moment) same(o moment) bool { return m.exchanges == o.exchanges && m.received == o.received }

// moments returns a worker's progress: its ticks and its readings at the edges,
// rising. What runs backwards is left out. Empty without both edges.
func (e *exam) moments(w *record.Worker) []moment {
	span, ok := e.window.Span(w)
	if !ok {
		return nil
	}
	begin := span.From.Reading.AtNs
	var all []moment
	add := func(atNs, exchanges, received int64) {
		all = append(all, moment{(float64(atNs) - float64(begin)) / 1e9, exchanges, received})
	}
	for _, t := range w.Ticks {
		add(t.AtNs, t.Exchanges, t.ReceivedBytes)
	}
	for _, edge := range []record.Edge{span.From, span.To} {
		add(edge.Reading.AtNs, edge.Reading.Counts.Exchanges, edge.Reading.Counts.ReceivedBytes)
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	rising := all[:0]
	for _, m := range all {
		if last := len(rising) - 1; last < 0 || m.at > rising[last].at && m.exchanges >= rising[last].exchanges && m.received >= rising[last].received {
			rising = append(rising, m)
		}
	}
	return rising
}

// stalls returns when the trial stood still inside its window, as its clients'
// progress shows, rising.
func (e *exam) stalls() []Stall {
	var all []Stall
	for _, g := range e.generators {
		if g.Result == nil || g.Setup == nil || !(windowOf(g) > 0) || g.Result.Counts.Exchanges <= 0 {
			continue // the ledger says so
		}
		moments := e.moments(g)
		for _, s := range append(quiet(moments), e.silent(g, moments)...) {
			s.FromS, s.ToS = max(s.FromS, 0), min(s.ToS, windowOf(g))
			if s.ToS-s.FromS >= e.leastStall(g) && !e.usual(g, s.ToS-s.FromS) && !e.serverMoved(s) {
				all = append(all, s)
			}
		}
	}
	return joined(all)
}

// quiet returns the times between moments at which nothing had been added.
func quiet(moments []moment) []Stall {
	var all []Stall
	for i := 0; i < len(moments); {
		j := i
		for j+1 < len(moments) && moments[j+1].same(moments[i]) {
			j++
		}
		if j > i {
			all = append(all, Stall{moments[i].at, moments[j].at})
		}
		i = j + 1
	}
	return all
}

// silent returns the times in which a worker did not even tick, as one that is
// stopped does not, and in which it did less than it does otherwise: in a closed
// loop by the rate, in an open loop, which catches up, by the longest lag.
func (e *exam) silent(g *record.Worker, moments []moment) []Stall {
	var all []Stall
	if len(g.Ticks) < 2 {
		return nil // it never ticks
	}
	for i := 1; i < len(moments); i++ {
		a, b := moments[i-1], moments[i]
		gap, done := b.at-a.at, float64(b.exchanges-a.exchanges)
		if gap < silentTicks || a.same(b) {
			continue // quiet has those
		}
		pace := (float64(g.Result.Counts.Exchanges) - done) / max(windowOf(g)-gap, 1e-9)
		stood := 0.0
		if pace > 0 {
			stood = gap - done/pace
		}
		if lag, ok := e.window.HistogramOf(g, record.Lag); ok && e.open && !e.fellShort() {
			stood = max(stood, min(gap, float64(lag.MaxNs())/1e9))
		}
		if stood >= e.leastStall(g) {
			all = append(all, Stall{a.at, b.at})
		}
	}
	return all
}

// leastStall is how many seconds without progress count.
func (e *exam) leastStall(g *record.Worker) float64 {
	least := max(stallShare*windowOf(g), stallSeconds)
	if loss, err := quantity.ParseShare(e.window.Record.Trial.Levels["link.loss"]); err == nil && loss > 0 {
		least = max(least, stallLossy)
	}
	return least
}

// usual tells whether a client may complete nothing for so long without anything
// having stood still: few exchanges, long ones, or all at once with a pause after.
func (e *exam) usual(g *record.Worker, seconds float64) bool {
	others := max(windowOf(g)-seconds, 0)
	if seconds <= stallGaps*others/float64(g.Result.Counts.Exchanges) {
		return true
	}
	cycle := float64(g.Setup.Load.ThinkNs)
	if service, ok := e.service(g); ok {
		median, _ := service.Percentile(0.5)
		cycle += float64(median)
	}
	return seconds <= stallCycles*cycle/1e9
}

// serverMoved tells whether the servers received something during what a lone
// client counted nothing in: of a large message that goes up, clients count
// nothing before its end.
func (e *exam) serverMoved(s Stall) bool {
	if len(e.generators) != 1 {
		return false // whose it was is not known
	}
	const edge = 0.05 // seconds; the ends' openings lie apart
	for i := range e.window.Record.Workers {
		w := &e.window.Record.Workers[i]
		if w.Role != contract.Server {
			continue
		}
		inside := slices.DeleteFunc(e.moments(w), func(m moment) bool { return m.at < s.FromS+edge || m.at > s.ToS-edge })
		if n := len(inside); n > 1 && !inside[0].same(inside[n-1]) {
			return true
		}
	}
	return false
}

// joined merges stalls that touch, of several clients.
func joined(all []Stall) []Stall {
	slices.SortFunc(all, func(a, b Stall) int { return cmp.Compare(a.FromS, b.FromS) })
	var out []Stall
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && s.FromS <= out[last].ToS {
			out[last].ToS = max(out[last].ToS, s.ToS)
			continue
		}
		out = append(out, s)
	}
	return out
}

// StallTimes prints when a trial stood still: "0.62–1.33 s", and "" when it did not.
func StallTimes(stalls []Stall) string {
	if len(stalls) == 0 {
		return ""
	}
	times := make([]string, len(stalls))
	for i, s := range stalls {
		times[i] = fmt.Sprintf("%.2f–%.2f", s.FromS, s.ToS)
	}
	return strings.Join(times, " and ") + " s"
}
