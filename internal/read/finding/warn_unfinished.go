package finding

import (
	"fmt"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// warnUnfinished sums up over the valid trials.
func warnUnfinished(s *cells.Dataset, _ Findings) []record.Warning {
	trials, exchanges, oldest := 0, 0.0, 0.0
	for _, v := range s.Trials {
		if n := v.Trial.Values[metric.Unfinished]; n > 0 && v.Trial.Status == trial.Valid {
			trials++
			exchanges += n
			oldest = max(oldest, v.Trial.Values[metric.UnfinishedAge])
		}
	}
	if trials == 0 {
		return nil
	}
	text := fmt.Sprintf("%.0f exchanges due in the window of %d of %d trials were never completed", exchanges, trials, len(s.Trials))
	if oldest > 0 {
		text += "; the oldest had waited " + quantity.FormatDuration(time.Duration(1000*oldest))
	}
	return []record.Warning{{
		About: trial.Unfinished, Text: text + ": they count at the age that they had reached",
		Advice: "read figures marked ≥ as lower bounds, and look at what the server did at the end of the window",
	}}
}
