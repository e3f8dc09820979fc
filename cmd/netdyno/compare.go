package main

import (
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/spf13/cobra"

	"netdyno/internal/each"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/read/report"
	"netdyno/internal/run/session"
)

func compareCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compare FIRST SECOND [MORE…]",
		Short: "Compare two stored runs, or set runs of several rigs side by side",
		Long: `Compare two runs of one study, made one after the other, by their directories.
It prints first what differs between them: machines, programs, settings. Every arm
is then divided by the baseline of its own run, and the two runs are compared.
A difference counts if it is larger than what equal runs differ by on this
machine, which netdyno calibrate measures.

Separate runs detect only large differences. Where both builds can run in one
place, "netdyno run STUDY build=before/bin,after/bin --gate" detects far smaller
ones in the same time.

Runs of several rigs, and more than two runs, are set side by side: every figure
beside its ratio to the first run's, with an interval and without a judgement.

It writes compare.md, for a pull request, and compare.html, a page that draws
the ratios, into the last directory.`,
		Example: `  netdyno compare results/blocks-20260102-150405 results/blocks-20260109-150405
  netdyno compare results/loopback results/netns results/podman results/k8s`,
		Args: cobra.RangeArgs(2, maxCompared),

		ValidArgsFunction: completeRuns(maxCompared),
		RunE: func(_ *cobra.Command, args []string) error {
			return compareRuns(each.Of(args, func(arg string) session.Directory { return session.Directory(arg) }))
		},
	}
}

// maxCompared bounds the runs that are set side by side.
const maxCompared = 16

// compareRuns compares two runs, or sets those of several rigs side by side.
func compareRuns(dirs []session.Directory) error {
	var found []finding.Findings
	var places []report.RunPlace
	last, incomplete, rigs := dirs[len(dirs)-1], false, map[string]bool{}
	for _, d := range dirs {
		r, err := readCurrent(d)
		if err != nil {
			return err
		}
		if len(r.Header.Listen) > 0 {
			return fmt.Errorf("compare: %s is a directory of netdyno listen; name the runs that drove it", d)
		}
		found, places = append(found, r.Findings), append(places, report.RunPlace{Name: string(d), Report: besides(last, d)})
		incomplete = incomplete || r.Tally.Missing+r.Tally.Unplanned > 0 // what is compared is not what the studies asked
		rigs[r.Header.Facts.Rig] = true
	}
	code, page := statusOK, report.Runs{}
	if len(dirs) > 2 || len(rigs) > 1 {
		page = report.NewSideBySide(found, places)
	} else {
		apart, err := compareTwo(found[0], found[1])
		if err != nil {
			return err
		}
		code, page = gateStatus[apart.Result], report.NewRuns(apart, found[0], found[1], [2]report.RunPlace(places))
	}
	if err := showText(page.Text); err != nil {
		return err
	}
	if err := render(last.Compared(), page.Markdown); err != nil {
		return err
	}
	if err := render(last.ComparedPage(), page.HTML); err != nil {
		return err
	}
	fmt.Fprintln(stdout)
	stdout.say("compare %s", last.Compared())
	stdout.say("        %s", last.ComparedPage())
	if incomplete {
		code = statusTainted
	}
	if code != statusOK {
		return &status{code, nil}
	}
	return nil
}

// compareTwo judges the second run of a rig by the first.
func compareTwo(first, second finding.Findings) (history.RunsCompared, error) {
	calibration := second.Header.Facts.Calibration
	known, err := calibrationOf(second.Header.Facts)
	if known != nil {
		calibration = known // what has been learnt of the machine since
	}
	return history.CompareRuns(first.Run, second.Run, calibration), err
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
