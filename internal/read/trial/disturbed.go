package trial

import "netdyno/internal/record"

// Disturbed returns what the machine did to a trial that is therefore to be made again: the
// longest time, of those that count, in which an end and its meter did not run, or a signal
// or a debugger held a process, in its window or just before it.
//
// A repetition must not choose among results. So this asks the meters' beats alone, in a
// window whose length was declared: no exchange, time, byte, rate or CPU time of the trial.
// What an arm does by itself holds up no beat: garbage collection, a pause, a slow answer,
// also one to a mark; a wait for a CPU is no standstill. Never made again is
//
//   - a trial in which anything went wrong, so that no failure is lost,
//   - one of a fixed amount of work: the slower, the longer it can be disturbed, so that
//     fast ones would be kept,
//   - a probe, whose figures are compared with nothing.
func Disturbed(r record.Record) (by record.Disturbance) {
	e := &audit{window: record.NewWindow(&r)}
	e.generators = e.window.Generators()
	if r.Outcome != record.OK || r.Failure != nil || r.Trial.Probe || e.amount() || wentWrong(e) {
		return by
	}
	for s := range standstills(e, true) {
		if ns := int64(1e9 * (s.ToS - s.FromS)); ns > by.ForNs {
			by = record.Disturbance{Why: s.Of, ForNs: ns}
		}
	}
	return by
}

// wentWrong tells whether an exchange failed, a connection was lost or not verified, or a
// worker reported an error.
func wentWrong(e *audit) bool {
	for w := range e.workers() {
		if len(w.Errors) > 0 {
			return true
		}
	}
	return failed(e) > 0 || checkVerified(e) != "" || flagReconnected.raise(e) != ""
}

// waitedForMemory returns for how many seconds of a span something on its host, or in its
// control group, waited for memory.
func waitedForMemory(s record.Span) float64 {
	grown := record.Growth(s.From.Meter.Pressure["memory"], s.To.Meter.Pressure["memory"])
	if from, to, ok := s.Groups(); ok {
		grown = max(grown, record.Growth(from.Pressure["memory"], to.Pressure["memory"]))
	}
	return grown / 1e9
}
