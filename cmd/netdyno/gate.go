package main

import (
	"fmt"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
	"netdyno/internal/run/session"
)

// gateUsage is what a gate is, for the commands that can be one.
const gateUsage = "exit as a gate on the primary comparisons, and write gate.md for a pull request"

// gateStatus is the exit status of each result.
var gateStatus = map[compare.GateResult]exit{compare.NoWorse: statusOK, compare.IsWorse: statusTainted, compare.Unproven: statusOpen}

// showing is how a run is presented.
type showing struct {
	gate   bool // with the exit status of a gate
	full   bool // everything that has a form in text
	graph  bool // with call graphs, where graphviz is
	result resultFlags
	ended  bool // its user may end it at any time: the trials that are left are not missing
}

// present shows findings and returns the exit status that they deserve.
func present(d session.Directory, f *finding.Findings, how showing) error {
	if err := show(d, f, how); err != nil {
		return err
	}
	if how.gate {
		return pass(d, *f)
	}
	if how.ended {
		f.Tally.Missing = 0
	}
	return verdict(*f)
}

// pass writes and prints a run's gate, and returns its status. A run without a
// valid trial counts as one that could not run.
func pass(d session.Directory, f finding.Findings) error {
	result, all := compare.Gate(f.Run)
	gate := report.NewGate(f, result, all)
	if err := render(d.Gate(), gate.Markdown); err != nil {
		return err
	}
	stdout.say("gate    %s", d.Gate())
	fmt.Fprintf(stdout, "%s\n", gate)
	if f.Tally.Valid == 0 {
		return verdict(f)
	}
	if code := gateStatus[result]; code != statusOK {
		return &status{code, nil}
	}
	return nil
}
