package trial

import "netdyno/internal/record"

// UnfitProbe returns why a probe did not do its arm's work, "" when it did. The
// counters of the two ends are not compared: a profiler delays the marks, so the
// ends count over different times.
func UnfitProbe(v *Judged) string {
	if status, reason := outcome(v); status != Valid {
		return status + ": " + reason
	}
	e := &audit{window: record.NewWindow(v.Record)}
	e.generators = e.window.Generators()
	for _, check := range []func(*audit) string{checkResults, checkErrors, checkClientBytes} {
		if reason := check(e); reason != "" {
			return StatusInvalid + ": " + reason
		}
	}
	return ""
}
