package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"netdyno/internal/read/report"
	"netdyno/internal/run/session"
)

func reportCommand() *cobra.Command {
	var how showing
	var trial string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Rebuild a run's report: findings.json, report.html, report.md and its text",
		Long: `Read the records of a run again, rebuild its reports and print what was found:
the answer, its figures and warnings on one screen, or with --full every table.
The profiles of probes are written to profiles/ in DIR, for go tool pprof and
speedscope.`,
		Example: `  netdyno report results/event-loops-20260102-150405
  netdyno report results/event-loops-20260102-150405 --full | less
  netdyno report results/event-loops-20260102-150405 --trial b03-017`,
		Args:              oneDirectory,
		ValidArgsFunction: completeRuns(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := session.Directory(args[0])
			if trial != "" {
				return showTrial(dir, trial)
			}
			return conclude(dir, how)
		},
	}
	c.Flags().BoolVar(&how.gate, "gate", false, gateUsage)
	c.Flags().BoolVar(&how.full, "full", false, "print every table and warning as text")
	c.Flags().Var(percentiles{}, "percentiles", percentilesUsage)
	c.Flags().StringVar(&trial, "trial", "", "print one trial by its `ID` instead: levels, settings, checks, limit, figures, stderr")
	return c
}

// oneDirectory refuses more than one directory, and says which command takes
// them.
func oneDirectory(c *cobra.Command, args []string) error {
	if len(args) < 2 {
		return cobra.MinimumNArgs(1)(c, args)
	}
	return fmt.Errorf("report: found %d directories, expected one; netdyno compare FIRST SECOND compares two runs", len(args))
}

// conclude reads a run, rebuilds its exports, prints its findings and turns
// what became of its trials into the exit status.
func conclude(d session.Directory, how showing) error {
	r, err := readAloud(d)
	if err != nil {
		return err
	}
	findings := r.Findings // alone: what was read is not needed any more
	return present(d, &findings, how)
}

// showTrial prints the account of one trial; no report is written.
func showTrial(d session.Directory, id string) error {
	r, err := readWhole(d)
	if err != nil {
		return err
	}
	account, err := report.NewAccount(r.Findings, id)
	if err != nil {
		return fmt.Errorf("report --trial: %w", err)
	}
	return showText(func(w io.Writer, opt report.TextOptions) error { return account.Text(w, opt) })
}
