package search

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// objectiveWords join the conditions of an objective: "response p99 ≤ 10 ms".
func objectiveWords(bounds []record.Bound) string {
	var texts []string
	for _, b := range bounds {
		sign := " ≤ "
		if b.AtLeast {
			sign = " ≥ "
		}
		value := b.Text[strings.LastIndexAny(b.Text, "<>=≤≥ ")+1:] // the bound alone, in records of releases that wrote it so
		if unit := strings.TrimLeft(value, "0123456789."); unit != "" && unit != "%" {
			value = strings.TrimSuffix(value, unit) + " " + unit
		}
		texts = append(texts, part.Label(b.Metric)+sign+value)
	}
	return cmp.Or(strings.Join(texts, " and "), "its bounds")
}

// rateSentence answers how much an arm carries.
func (f *Search) rateSentence(a Arm) string {
	who, objective := f.names.WithinAt(a.Arm, a.Cell), objectiveWords(f.Objective)
	switch a.Fate {
	case Nothing:
		return fmt.Sprintf("%s meets %s at no rate that was tried: %s%s.", who, objective, a.Why, semicolon(a.Cure))
	case Undecided:
		return fmt.Sprintf("How much %s carries with %s is undecided: %s%s.", who, objective, a.Why, semicolon(a.Cure))
	}
	s := part.ScaleFor(f.Metric, a.Figure.Value)
	rate := part.WithUnit(a.Figure.Value, s)
	if a.Fate == AtLeast {
		return fmt.Sprintf("%s carries at least %s with %s: %s.", who, rate, objective, a.beyond())
	}
	text := fmt.Sprintf("%s carries %s (%s) with %s%s", who, rate, s.Interval(a.Figure.Low, a.Figure.High), objective, a.limitWords())
	if a.Ratio != nil {
		text += fmt.Sprintf("; that is %s of what %s carries", part.TimesIn(a.Ratio.Value, a.Ratio.Low, a.Ratio.High), f.names.Within(f.Baseline))
	}
	if a.Wide {
		text += "; a longer --time narrows that"
	}
	return text + "."
}

// semicolon is what a sentence goes on with; "" for nothing.
func semicolon(text string) string {
	if text == "" {
		return ""
	}
	return "; " + text
}

// beyond says why an arm may carry more than was found.
func (a Arm) beyond() string {
	untold, missed, why := 0, false, ""
	for _, t := range a.Tries {
		missed = missed || !t.Met && !t.Untold
		if t.Untold {
			untold, why = untold+1, t.Why
		}
	}
	switch {
	case a.LimitOf == contract.Client || missed:
		return "the client was the limit above that; give it more CPUs or processes (clients=2)"
	case untold > 0:
		return fmt.Sprintf("no window that tells missed it, and %s told nothing, the last because %s", quantity.Plural(untold, "window"), why)
	}
	return "no window missed it"
}

// limitWords says what limits an arm at its rate. The load is an open loop there, which does
// not wait for replies.
func (a Arm) limitWords() string {
	switch {
	case a.Limit == "":
		return ""
	case a.Limit == trial.Unknown:
		return "; what limits it is not known, so it may be the client"
	case a.LimitOf == contract.Client: // it carries "at least" a rate where most windows that missed it prove that
		return "; in some windows the client was the limit"
	case a.Limit == trial.Latency:
		return "; no CPU is full: responses wait in the server or for what stands behind it"
	}
	return "; limited by " + a.Limit.Called()
}

// choiceSentences answer which arm to use, what it gains, and what that costs.
func (f *Search) choiceSentences() []string {
	all := []string{f.choiceSentence()}
	if c := f.Choice; len(c.Costs) > 0 && c.Recommended == c.Winner {
		var parts []string
		for _, g := range c.Costs {
			if g.Low > 1 || g.High < 1 { // the others stand in the report
				parts = append(parts, part.Label(g.Metric)+" is "+changeWords(g.Ratio, g.Low, g.High))
			}
		}
		if len(parts) > 0 {
			all = append(all, "With it "+quantity.And(parts)+".")
		}
	}
	return all
}

func (f *Search) choiceSentence() string {
	c := f.Choice
	use := cmp.Or(strings.Join(c.Settings, ", "), c.Recommended)
	switch c.State {
	case Running:
		return "The race goes on; nothing is recommended yet."
	case Unkept:
		return part.Sentence(c.Why) + " Nothing is recommended."
	case Kept:
		return fmt.Sprintf("Keep %s: %s%s.", f.Baseline, c.Why, f.keeping())
	case Needed:
		return fmt.Sprintf("Use %s, as %s does not keep %s: %s.", use, f.Baseline, objectiveWords(f.Objective), f.gainWords())
	}
	return fmt.Sprintf("Use %s: %s, in %d fresh rounds%s.", use, f.gainWords(), c.Gain.Blocks, f.keeping())
}

// unproven says why a winner is not recommended.
func (f *Search) unproven(kept bool) string {
	c := f.Choice
	switch {
	case c.Gain.Verdict == compare.Invalid:
		return fmt.Sprintf("%s won the race (%s), and its %d fresh blocks cannot confirm it: %s", c.Winner, f.gainWords(), c.Gain.Blocks, c.Gain.Reason)
	case !kept:
		return fmt.Sprintf("%s won the race (%s), and is not sure to keep %s", c.Winner, f.gainWords(), objectiveWords(f.Objective))
	}
	return fmt.Sprintf("%s won the race, and %d fresh blocks do not show it better (%s)", c.Winner, c.Gain.Blocks, f.gainWords())
}

// gainWords are the winner's ratio to the baseline in fresh blocks.
func (f *Search) gainWords() string {
	g := f.Choice.Gain
	if g.Ratio == 0 {
		return "no figure"
	}
	return fmt.Sprintf("%s is %s", part.Label(f.Metric), changeWords(g.Ratio, g.Low, g.High))
}

// changeWords says by how much a figure changes, with its interval.
func changeWords(ratio, low, high float64) string {
	percent := func(ratio float64) string { return quantity.FormatFigure(100 * math.Abs(ratio-1)) }
	switch {
	case low > 1:
		return fmt.Sprintf("%s %% higher (%s–%s %%)", percent(ratio), percent(low), percent(high))
	case high < 1:
		return fmt.Sprintf("%s %% lower (%s–%s %%)", percent(ratio), percent(high), percent(low))
	}
	return part.TimesIn(ratio, low, high)
}

// keeping says whether the bounds are kept, with their figures.
func (f *Search) keeping() string {
	var parts []string
	keeps := "it keeps %s"
	for _, b := range f.Choice.Bounds {
		parts = append(parts, part.FigureWords(b.Metric, b.Figure))
		if b.State != compare.Met {
			keeps = "whether it keeps %s cannot be told"
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("; "+keeps+" (%s)", objectiveWords(f.Objective), strings.Join(parts, ", "))
}

// raceWords say how much was run, why the race ended, and what its figures are worth.
func (f *Search) raceWords() []string {
	c := f.Choice
	return []string{
		fmt.Sprintf("%s in the race, %s with the confirmation's. %s", quantity.Plural(c.Blocks, "block"), quantity.Plural(c.Trials, "trial"), cmp.Or(c.Ended, "It has not ended.")),
		fmt.Sprintf("The whole race leaves out its best arm with a probability of at most %s; arms that are behind were left out because the time did not suffice for all.", quantity.ChosenShare(ErrorRate)),
		"Figures and ratios are of the race's blocks, which chose the winner: what it gains is told by the fresh blocks alone.",
	}
}
