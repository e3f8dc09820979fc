package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
	"netdyno/internal/record"
)

func reportCommand() *cobra.Command {
	var gate bool
	var hlog, server string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Rebuild a run's report: findings.json, report.html, report.md and this text",
		Long: `Read the records of a run again, rebuild its reports and print what was found.

A server that netdyno listen started keeps records of its own. With --server,
the report of the run that drove it shows them too. On one host each trial is
found by its time; between hosts, trials and the times in which the server was
driven are paired in order. Where that is not exact, both stand by themselves.

Exit status: 0 all trials valid, 1 some failed, are invalid or missing, or have
damaged records, 2 nothing could be read.

` + gateHelp,
		Example: `  netdyno report results/event-loops-20260102-150405
  netdyno report results/command-line-20260102-150405 --server results/listen-20260102-150400`,
		Args: oneDirectory,
		RunE: func(_ *cobra.Command, args []string) error {
			dir := directory(args[0])
			if hlog != "" {
				if err := dir.logTimes(hlog); err != nil {
					return err
				}
			}
			switch {
			case server != "":
				return concludeWith(dir, directory(server), gate)
			case dir.isListen():
				return concludeListen(dir)
			}
			return conclude(dir, gate)
		},
	}
	c.Flags().StringVar(&hlog, "hlog", "", hlogUsage)
	c.Flags().BoolVar(&gate, "gate", false, gateUsage)
	c.Flags().StringVar(&server, "server", "", "directory of the netdyno listen that the run drove")
	return c
}

// oneDirectory refuses more than one directory, and says which command takes
// them.
func oneDirectory(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("report: found %d directories, expected one; netdyno compare FIRST SECOND compares two runs, and netdyno report RUN --server LISTEN adds the records of a netdyno listen", len(args))
}

// conclude reads a run, rebuilds its exports, prints its findings and turns
// what became of its trials into the exit status.
func conclude(d directory, gate bool) error {
	r, err := d.found()
	if err != nil {
		return err
	}
	return d.present(r.Findings, gate)
}

// present shows findings and returns the exit status that they deserve.
func (d directory) present(f finding.Findings, gate bool) error {
	if err := d.show(f); err != nil {
		return err
	}
	if gate {
		return d.pass(f)
	}
	return verdict(f.Tally)
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
func verdict(t cells.Tally) error {
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
