package finding

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// unfinished: exchanges that were due in the window never completed. No
// percentile holds them; which ones they would move is said.
func (e *trialAudit) unfinished() (flag, why string) {
	u, ok := e.window.Unfinished()
	if !ok || u.Exchanges == 0 {
		return "", ""
	}
	why = fmt.Sprintf("%d exchanges due in the window never completed", u.Exchanges)
	if u.Ages == nil {
		return Unfinished, why
	}
	why += "; the oldest had waited " + quantity.FormatDuration(time.Duration(u.Ages.MaxNs()))
	var moved []string
	percentiles := metric.Moved(e.window)
	for _, name := range slices.Sorted(maps.Keys(percentiles)) {
		moved = append(moved, fmt.Sprintf("%s is at least %s", name, quantity.FormatDuration(time.Duration(1000*percentiles[name]))))
	}
	if len(moved) > 0 {
		why += ": " + strings.Join(moved, ", ")
	}
	return Unfinished, why
}

// warnUnfinished sums up over the valid trials.
func (s *dataset) warnUnfinished(_ Findings) []record.Warning {
	trials, exchanges, oldest := 0, 0.0, 0.0
	for _, v := range s.views {
		if n := v.trial.Values["unfinished"]; n > 0 && v.trial.Status == Valid {
			trials++
			exchanges += n
			oldest = max(oldest, v.trial.Values["unfinished_age_max_us"])
		}
	}
	if trials == 0 {
		return nil
	}
	text := fmt.Sprintf("%.0f exchanges due in the window of %d of %d trials were never completed", exchanges, trials, len(s.views))
	if oldest > 0 {
		text += "; the oldest had waited " + quantity.FormatDuration(time.Duration(1000*oldest))
	}
	return []record.Warning{{
		About: Unfinished, Text: text + ": the percentiles do not hold them",
		Advice: "read those marked ≥ as lower bounds, and look at what the server did at the window's end",
	}}
}

func trialsOf(views []*view) []Trial {
	trials := make([]Trial, len(views))
	for i, v := range views {
		trials[i] = v.trial
	}
	return trials
}

// MovedIn counts the valid trials in which exchanges left unfinished would raise
// a metric: their figure, and any median over them, is a lower bound.
func MovedIn(trials []Trial, metric string) int {
	n := 0
	for _, t := range trials {
		if _, moved := t.Moved[metric]; moved && t.Status == Valid {
			n++
		}
	}
	return n
}
