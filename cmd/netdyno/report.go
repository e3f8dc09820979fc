package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
	"netdyno/internal/record"
)

func reportCommand() *cobra.Command {
	var gate bool
	var hlog string
	c := &cobra.Command{
		Use:   "report DIR [DIR…]",
		Short: "Read a run's records anew: findings.json, report.html, report.md and this text",
		Long: `Read the records of a run anew, rebuild its reports and print what was found.

Exit status: 0 all trials valid, 1 some failed, are invalid or missing, or have
damaged records, 2 nothing could be read.

Of the directories of a netdyno listen and of the runs that drove it, in any
order, the server's own account joins the reports of the runs.

` + gateHelp,
		Example: `  netdyno report results/event-loops-20260102-150405
  netdyno report results/command-line-20260102-150405 listen-20260102-150400`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := logTimes(args, hlog); err != nil {
				return err
			}
			return reread(args, gate)
		},
	}
	c.Flags().StringVar(&hlog, "hlog", "", hlogUsage)
	c.Flags().BoolVar(&gate, "gate", false, gateUsage)
	return c
}

// reread reports the runs in some directories, one of which may be a server's
// account of itself.
func reread(args []string, gate bool) error {
	listened, runs, err := sortDirectories(args)
	switch {
	case err != nil:
		return err
	case listened == nil && len(runs) > 1:
		return fmt.Errorf("report: %s and %s are two runs; netdyno compare sets them side by side; or name with them the directory of the netdyno listen that they drove", runs[0], runs[1])
	case listened == nil:
		return conclude(runs[0], gate)
	case len(runs) == 0:
		return listened.conclude()
	}
	return listened.join(runs)
}

// conclude reads a run, rebuilds its exports, prints its findings and turns
// what became of its trials into the exit status.
func conclude(d directory, gate bool) error {
	r, err := d.found()
	if err != nil {
		return err
	}
	if err := d.show(r.Findings); err != nil {
		return err
	}
	if gate {
		return d.pass(r.Findings)
	}
	return verdict(r.Tally)
}

// found reads a run and says what was wrong with its file.
func (d directory) found() (reading, error) {
	r, err := d.read()
	for _, p := range r.contents.Problems {
		fmt.Fprintf(stderr, "netdyno: %s: %s\n", d.records(), p)
	}
	return r, err
}

// show rebuilds the exports of a run and prints its findings.
func (d directory) show(findings finding.Findings) error {
	exported := d.export(findings)
	if err := showText(report.New(findings).Text); err != nil {
		return err
	}
	if exported != nil {
		return fmt.Errorf("the records are safe in %s, the reports could not be written: %w", d.records(), exported)
	}
	fmt.Fprintf(stdout, "\nreport  %s\nrecords %s\n", d.html(), d.records())
	return nil
}

// verdict is the exit status that a run's trials deserve.
func verdict(t finding.Tally) error {
	switch {
	case t.Valid == 0:
		return &status{statusRefused, fmt.Errorf("no trial is valid (%d failed, %d invalid, %d unsupported, %d not run)", t.Failed, t.Invalid, t.Unsupported, t.Missing)}
	case t.Failed+t.Invalid+t.Partial+t.Missing+t.Unplanned > 0:
		return &status{statusTainted, nil}
	}
	return nil
}

// render writes what a renderer makes, whole or not at all.
func render(path string, renderer func(io.Writer) error) error {
	var b bytes.Buffer
	if err := renderer(&b); err != nil {
		return err
	}
	return record.WriteFileAtomic(path, b.Bytes())
}
