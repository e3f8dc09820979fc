package course

import (
	"fmt"
	"slices"

	"netdyno/internal/hist"
)

// Still says that a server answered nobody for a while, though requests waited and all that
// is ours ran.
type Still struct {
	Times    int     `json:"times"`
	StoodS   float64 `json:"stood_s"` // in all
	OfS      float64 `json:"of_s"`    // that was measured
	LongestS float64 `json:"longest_s"`
}

// What makes a standstill.
const (
	lateTickNs   = 300e6 // of ticks that come every 200 ms: a client that is so late did not run itself
	leastSlots   = 4     // of fewer requests under way all may be slow ones by chance
	leastReplies = 20    // that the time would have brought
	timesUsual   = 3     // by as much a standstill is longer than the median time
	mostStood    = 0.5   // of the time: what is rather the rule is how the server works
	mostElse     = 1.5   // of the time that all slots stood still: what they spent in long requests
)

// step is the time between two ticks.
type step struct{ fromNs, toNs, done int64 }

func (s step) ns() float64 { return float64(s.toNs - s.fromNs) }

// stillOf finds the times in which no reply came. That alone shows nothing: replies of a slow
// service come in clumps where all requests were sent together, and where some requests are
// slow, all slots may be taken by such. So what it takes is that a server at its usual rate
// would have answered many requests, that one waited for as long, that the median request is
// much faster, that the server runs for most of the time, and that the slots spent no more
// time in long requests than these standstills explain.
func stillOf(l Load) *Still {
	if len(l.Turns) == 0 || l.Turns[0].Slots < leastSlots {
		return nil
	}
	all := merged(l.Turns, service)
	if all.Count() == 0 {
		return nil
	}
	steps := steps(l.Turns)
	usual := usualRate(steps)
	least := timesUsual * float64(all.Quantiles([]float64{0.5})[0])
	s, shortest, seen := Still{}, 0.0, 0.0
	for _, t := range l.Turns {
		s.OfS += float64(t.ToNs-t.FromNs) / 1e9
	}
	for from := 0; from < len(steps); from++ {
		to := from
		for to < len(steps) && steps[to].done == 0 && (to == from || steps[to].fromNs == steps[to-1].toNs) {
			to++
		}
		if to == from {
			continue
		}
		silent := step{fromNs: steps[from].fromNs, toNs: steps[to-1].toNs}
		from = to - 1
		if usual*silent.ns() < leastReplies || silent.ns() < least {
			continue
		}
		waited, ours := during(l.Turns, silent)
		if ours || waited < silent.ns() {
			continue
		}
		stood := min(waited, silent.ns()+2*lateTickNs)
		s.Times++
		s.StoodS += stood / 1e9
		s.LongestS = max(s.LongestS, stood/1e9)
		seen += silent.ns() + lateTickNs*2/3
		if shortest == 0 || silent.ns() < shortest {
			shortest = silent.ns()
		}
	}
	if s.Times == 0 || s.StoodS > mostStood*s.OfS {
		return nil
	}
	if _, long := all.Steps().Within(int64(shortest/2), hist.MaxNs); long > mostElse*seen*float64(l.Turns[0].Slots) {
		return nil
	}
	return &s
}

// steps are those between ticks inside turns that follow each other without a gap.
func steps(turns []Turn) []step {
	var all []step
	for i := 0; i < len(turns); {
		begin, last := turns[i].FromNs, Tick{AtNs: -1}
		for first := i; i < len(turns) && (i == first || turns[i].FromNs == turns[i-1].ToNs); i++ {
			for _, t := range turns[i].Ticks {
				switch {
				case t.AtNs <= last.AtNs || t.Done < last.Done || t.AtNs > turns[i].ToNs:
					continue
				case last.AtNs >= begin && t.AtNs-last.AtNs < lateTickNs:
					all = append(all, step{last.AtNs, t.AtNs, t.Done - last.Done})
				}
				last = t
			}
		}
	}
	return all
}

// usualRate is the median of the steps that brought replies, in 1/ns.
func usualRate(steps []step) float64 {
	var rates []float64
	for _, s := range steps {
		if s.done > 0 {
			rates = append(rates, float64(s.done)/s.ns())
		}
	}
	if len(rates) == 0 {
		return 0
	}
	slices.Sort(rates)
	return rates[len(rates)/2]
}

// during returns how long a request waited at most of those that were answered in a time or
// as it ended, and whether something of ours stood still then.
func during(turns []Turn, s step) (waitedNs float64, ours bool) {
	for _, t := range turns {
		if t.ToNs <= s.fromNs || t.FromNs >= s.toNs+lateTickNs {
			continue
		}
		waitedNs = max(waitedNs, float64(hist.Unpack(t.Times).MaxNs()))
		for _, stood := range t.Stood {
			ours = ours || stood[0] < s.toNs && stood[1] > s.fromNs
		}
	}
	return waitedNs, ours
}

// Words are a sentence about a server.
func (s *Still) Words(server string) string {
	if s.Times == 1 {
		return fmt.Sprintf("%s answered nobody for %.1f of %.0f s: it stood still once.", server, s.StoodS, s.OfS)
	}
	return fmt.Sprintf("%s answered nobody for %.1f of %.0f s: it stood still %d times, up to %.1f s.", server, s.StoodS, s.OfS, s.Times, s.LongestS)
}
