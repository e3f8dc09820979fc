package compare

import (
	"fmt"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Look says whether a run may stop after one of its study's looks, counted from
// 1, by the records of that look's blocks. Later records are left out. It fails
// where Find fails, and for a look that the study does not have.
func Look(header record.Header, trials []record.Trial, records []record.Record, look int) (cells.Look, error) {
	looks := cells.PlanOf(header).Looks
	if len(looks) < 2 || look < 1 || look > len(looks) {
		return cells.Look{}, fmt.Errorf("look %d: the study has %d looks", look, len(looks))
	}
	blocks := looks[look-1]
	header.Stopped = &record.Stop{Look: look, Blocks: blocks}
	records = slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool { return r.Trial.Block > blocks })
	s, err := cells.Read(header, trials, records)
	if err != nil {
		return cells.Look{}, err
	}
	noise := MeasureNoise(s)
	return *Settle(s, Compare(s, noise), Require(s, noise)), nil
}

// Settle completes the look by what was found at it; nil for a study with one look. Where
// nothing is asked, nothing is open.
func Settle(s *cells.Dataset, comparisons []Comparison, requirements []Requirement) *cells.Look {
	if s.Look == nil {
		return nil
	}
	if s.Within > 0 {
		out := precisely(s)
		return &out
	}
	asked, open := len(requirements), 0
	for _, c := range comparisons {
		if c.Primary {
			asked++
			open += oneIf(!settled(s, c))
		}
	}
	for _, r := range requirements {
		open += oneIf(r.State == Undecided)
	}
	out := *s.Look
	out.Settled = open == 0 && out.Done == out.Blocks
	endInTime(s, &out)
	out.Sentence = lookWords(s, out, open, asked, len(requirements) > 0)
	return &out
}

// settled tells whether more blocks have nothing to add to a comparison. An
// invalid one is settled when what makes it so lies in the design.
func settled(s *cells.Dataset, c Comparison) bool {
	switch c.Verdict {
	case Better, Worse, Equivalent, Unsupported:
		return true
	case Invalid:
		return slices.ContainsFunc([]string{c.Arm, c.Base}, func(arm string) bool { return hopeless(s, c, arm) })
	}
	return false
}

// hopeless tells whether more blocks cannot help an arm: it was overloaded and times are
// compared, or its client was the limit in every trial of a comparison of servers.
func hopeless(s *cells.Dataset, c Comparison, arm string) bool {
	judged := s.Of(c.Cell, arm)
	ran, clients := 0, 0
	for _, v := range judged {
		ran += oneIf(v.Record != nil)
		clients += oneIf(v.Trial.Status == trial.Valid && v.LimitOf == contract.Client)
	}
	b := &Pending{Comparison: c}
	switch {
	case ran == 0:
		return false
	case IsLatency(c.Metric) && cells.Flagged(judged, trial.Overloaded) > 0:
		return true
	}
	return clients == ran && onlyServersDiffer(s, b) && pacedByClient(s, b)
}

// lookWords says where a run stands among its looks, and how it goes on.
func lookWords(s *cells.Dataset, g cells.Look, open, asked int, required bool) string {
	everything := "every primary comparison"
	if required {
		everything += " and requirement"
	}
	at := fmt.Sprintf("look %d of %d (%d blocks)", g.Number, g.Of, g.Blocks)
	level := fmt.Sprintf("level %.3g", g.Level)
	left := fmt.Sprintf("%d of %d questions are open", open, asked)
	switch {
	case g.TimeUp && g.Level == 0:
		return fmt.Sprintf("time over after %s, too few to tell; settle=TIME gives it more; %s", quantity.Plural(g.Blocks, "block"), reached(s))
	case g.TimeUp:
		return fmt.Sprintf("time over after %s: %s; %s; judged at %s", quantity.Plural(g.Blocks, "block"), reached(s), left, level)
	case g.Level == 0:
		mute := fmt.Sprintf("%s decides nothing: it has too few blocks for the share of the significance level that is left to it", at)
		if g.Next > 0 && !g.Stopped {
			mute += fmt.Sprintf("; continue to %d blocks with %s", g.Next, s.GoOn())
		}
		return mute
	case g.Done < g.Blocks:
		return fmt.Sprintf("interrupted after %d whole blocks, before %s: judged for now at that look's %s; continue with %s", g.Done, at, level, s.GoOn())
	case asked == 0:
		return fmt.Sprintf("ended at %s: nothing is compared", at)
	case g.Settled && g.Stopped:
		return fmt.Sprintf("stopped after %s: %s is settled at %s", at, everything, level)
	case g.Settled:
		return fmt.Sprintf("at %s: %s is settled at %s", at, everything, level)
	case g.Next == 0:
		return fmt.Sprintf("ran to the last look, %s: judged at %s; %s", at, level, left)
	case g.Stopped: // a look on the way, or a run that later rules judge otherwise
		return fmt.Sprintf("at %s: judged at %s; %s", at, level, left)
	}
	return fmt.Sprintf("at %s: judged at %s; %s; continue to %d blocks with %s", at, level, left, g.Next, s.GoOn())
}
