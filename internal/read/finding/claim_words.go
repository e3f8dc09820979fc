package finding

import (
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
)

// claimSentence says what became of a claim, to stand under its title, and on what
// that rests.
func claimSentence(c compare.Claim) string {
	text := strings.ToUpper(string(c.State[:1])) + string(c.State[1:]) + "."
	weakest := c.Weakest()
	if weakest == nil {
		return text + " Its arms have no figures in a common cell."
	}
	p := c.Spec.Parts[weakest.Part]
	text += fmt.Sprintf(" %s: %s %s× (%s interval %s–%s, %d blocks), claimed %s", p.Metric, weakest.What,
		quantity.FormatFigure(weakest.Ratio), compare.Confidence(c.Level), quantity.FormatFigure(weakest.Low), quantity.FormatFigure(weakest.High), weakest.Blocks, compare.Claimed(p))
	if weakest.Reason != "" {
		text += "; " + weakest.Reason
	}
	if n := len(c.Evidence) - 1; n > 0 {
		text += fmt.Sprintf("; %d more in the table", n)
	}
	return text + "."
}
