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
	out.Sentence = lookWords(s, out, open, asked)
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

// lookWords says after how many rounds a run was judged, what is open, and how it goes on.
func lookWords(s *cells.Dataset, g cells.Look, open, asked int) string {
	rounds := quantity.Plural(g.Blocks, "round")
	left := fmt.Sprintf("%d of %s open", open, quantity.Plural(asked, "question"))
	goOn := ""
	if g.Next > 0 && !g.Stopped {
		goOn = fmt.Sprintf("; continue to %d rounds: %s", g.Next, s.GoOn())
	}
	switch {
	case g.TimeUp && g.Level == 0:
		return fmt.Sprintf("time over after %s, too few to tell; settle=TIME gives it more; %s", rounds, reached(s))
	case g.TimeUp:
		return fmt.Sprintf("time over after %s: %s; %s", rounds, reached(s), left)
	case g.Level == 0:
		return fmt.Sprintf("%s are too few to decide anything", rounds) + goOn
	case g.Done < g.Blocks:
		return fmt.Sprintf("interrupted after %s: judged by these; continue: %s", quantity.Plural(g.Done, "round"), s.GoOn())
	case asked == 0:
		return fmt.Sprintf("ended after %s: nothing is compared", rounds)
	case g.Settled && g.Stopped:
		return fmt.Sprintf("stopped after %s: everything is settled", rounds)
	case g.Settled:
		return fmt.Sprintf("after %s everything is settled", rounds)
	case g.Next == 0:
		return fmt.Sprintf("ended after %s: %s", rounds, left)
	}
	return fmt.Sprintf("after %s: %s", rounds, left) + goOn
}
