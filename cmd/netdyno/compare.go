package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/history"
	"netdyno/internal/read/report"
	"netdyno/internal/run/session"
)

func compareCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compare FIRST SECOND",
		Short: "Compare two stored runs: what differs before any figure, and what is more than runs made apart differ",
		Long: `Compare two runs of one study that were made one after the other, by their
directories. What differs between them comes first: machines, programs, settings.
Every arm is then set against the floor that both runs have, their baseline, and
judged against how far like runs made apart differ on that machine, which
netdyno calibrate measures; below that, nothing can be told.

Runs made apart are a weak instrument. Where both builds can run in one place,
"netdyno run STUDY build=before/bin,after/bin --gate" tells far smaller
differences in the same time.

It leaves compare.md, for a pull request, in the second directory.

Exit status: 0 nothing is worse, 1 something is, or trials of either run are
missing or their records damaged, 3 it cannot be told or the runs are not of the
same, 2 they could not be read.`,
		Example: `  netdyno compare results/blocks-20260102-150405 results/blocks-20260109-150405`,
		Args:    cobra.ExactArgs(2),
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
			return fmt.Errorf("compare: %s is the account of a netdyno listen; name the runs that drove it", d.dir)
		}
	}
	calibration := second.Header.Facts.Calibration
	if known, err := calibrationOf(second.Header.Facts); err != nil {
		return err
	} else if known != nil {
		calibration = known // what has been learnt of the machine since
	}
	apart := history.CompareRuns(first.Run, second.Run, calibration)
	page := report.NewRuns(apart, first.Findings, second.Findings, [2]string{string(before), string(after)})
	if err := showText(page.Text); err != nil {
		return err
	}
	if err := render(after.Compared(), page.Markdown); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\ncompare %s\n", after.Compared())
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
