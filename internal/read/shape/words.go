package shape

import (
	"fmt"
	"math"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/stat"
)

// sentence says how much of a published ratio is start-up: the published one,
// that measured in the publication's shape, and that in a window.
func (x Shape) sentence() string {
	text := fmt.Sprintf("Published is %s×", quantity.FormatFigure(x.Spec.Ratio))
	if len(x.Unmet) > 0 {
		text += ", under other conditions: " + cells.Conditions(x.Unmet)
	}
	if x.Reason != "" {
		return text + ". How much of it is start-up cannot be told here: " + strings.TrimSuffix(x.Reason, ".") + "."
	}
	shaped, steady := x.Ends()
	text += fmt.Sprintf(". Measured in the published shape (%s) it is %s; in a steady window (%s), %s. ",
		cells.Spoken(shaped), estimated(x.Shaped), cells.Spoken(steady), estimated(x.InWindow))
	quotient := fmt.Sprintf("%s, %d blocks, %s intervals", estimated(x.StartUp), x.Blocks, compare.Confidence(x.Level))
	switch {
	case !x.Told:
		text += "Start-up makes no difference that can be told: the one ratio ÷ the other is " + quotient
		if x.NeedsMore > 0 {
			text += fmt.Sprintf("; about %d blocks would tell", x.NeedsMore)
		}
		return text + "."
	case !x.Shared:
		return text + "Start-up changes the ratio by " + quotient + "."
	case x.Share.Point < 0:
		return text + "Start-up makes the difference of the arms smaller: it changes the ratio by " + quotient + "."
	}
	return text + fmt.Sprintf("Start-up changes the ratio by %s: it accounts for %s %% (%s–%s) of the difference in the published shape.", quotient,
		percent(x.Share.Point), percent(x.Share.Low), percent(x.Share.High))
}

func estimated(e stat.Estimate) string { return part.TimesIn(e.Point, e.Low, e.High) }

func percent(share float64) string { return fmt.Sprint(math.Round(100 * share)) }

// startUpSaid bounds the ratios that the answer names.
const startUpSaid = 3

// sentence says of all published ratios how far start-up moves them.
func (all Shapes) sentence() string {
	var parts []string
	of := ""
	for _, x := range all[:min(len(all), startUpSaid)] {
		part := ""
		if arms := x.Spec.Arm + " ÷ " + x.Spec.Base; arms != of {
			of, part = arms, arms+" "
		}
		parts = append(parts, part+startUpWords(x)+cells.InCell(x.Alike()))
	}
	if more := len(all) - startUpSaid; more > 0 {
		parts = append(parts, fmt.Sprintf("the tables have %d more", more))
	}
	return "Start-up changes " + strings.Join(parts, ", ") + "."
}

func startUpWords(x Shape) string {
	switch {
	case x.Reason != "":
		return "by an amount that cannot be told"
	case !x.Told:
		return fmt.Sprintf("by %s, not told apart from none", estimated(x.StartUp))
	}
	return "by " + estimated(x.StartUp)
}
