package doctor

import (
	"fmt"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// tellable is the difference that a comparison should find at least: half of
// what most people would act on.
const tellable = 0.05

// Undetectable says which differences a plan of so many blocks and such windows cannot
// tell on machines that were calibrated, and what would. Without a calibration it says
// nothing.
func Undetectable(c *record.Calibration, primary []string, blocks int, window time.Duration) []record.Warning {
	if c == nil {
		return nil
	}
	var all []record.Warning
	for _, metric := range primary {
		spread, known := c.Spreads[metric]
		if !known {
			continue
		}
		at, enough := 0.0, 0
		for _, s := range spread.Smallest {
			if s.Blocks <= blocks {
				at = s.Difference
			}
			if s.Difference <= tellable && enough == 0 {
				enough = s.Blocks
			}
		}
		if at <= tellable {
			continue // enough, or fewer blocks than can tell anything, of which the planner warns
		}
		advice := "no usual number of blocks shows smaller differences here: fix what netdyno doctor names, or use a quieter machine"
		if enough > 0 {
			advice = fmt.Sprintf("blocks=%d shows differences of %s", enough, quantity.FormatShare(tellable))
		}
		if c.EnoughWindowS > 2*window.Seconds() && window > 0 {
			advice += fmt.Sprintf("; longer windows help too, up to about %s", quantity.FormatDuration(time.Duration(c.EnoughWindowS*float64(time.Second))))
		}
		all = append(all, record.Warning{
			About:  "blocks",
			Text:   fmt.Sprintf("by its calibration, this machine shows differences in %s of about %s or more with %d blocks", metric, quantity.FormatShare(at), blocks),
			Advice: advice,
		})
	}
	return all
}
