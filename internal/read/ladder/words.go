package ladder

import (
	"fmt"
	"math"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/profile"
)

// sentence says which part of a whole each step of a ladder has; its figures
// are those of the ladder's table.
func (p Split) sentence() string {
	if len(p.Steps) == 0 {
		return "No steps" + cells.InCell(p.Cell) + ": " + p.Reason + "."
	}
	if w := p.Whole; !cells.Known(p.Blocks, w.Ratio, w.Low, w.High) {
		return fmt.Sprintf("The %s of %s against %s%s is unknown (%s).", part.Label(p.Metric), w.Arm, w.Base, cells.InCell(p.Cell), cells.WhyUnknown(p.Blocks, p.Of))
	}
	whole := fmt.Sprintf("%s has %s the %s of %s (%s, %d blocks)", p.Whole.Arm, part.Times(p.Whole.Ratio), part.Label(p.Metric), p.Whole.Base,
		part.Span(p.Whole.Low, p.Whole.High), p.Blocks)
	if p.Cell != "" {
		whole = "At " + cells.Spoken(p.Cell) + ", " + whole
	}
	if !p.Divided {
		return whole + "; the steps have no shares of it: " + p.Reason + "."
	}
	var parts, against, open []string
	for _, t := range p.Steps {
		share := fmt.Sprintf("%s %% (%s %%)", percentage(t.Share.Value), shareInterval(t.Share))
		switch {
		case !t.Told:
			open = append(open, fmt.Sprintf("%s (%s)", stepName(t), part.Times(t.Ratio)))
		case t.Share.Value > 0:
			parts = append(parts, share+" is "+stepName(t)+seenIn(t, p.Metric))
		default:
			against = append(against, stepName(t)+", "+share+seenIn(t, p.Metric))
		}
	}
	text := whole + "."
	if len(parts) > 0 {
		text += " Of that ratio, " + part.And(parts) + "."
	}
	if len(against) > 0 {
		text += " Against it: " + strings.Join(against, "; ") + "."
	}
	if len(open) > 0 {
		text += " Not told apart from 1: " + strings.Join(open, ", ") + "."
	}
	return text
}

// stepName is a step as the study calls it, else by its arms.
func stepName(t Step) string {
	if t.Title != "" {
		return t.Title
	}
	return "the step from " + t.Base + " to " + t.Arm
}

// notable is the least part of what two profiles differ by that a sentence names as
// the reason.
const notable = 0.25

// seenIn names the activity in which the profiles of a step's arms differ most, if
// it is told apart from noise and no small part of the whole.
func seenIn(t Step, name string) string {
	if t.Cause == nil || len(t.Cause.Activities) == 0 {
		return ""
	}
	a := t.Cause.Activities[0]
	if !a.Told || math.Abs(a.Difference) < notable*math.Abs(t.Cause.Whole.Difference) {
		return ""
	}
	scale := metric.Shown(name).Scale(max(t.Value, t.BaseValue))
	more := "more"
	if a.Difference < 0 {
		more = "less"
	}
	return fmt.Sprintf(" (the profiles show %s %s %s in %s)", scale.Format(math.Abs(a.Difference)), scale.Unit, more, profile.Spoken(a.Name))
}

func shareInterval(p Part) string {
	if p.Low < 0 {
		return percentage(p.Low) + " to " + percentage(p.High)
	}
	return percentage(p.Low) + "–" + percentage(p.High)
}

func percentage(share float64) string { return minus(quantity.FormatFigure(100 * share)) }
