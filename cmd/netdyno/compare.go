package main

import (
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/spf13/cobra"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/read/report"
	"netdyno/internal/run/session"
)

func compareCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compare FIRST SECOND",
		Short: "Compare two stored runs: their conditions first, then differences larger than this machine's run-to-run noise",
		Long: `Compare two runs of one study, made one after the other, by their directories.
It prints first what differs between them: machines, programs, settings. Every arm
is then divided by the baseline of its own run, and the two runs are compared.
A difference counts if it is larger than what equal runs differ by on this
machine, which netdyno calibrate measures.

Separate runs detect only large differences. Where both builds can run in one
place, "netdyno run STUDY build=before/bin,after/bin --gate" detects far smaller
ones in the same time.

It writes compare.md, for a pull request, and compare.html, a page that draws
what was judged, into the second directory.`,
		Example: `  netdyno compare results/blocks-20260102-150405 results/blocks-20260109-150405`,
		Args:    cobra.ExactArgs(2),

		ValidArgsFunction: completeRuns(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return compareRuns(session.Directory(args[0]), session.Directory(args[1]))
		},
	}
}

func compareRuns(before, after session.Directory) error {
	first, err := readCurrent(before)
	if err != nil {
		return err
	}
	second, err := readCurrent(after)
	if err != nil {
		return err
	}
	for _, d := range []struct {
		dir   session.Directory
		found reading
	}{{before, first}, {after, second}} {
		if len(d.found.Header.Listen) > 0 {
			return fmt.Errorf("compare: %s is a directory of netdyno listen; name the runs that drove it", d.dir)
		}
	}
	calibration := second.Header.Facts.Calibration
	if known, err := calibrationOf(second.Header.Facts); err != nil {
		return err
	} else if known != nil {
		calibration = known // what has been learnt of the machine since
	}
	apart := history.CompareRuns(first.Run, second.Run, calibration)
	page := report.NewRuns(apart, first.Findings, second.Findings, [2]report.RunPlace{
		{Name: string(before), Report: besides(after, before)}, {Name: string(after), Report: besides(after, after)},
	})
	if err := showText(page.Text); err != nil {
		return err
	}
	if err := render(after.Compared(), page.Markdown); err != nil {
		return err
	}
	if err := render(after.ComparedPage(), page.HTML); err != nil {
		return err
	}
	fmt.Fprintln(stdout)
	stdout.say("compare %s", after.Compared())
	stdout.say("        %s", after.ComparedPage())
	for _, t := range []cells.Tally{first.Tally, second.Tally} {
		if t.Missing+t.Unplanned > 0 { // what was compared is not what the studies asked
			return &status{statusTainted, nil}
		}
	}
	if code := gateStatus[apart.Result]; code != statusOK {
		return &status{code, nil}
	}
	return nil
}

// besides is the address of a run's report for a page in another run's directory; ""
// when none leads there.
func besides(from, run session.Directory) string {
	begin, err := filepath.Abs(string(from))
	if err != nil {
		return ""
	}
	end, err := filepath.Abs(run.HTML())
	if err != nil {
		return ""
	}
	path, err := filepath.Rel(begin, end)
	if err != nil {
		return ""
	}
	return (&url.URL{Path: "./" + filepath.ToSlash(path)}).EscapedPath()
}

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
