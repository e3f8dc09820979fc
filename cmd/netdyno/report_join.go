package main

import (
	"fmt"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
)

// listened is the directory of a server that stood by itself, and what it kept.
type listened struct {
	dir      directory
	contents record.Contents
}

// sortDirectories tells the one directory of a server's account, nil without
// one, from those of runs.
func sortDirectories(args []string) (*listened, []directory, error) {
	var found *listened
	var runs []directory
	for _, arg := range args {
		d := directory(arg)
		header, err := record.ReadHeader(d.records())
		switch {
		case err != nil || len(header.Listen) == 0: // an error is told where the run is read
			runs = append(runs, d)
			continue
		case found != nil:
			return nil, nil, fmt.Errorf("report: %s and %s are both of netdyno listen; a report joins one server's account", found.dir, d)
		}
		contents, err := record.Read(d.records())
		if err != nil {
			return nil, nil, err
		}
		for _, p := range contents.Problems {
			fmt.Fprintf(stderr, "netdyno: %s: %s\n", d.records(), p)
		}
		found = &listened{d, contents}
	}
	return found, runs, nil
}

// conclude shows the account alone.
func (l *listened) conclude() error {
	served, err := finding.Account(l.contents)
	if err != nil {
		return err
	}
	if err := l.dir.show(finding.Findings{Header: l.contents.Header, ServerReport: &served}); err != nil {
		return err
	}
	return l.whole()
}

// whole is the exit status that the account's own file deserves.
func (l *listened) whole() error {
	if len(l.contents.Problems) > 0 {
		return &status{statusTainted, nil}
	}
	return nil
}

// join reports the runs with the server's account in each.
func (l *listened) join(runs []directory) error {
	drives := make([]finding.Drive, len(runs))
	var tally finding.Tally
	for i, d := range runs {
		r, err := d.found()
		if err != nil {
			return err
		}
		drives[i] = finding.Drive{Findings: &r.Findings, Trials: r.trials, Records: r.contents.Records}
		tally.Valid += r.Tally.Valid
		tally.Partial += r.Tally.Partial
		tally.Failed += r.Tally.Failed
		tally.Invalid += r.Tally.Invalid
		tally.Unsupported += r.Tally.Unsupported
		tally.Missing += r.Tally.Missing
		tally.Unplanned += r.Tally.Unplanned
	}
	if err := finding.Join(l.contents, drives); err != nil {
		return err
	}
	for i, d := range runs {
		if err := d.show(*drives[i].Findings); err != nil {
			return err
		}
	}
	if err := verdict(tally); err != nil {
		return err
	}
	return l.whole()
}
