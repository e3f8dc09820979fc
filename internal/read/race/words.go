package race

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// fallenSaid bounds the arms without valid trials of which the answer speaks; the table has
// all.
const fallenSaid = 2

// sentences answer which settings to use, what they gain and cost, and what did not
// matter.
func (r *Race) sentences() []string {
	all := []string{raceAnswer(r)}
	if len(r.Costs) > 0 && r.Recommended != "" && r.Recommended != r.Baseline {
		all = append(all, costSentence(r))
	}
	fallen := 0
	for _, c := range r.Candidates {
		if c.Fate != Fell || c.Arm == r.Baseline {
			continue
		}
		if fallen++; fallen <= fallenSaid {
			all = append(all, fmt.Sprintf("%s was left out, as its trials failed or are not valid: %s.", c.Arm, strings.TrimSuffix(c.Reason, ".")))
		}
	}
	if more := fallen - fallenSaid; more > 0 {
		all = append(all, fmt.Sprintf("So were %d more.", more))
	}
	return append(all, optionSentences(r)...)
}

// raceAnswer is what to do.
func raceAnswer(r *Race) string {
	bounds := raceBounds(r.Spec.Within)
	switch r.State {
	case Running:
		if r.Winner != "" {
			return fmt.Sprintf("The race has ended, its winner is %s; the blocks that compare it with %s are not all measured.", r.Winner, r.Baseline)
		}
		return "The race goes on; nothing is recommended yet."
	case Failed:
		return fmt.Sprintf("Nothing can be recommended: the trials of %s failed or are not valid, so nothing can be compared with it.", r.Baseline)
	case Unmeasured:
		return fmt.Sprintf("Nothing can be recommended: no trial has a valid %s.", r.Spec.Best)
	case Unkept:
		return fmt.Sprintf("No setting is sure to keep %s%s; nothing is recommended.", bounds, nearest(r))
	case Unbeaten:
		if !r.Sure {
			return fmt.Sprintf("Keep %s: of %d others none was ahead of it by more than %s when the race ended (%s)%s.", r.Baseline, len(r.Candidates)-1, compare.Percent(r.Margin), r.Ended, keeping(r))
		}
		return fmt.Sprintf("Keep %s: of %d others none is better by more than %s%s.", r.Baseline, len(r.Candidates)-1, compare.Percent(r.Margin), keeping(r))
	case Unproven:
		if r.Gain.Verdict == compare.Invalid {
			return fmt.Sprintf("Keep %s for now: %s won the race (%s), and its %d fresh blocks cannot confirm it: %s.", r.Baseline, r.Winner, gainWords(r), r.Gain.Blocks, r.Gain.Reason)
		}
		return fmt.Sprintf("Keep %s: %s won the race, and %d fresh blocks do not show it better (%s%s).", r.Baseline, r.Winner, r.Gain.Blocks, gainWords(r), brokenWords(r))
	case Needed:
		return fmt.Sprintf("Use %s, as %s does not keep %s: %s.", settingWords(r), r.Baseline, bounds, gainWords(r))
	}
	return fmt.Sprintf("Use %s: %s, in %d fresh blocks that chose nothing%s.", settingWords(r), gainWords(r), r.Gain.Blocks, keeping(r))
}

// settingWords are the settings as they are written elsewhere, where that is known.
func settingWords(r *Race) string {
	var parts []string
	for _, s := range r.Settings {
		parts = append(parts, s.text())
	}
	if len(parts) == 0 {
		return r.Recommended
	}
	return strings.Join(parts, ", ")
}

// text is a setting as a user writes it.
func (s Setting) text() string {
	switch {
	case s.As == "":
		return s.Factor + "=" + s.Level
	case !strings.HasPrefix(s.Factor, "opt."): // it is no option of netdyno's that As is written for, but a command
		return s.As
	}
	return s.Factor + "=" + s.Level + " (" + s.As + ")"
}

// gainWords are the winner's ratio to the baseline in fresh blocks.
func gainWords(r *Race) string {
	g := r.Gain
	if g == nil || g.Ratio == 0 {
		return "no figure"
	}
	return fmt.Sprintf("%s is %s", part.Label(r.Spec.Best), changeWords(stat.Estimate{Point: g.Ratio, Low: g.Low, High: g.High}))
}

// changeWords says by how much a figure changes, with its interval.
func changeWords(e stat.Estimate) string {
	percent := func(ratio float64) string { return quantity.FormatFigure(100 * math.Abs(ratio-1)) }
	switch {
	case e.Low > 1:
		return fmt.Sprintf("%s %% higher (%s–%s %%)", percent(e.Point), percent(e.Low), percent(e.High))
	case e.High < 1:
		return fmt.Sprintf("%s %% lower (%s–%s %%)", percent(e.Point), percent(e.High), percent(e.Low))
	}
	return part.TimesIn(e.Point, e.Low, e.High)
}

// costSentence is what the gain is paid with, or saves besides.
func costSentence(r *Race) string {
	var parts []string
	for _, c := range r.Costs {
		parts = append(parts, part.Label(c.Metric)+" "+changeWords(stat.Estimate{Point: c.Ratio, Low: c.Low, High: c.High}))
	}
	return "With it " + strings.Join(parts, ", ") + "."
}

// keeping says that bounds are kept, and what their figures are.
func keeping(r *Race) string {
	if len(r.Bounds) == 0 {
		return ""
	}
	var parts []string
	kept := true
	for _, b := range r.Bounds {
		parts = append(parts, part.FigureWords(b.Metric, b.Figure))
		kept = kept && b.State == compare.Met
	}
	if !kept {
		return fmt.Sprintf("; whether it keeps %s cannot be told (%s)", raceBounds(r.Spec.Within), strings.Join(parts, ", "))
	}
	return fmt.Sprintf("; it keeps %s (%s)", raceBounds(r.Spec.Within), strings.Join(parts, ", "))
}

// brokenWords names the bounds that a winner is not sure to keep.
func brokenWords(r *Race) string {
	if i := slices.IndexFunc(r.Bounds, func(b Bound) bool { return b.State != compare.Met }); i >= 0 {
		return ", and whether " + raceBounds(r.Spec.Within) + " is kept cannot be told"
	}
	return ""
}

// nearest names the figure that misses a bound by the least.
func nearest(r *Race) string {
	if len(r.Bounds) == 0 {
		return ""
	}
	b := r.Bounds[0]
	return fmt.Sprintf(" (%s has %s)", r.Winner, part.FigureWords(b.Metric, b.Figure))
}

func raceBounds(bounds []record.Bound) string {
	if len(bounds) == 0 {
		return "the bounds"
	}
	var all []string
	for _, b := range bounds {
		sign := "≤"
		if b.AtLeast {
			sign = "≥"
		}
		all = append(all, fmt.Sprintf("%s %s %s", part.Label(b.Metric), sign, b.Text))
	}
	return strings.Join(all, " and ")
}

// matteredWords say by how much an option changes the metric by itself: at its best level,
// or at the first one that surely changes it where the best does not.
func (o Option) matteredWords() string {
	surely := func(t Tried) bool { return t.Ratio.Low > 1 || t.Ratio.Point > 0 && t.Ratio.High < 1 }
	if i := slices.IndexFunc(o.Tried, surely); i >= 0 && !surely(*o.Best) {
		return fmt.Sprintf("%s (at %s: %s; at best %s: not told apart)", o.Factor, o.Tried[i].Level, changeWords(o.Tried[i].Ratio), o.Best.Level)
	}
	return fmt.Sprintf("%s (at best %s: %s)", o.Factor, o.Best.Level, changeWords(o.Best.Ratio))
}

// optionSentences say what each setting did by itself.
func optionSentences(r *Race) []string {
	var mattered, not, open []string
	for _, k := range r.Options {
		switch k.Effect {
		case Mattered:
			mattered = append(mattered, k.matteredWords())
		case NoMatter:
			not = append(not, k.Factor)
		case OpenStill:
			open = append(open, fmt.Sprintf("%s (%s)", k.Factor, strings.Join(k.Open, ", ")))
		}
	}
	var all []string
	if len(mattered) > 0 {
		all = append(all, "By itself mattered: "+strings.Join(mattered, "; ")+".")
	}
	if len(not) > 0 {
		all = append(all, fmt.Sprintf("Did not matter (within ±%s): %s.", compare.Percent(r.Margin), strings.Join(not, ", ")))
	}
	if len(open) > 0 {
		all = append(all, "Open: "+strings.Join(open, "; ")+".")
	}
	return all
}
