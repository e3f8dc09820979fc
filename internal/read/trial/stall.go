package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// What makes a standstill (specification §2.4).
const (
	stallShare   = 0.02 // of the window: by as much a rate is diluted, and the margin of most studies is as wide
	stallSeconds = 0.38 // two ticks in a row without progress, less what ticks jitter by
	stallLossy   = 1.4  // three timeouts of a retransmission in a row, where the link is to lose packets
	stallGaps    = 10   // times the mean time between two completions: rarer than 1 in 20,000 even under Poisson arrivals
	stallCycles  = 2    // times what an exchange usually takes, and the pause after it
	stallPace    = 0.1  // of the usual rate: less is what kernels still take for a program that is stopped
	silentTicks  = 0.58 // seconds without a tick, of which there are five: the worker itself may have stood still
)

// moment is what a worker had done at an instant of its own clock, in seconds
// since its opening mark.
type moment struct {
	at                  float64
	exchanges, received int64
}

func (m moment) same(o moment) bool { return m.exchanges == o.exchanges && m.received == o.received }

// moments returns a worker's progress: its ticks and its readings at the edges,
// rising. What runs backwards is left out. Empty without both edges.
func moments(e *audit, w *record.Worker) []moment {
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
// progress and its meters show, rising.
func stalls(e *audit) []Stall {
	all := stood(e)
	for _, g := range e.generators {
		if g.Result == nil || g.Setup == nil || !(windowOf(g) > 0) || g.Result.Counts.Exchanges <= 0 {
			continue // the consistency checks say so
		}
		moments := moments(e, g)
		for _, s := range append(quiet(moments, crawl(g, moments)), silent(e, g, moments)...) {
			s.FromS, s.ToS = max(s.FromS, 0), min(s.ToS, windowOf(g))
			if s.ToS-s.FromS >= leastStall(e, g) && !usual(e, g, s.ToS-s.FromS) && !serverMoved(e, s) {
				all = append(all, s)
			}
		}
	}
	return joined(all)
}

// quiet returns the times between moments at which nothing had been added, or less
// than crawl in a second.
func quiet(moments []moment, crawl float64) []Stall {
	stands := func(a, b moment) bool {
		return a.same(b) || float64(b.exchanges-a.exchanges) < crawl*(b.at-a.at)
	}
	var all []Stall
	for i := 0; i < len(moments); {
		j := i
		for j+1 < len(moments) && stands(moments[j], moments[j+1]) {
			j++
		}
		if j > i {
			all = append(all, Stall{FromS: moments[i].at, ToS: moments[j].at})
		}
		i = j + 1
	}
	return all
}

// crawl returns how many exchanges in a second are none, of a client whose bytes
// the kernel counts: what a stopped reader's buffer still takes. Of others 0.
func crawl(g *record.Worker, moments []moment) float64 {
	if !Foreign(g) || len(moments) < 3 {
		return 0
	}
	var rates []float64
	for i := 1; i < len(moments); i++ {
		rates = append(rates, float64(moments[i].exchanges-moments[i-1].exchanges)/(moments[i].at-moments[i-1].at))
	}
	return stallPace * stat.Median(rates)
}

// silent returns the times in which a worker did not even tick, as one that is
// stopped does not, and in which it did less than it does otherwise: in a closed
// loop by the rate, in an open loop, which catches up, by the longest lag.
func silent(e *audit, g *record.Worker, moments []moment) []Stall {
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
		if lag, ok := e.window.HistogramOf(g, record.Lag); ok && e.open && overloaded(e) == "" {
			stood = max(stood, min(gap, float64(lag.MaxNs())/1e9))
		}
		if stood >= leastStall(e, g) {
			all = append(all, Stall{FromS: a.at, ToS: b.at})
		}
	}
	return all
}

// leastStall is how many seconds without progress count.
func leastStall(e *audit, g *record.Worker) float64 {
	least := max(stallShare*windowOf(g), stallSeconds)
	if loss, err := quantity.ParseShare(e.window.Record.Trial.Levels["link.loss"]); err == nil && loss > 0 {
		least = max(least, stallLossy)
	}
	return least
}

// usual tells whether a client may complete nothing for so long without anything
// having stood still: few exchanges, long ones, or all at once with a pause after.
func usual(e *audit, g *record.Worker, seconds float64) bool {
	others := max(windowOf(g)-seconds, 0)
	if seconds <= stallGaps*others/float64(g.Result.Counts.Exchanges) {
		return true
	}
	cycle := float64(g.Setup.Load.ThinkNs) + pauseNs(g.Setup.Load)
	if service, ok := e.service(g); ok {
		median, _ := service.Percentile(0.5)
		cycle += float64(median)
	}
	return seconds <= stallCycles*cycle/1e9
}

// pauseNs is for how long a rate that changes by phases may let nothing fall due.
func pauseNs(load contract.Load) float64 {
	pause := 0.0
	for _, p := range load.Phases {
		if least := min(p[1], p[2]); least > 0 {
			pause = max(pause, min(p[0], stallGaps/least*1e9))
		} else {
			pause = max(pause, p[0])
		}
	}
	return pause
}

// serverMoved tells whether a server went on receiving, at a tenth of its pace or
// more, while a lone client counted nothing: of a large message that goes up,
// clients count nothing before its end. A stopped server's kernel still takes the
// sender's probes, which is less.
func serverMoved(e *audit, s Stall) bool {
	if len(e.generators) != 1 {
		return false // whose it was is not known
	}
	const edge = 0.05 // seconds; the ends' openings lie apart
	for w := range e.workers() {
		if w.Role != contract.Server {
			continue
		}
		all := moments(e, w)
		inside := slices.DeleteFunc(slices.Clone(all), func(m moment) bool { return m.at < s.FromS+edge || m.at > s.ToS-edge })
		if len(inside) < 2 {
			continue
		}
		received, seconds := grown(inside)
		whole, length := grown(all)
		if rest := length - seconds; received > 0 && rest > 0 && received/seconds >= stallPace*(whole-received)/rest {
			return true
		}
	}
	return false
}

// grown returns the bytes that were received between the first of some moments and
// the last, and the seconds that passed.
func grown(moments []moment) (bytes, seconds float64) {
	first, last := moments[0], moments[len(moments)-1]
	return float64(last.received) - float64(first.received), last.at - first.at
}

// joined merges stalls that touch, of several workers, and names the first of whom it
// is known.
func joined(all []Stall) []Stall {
	slices.SortFunc(all, func(a, b Stall) int { return cmp.Compare(a.FromS, b.FromS) })
	var out []Stall
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && s.FromS <= out[last].ToS {
			out[last].ToS = max(out[last].ToS, s.ToS)
			out[last].Of = cmp.Or(out[last].Of, s.Of)
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

// stallWords says when a trial stood still, and who where that is known.
func stallWords(stalls []Stall) string {
	text := "nothing moved " + StallTimes(stalls) + " after the window opened"
	var who []string
	for _, s := range stalls {
		if s.Of != "" && !slices.Contains(who, s.Of) {
			who = append(who, s.Of)
		}
	}
	if len(who) > 0 {
		text += ": " + strings.Join(who, ", ")
	}
	return text
}

const (
	stoodSeconds = 0.025 // more than a beat of the shortest windows
	stoodFelt    = 0.5   // of a standstill: an exchange under way takes as long, or one that falls due is sent as late
)

// stood returns when workers did not run inside the window, as their meters saw: the
// meter itself did not wake, nor did it wait for a CPU, or a signal held a process.
// Unlike progress, this tells short times, and whose they were. A client's exchanges
// must have felt it: a meter that stands still alone disturbs nobody.
func stood(e *audit) []Stall {
	var all []Stall
	for w := range e.workers() {
		span, ok := e.window.Span(w)
		if !ok || span.From.Meter == nil || span.To.Meter == nil || w.AtResult == nil || w.AtResult.Beat == nil {
			continue
		}
		opened := span.From.Meter.AtNs
		length := float64(span.To.Meter.AtNs-opened) / 1e9
		least := max(stallShare*length, stoodSeconds)
		for _, s := range w.AtResult.Beat.Stood {
			stall := Stall{FromS: max(float64(s.FromNs-opened)/1e9, 0), ToS: min(float64(s.ToNs-opened)/1e9, length), Of: whoStood(w, s)}
			if s.Held == nil && stall.ToS-stall.FromS <= throttledFor(span) {
				continue
			}
			if seconds := stall.ToS - stall.FromS; seconds >= least && felt(e, max(least, stoodFelt*seconds)) {
				all = append(all, stall)
			}
		}
	}
	return all
}

// throttledFor returns for how many seconds a worker's control group may have stood still
// because it had used up its quota: what its service is like under that quota, and no fault.
// The meter is in the same group, unless the server was started by others. 0 of one that was
// not throttled.
func throttledFor(s record.Span) float64 {
	if share, ok := s.Throttled(); !ok || share == 0 || s.Worker.Ready != nil && s.Worker.Ready.Elsewhere {
		return 0
	}
	return 2 * float64(s.To.Meter.Group.Quota.PeriodNs) / 1e9 // a beat knows when a standstill began only to a beat
}

// felt tells whether an exchange of some client took so long, or was sent so late: a
// meter knows when a standstill ended, and when it began only to a beat. True where a
// client does not tell its times.
func felt(e *audit, seconds float64) bool {
	for _, g := range e.generators {
		service, timed := e.service(g)
		if !timed {
			return true
		}
		longest := service.MaxNs()
		if lag, ok := e.window.HistogramOf(g, record.Lag); ok {
			longest = max(longest, lag.MaxNs())
		}
		if float64(longest)/1e9 >= seconds {
			return true
		}
	}
	return false
}

// whoStood names what did not run.
func whoStood(w *record.Worker, s contract.Standstill) string {
	switch {
	case s.Held == nil:
		return w.Name + " and its meter did not run"
	case s.Held.Traced:
		return fmt.Sprintf("a debugger held %s (process %d) of %s", s.Held.Name, s.Held.PID, w.Name)
	}
	return fmt.Sprintf("a signal held %s (process %d) of %s", s.Held.Name, s.Held.PID, w.Name)
}
