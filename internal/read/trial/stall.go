package trial

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

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
	text := "stood still " + StallTimes(stalls) + " after the window opened"
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

// What makes a standstill (specification §2.4).
const (
	stallShare   = 0.02  // of the window: by as much a rate is diluted, and the margin of most studies is as wide
	stallSeconds = 0.025 // more than a beat of the shortest windows
	memoryShare  = 0.5   // of a standstill, for which memory was waited for: the arm itself may have filled it
)

// stalls returns when something of ours, or the machine, stood still, rising: inside the
// window, and in an open loop just before it, as what fell due then is worked off inside.
// Whether replies came is not asked: what a server does is what is measured.
func stalls(e *audit) []Stall { return joined(slices.Collect(standstills(e, e.open))) }

// standstills returns the times that count in which workers did not run, as their meters
// saw: the meter itself did not wake, nor did it wait for a CPU, or a signal or a debugger
// held a process. By the meters' clocks alone. What an arm may do to its own control group
// or memory is left out. With before they include those that ended before the window by
// less than they lasted: the opening mark came late, or their backlog is worked off in the
// window. A program that is held then may wait for the window by its worker's wish.
func standstills(e *audit, before bool) iter.Seq[Stall] {
	return func(yield func(Stall) bool) {
		for w := range e.workers() {
			span, ok := e.window.Span(w)
			elsewhere := w.Ready != nil && w.Ready.Elsewhere // what holds such a server, or what it started, is its own matter
			if !ok || span.From.Meter == nil || span.To.Meter == nil || w.AtResult == nil || w.AtResult.Beat == nil {
				continue
			}
			opened := span.From.Meter.AtNs
			length := float64(span.To.Meter.AtNs-opened) / 1e9
			for _, s := range w.AtResult.Beat.Stood {
				from := 0.0
				if before && s.Held == nil && opened-s.ToNs < s.ToNs-s.FromNs {
					from = math.Inf(-1)
				}
				stall := Stall{FromS: max(float64(s.FromNs-opened)/1e9, from), ToS: min(float64(s.ToNs-opened)/1e9, length), Of: whoStood(w, s)}
				seconds := stall.ToS - stall.FromS
				own := s.Held == nil && (seconds <= throttledFor(span) || waitedForMemory(span) >= memoryShare*seconds)
				if s.Held != nil && elsewhere {
					continue
				}
				if seconds >= max(stallShare*length, stallSeconds) && !own && !yield(stall) {
					return
				}
			}
		}
	}
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
