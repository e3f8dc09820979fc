package main

import (
	"fmt"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
	"netdyno/internal/run/session"
)

// What a gate is, for the commands that can be one.
const (
	gateUsage = "end with the status of a gate, and leave gate.md for a pull request"
	gateHelp  = `As a gate the exit status is about the primary comparisons: 0 when none of the
compared arms is worse by more than the margin, 1 when one is, 3 when that cannot
be told. 2 stays: the study could not run.`
)

// gateStatus is the exit status of each passage.
var gateStatus = map[compare.GateResult]int{compare.NoWorse: statusOK, compare.IsWorse: statusTainted, compare.Unproven: statusOpen}

// pass writes and prints what a gate makes of a run, and returns its status. A
// run without a valid trial is not in doubt: it could not be made.
func pass(d session.Directory, f finding.Findings) error {
	result, all := compare.Gate(f.Run)
	gate := report.NewGate(f, result, all)
	if err := render(d.Gate(), gate.Markdown); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "gate    %s\n%s\n", d.Gate(), gate)
	if f.Tally.Valid == 0 {
		return verdict(f.Tally)
	}
	if code := gateStatus[result]; code != statusOK {
		return &status{code, nil}
	}
	return nil
}
