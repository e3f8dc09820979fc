package main

import (
	"cmp"
	"errors"
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
		Use:   "compare FIRST SECOND",
		Short: "Compare two stored runs",
		Long: `Compare two runs of one study or server, made one after the other, by their
directories. Every arm is divided by the baseline of its own run, and the two runs are
compared. A difference counts if it is larger than what equal runs differ by on this
machine, which netdyno calibrate measures; without that it is assumed. Machine, kernel,
load, client and settings are conditions, and it says which differ and what that may
do; address, port, directories and names are none.

Separate runs detect only large differences. Where both builds can run in one
place, "netdyno run STUDY build=before/bin,after/bin --gate" detects far smaller
ones in the same time.

It writes compare.md, for a pull request, and compare.html, a page that draws
the ratios, into the second directory.`,
		Example: `  netdyno compare results/blocks-20260102-150405 results/blocks-20260109-150405`,
		Args:    cobra.ExactArgs(2),

		ValidArgsFunction: completeRuns(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return compareRuns(each.Of(args, func(arg string) session.Directory { return session.Directory(arg) }))
		},
	}
}

// compareRuns compares two runs.
func compareRuns(dirs []session.Directory) error {
	var found []finding.Findings
	var places []report.RunPlace
	var ended error
	last := dirs[len(dirs)-1]
	for _, d := range dirs {
		r, err := readCurrent(d)
		if err != nil {
			return err
		}
		found, places = append(found, r.Findings), append(places, report.RunPlace{Name: string(d), Report: besides(last, d)})
		ended = cmp.Or(ended, verdict(r.Findings))
	}
	apart, err := compareTwo(found[0], found[1])
	if err != nil {
		return err
	}
	page := report.NewRuns(apart, found[0], found[1], [2]report.RunPlace(places))
	if apart.Result == compare.IsWorse {
		ended = &status{statusUnmet, nil}
	}
	if err := showText(page.Text); err != nil {
		return err
	}
	switch err := errors.Join(render(last.Compared(), page.Markdown), render(last.ComparedPage(), page.HTML)); {
	case ofOthers(last, err):
		return ended
	case err != nil:
		return err
	}
	fmt.Fprintln(stdout)
	stdout.say("compare %s", last.Compared())
	stdout.say("        %s", last.ComparedPage())
	return ended
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

// showing is how a run is presented.
type showing struct {
	gate   bool // with the exit status of a gate
	full   bool // everything that has a form in text
	result resultFlags
}

// present shows findings and returns the exit status that they deserve.
func present(d session.Directory, f *finding.Findings, how showing) error {
	if err := show(d, f, how); err != nil {
		return err
	}
	if how.gate {
		return pass(d, *f)
	}
	return verdict(*f)
}

// pass writes and prints a run's gate, and returns its status.
func pass(d session.Directory, f finding.Findings) error {
	result, all := compare.Gate(f.Run)
	gate := report.NewGate(f, result, all)
	switch err := render(d.Gate(), gate.Markdown); {
	case err == nil:
		stdout.say("gate    %s", d.Gate())
	case !ofOthers(d, err):
		return err
	}
	fmt.Fprintf(stdout, "%s\n", gate)
	if result == compare.IsWorse {
		return &status{statusUnmet, nil}
	}
	return verdict(f)
}
