package trial

import "netdyno/internal/record"

// UnfitProbe returns why a probe did other work than its arm's, "" when it did it.
// The counters of both ends are not compared: a profiler holds up the marks, and
// rates between marks that were held up differ.
func UnfitProbe(v *Judged) string {
	if status, reason := outcome(v); status != Valid {
		return status + ": " + reason
	}
	e := &audit{window: record.NewWindow(v.Record)}
	e.generators = e.window.Generators()
	for _, check := range []func(*audit) string{complete, failures, clientBytes} {
		if reason := check(e); reason != "" {
			return StatusInvalid + ": " + reason
		}
	}
	return ""
}
