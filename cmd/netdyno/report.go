package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
	"netdyno/internal/record"
)

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report DIR",
		Short: "Read a run's records anew: findings.json, report.html, report.md and this text",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return conclude(directory(args[0]))
		},
	}
}

// conclude reads a run, rebuilds its exports, prints its findings and turns
// what became of its trials into the exit status.
func conclude(d directory) error {
	findings, problems, err := d.read()
	if err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Fprintf(os.Stderr, "netdyno: %s: %s\n", d.records(), p)
	}
	exported := d.export(findings)
	if err := report.New(findings).Text(os.Stdout, textOptions(os.Stdout)); err != nil {
		return err
	}
	if exported != nil {
		return fmt.Errorf("the records are safe in %s, the reports could not be written: %w", d.records(), exported)
	}
	fmt.Printf("\nreport  %s\nrecords %s\n", d.html(), d.records())
	return verdict(findings.Tally)
}

// verdict is the exit status that a run's trials deserve.
func verdict(t finding.Tally) error {
	switch {
	case t.Valid == 0:
		return &status{statusRefused, fmt.Errorf("no trial is valid (%d failed, %d invalid, %d unsupported, %d not run)", t.Failed, t.Invalid, t.Unsupported, t.Missing)}
	case t.Failed+t.Invalid > 0:
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

func textOptions(f *os.File) report.TextOptions {
	o := report.TextOptions{Width: 100}
	if fd := int(f.Fd()); term.IsTerminal(fd) {
		_, plain := os.LookupEnv("NO_COLOR")
		o.Color = !plain
		if width, _, err := term.GetSize(fd); err == nil {
			o.Width = min(width, 140)
		}
	}
	return o
}
