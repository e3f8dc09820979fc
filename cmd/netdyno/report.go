package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
)

func reportCommand() *cobra.Command {
	var how showing
	var server, trial string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Rebuild a run's report: findings.json, report.html, report.md and its text",
		Long: `Read the records of a run again, rebuild its reports and print what was found:
the answer, its figures and warnings on one screen, or with --full every table.
The profiles of probes are written to profiles/ in DIR, for go tool pprof and
speedscope.

A server that netdyno listen started keeps records of its own. With --server,
the report of the run that drove it shows them too. On one host each trial is
found by its time; between hosts, trials and the times in which the server was
driven are paired in order. Where that is not exact, both stand by themselves.`,
		Example: `  netdyno report results/event-loops-20260102-150405
  netdyno report results/event-loops-20260102-150405 --full | less
  netdyno report results/event-loops-20260102-150405 --trial b03-017
  netdyno report results/command-line-20260102-150405 --server results/listen-20260102-150400`,
		Args:              oneDirectory,
		ValidArgsFunction: completeRuns(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := session.Directory(args[0])
			switch {
			case trial != "":
				return showTrial(dir, trial)
			case server != "":
				return concludeWith(dir, session.Directory(server), how)
			case isListen(dir):
				return concludeListen(dir)
			}
			return conclude(dir, how)
		},
	}
	c.Flags().BoolVar(&how.gate, "gate", false, gateUsage)
	c.Flags().BoolVar(&how.full, "full", false, "print every table and warning as text")
	c.Flags().Var(percentiles{}, "percentiles", percentilesUsage)
	c.Flags().StringVar(&trial, "trial", "", "print one trial by its `ID` instead: levels, settings, checks, limit, figures, stderr")
	c.Flags().StringVar(&server, "server", "", "directory of the netdyno listen that the run drove")
	completeFlags(c, map[string]cobra.CompletionFunc{"server": completeRun})
	return c
}

// oneDirectory refuses more than one directory, and says which command takes
// them.
func oneDirectory(c *cobra.Command, args []string) error {
	if len(args) < 2 {
		return cobra.MinimumNArgs(1)(c, args)
	}
	return fmt.Errorf("report: found %d directories, expected one; netdyno compare FIRST SECOND compares two runs, and netdyno report RUN --server LISTEN adds the records of a netdyno listen", len(args))
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

// isListen reports whether a directory is one of netdyno listen. One that cannot
// be read is not: whoever reads it as a run says why.
func isListen(d session.Directory) bool {
	header, err := record.ReadHeader(d.Records())
	return err == nil && len(header.Listen) > 0
}

// readListen reads a directory of netdyno listen and prints what is wrong in
// its file.
func readListen(d session.Directory) (record.Contents, error) {
	contents, err := record.Read(d.Records())
	if err != nil {
		return contents, err
	}
	printProblems(d, contents.Problems)
	if len(contents.Header.Listen) == 0 {
		return contents, fmt.Errorf("report: %s is not a directory of netdyno listen", d)
	}
	return contents, nil
}

// concludeListen reports what a server recorded of itself.
func concludeListen(d session.Directory) error {
	contents, err := readListen(d)
	if err != nil {
		return err
	}
	served, err := finding.Account(contents)
	if err != nil {
		return err
	}
	if err := show(d, &finding.Findings{Run: compare.Run{Header: contents.Header}, ServerReport: &served}, showing{full: true}); err != nil {
		return err
	}
	return whole(contents)
}

// whole is the exit status that a server's own file deserves.
func whole(listen record.Contents) error {
	if len(listen.Problems) > 0 {
		return &status{statusUnmet, nil}
	}
	return nil
}

// concludeWith reports a run together with what its server recorded of itself.
func concludeWith(d, server session.Directory, how showing) error {
	listen, err := readListen(server)
	if err != nil {
		return err
	}
	r, err := readWhole(d)
	if err != nil {
		return err
	}
	run := finding.ClientRun{Findings: &r.Findings, Trials: r.trials, Records: r.contents.Records}
	if err := finding.Join(run, listen); err != nil {
		return fmt.Errorf("report: %s and %s do not belong together: %w", d, server, err)
	}
	if err := present(d, &r.Findings, how); err != nil {
		return err
	}
	return whole(listen)
}
