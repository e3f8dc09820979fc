package main

import (
	"fmt"
	"os"

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
			fmt.Fprintf(os.Stderr, "netdyno: %s: %s\n", d.records(), p)
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
	return l.dir.show(finding.Findings{Header: l.contents.Header, Served: &served})
}

// join reports the runs with the server's account in each.
func (l *listened) join(runs []directory) error {
	findings := make([]finding.Findings, len(runs))
	drives := make([]finding.Drive, len(runs))
	var tally finding.Tally
	for i, d := range runs {
		var err error
		if findings[i], err = d.found(); err != nil {
			return err
		}
		trials, err := record.ReadTrials(d.trials())
		if err != nil {
			return err
		}
		contents, err := record.Read(d.records())
		if err != nil {
			return err
		}
		drives[i] = finding.Drive{Findings: &findings[i], Trials: trials, Records: contents.Records}
		tally.Valid += findings[i].Tally.Valid
		tally.Failed += findings[i].Tally.Failed
		tally.Invalid += findings[i].Tally.Invalid
		tally.Unsupported += findings[i].Tally.Unsupported
		tally.Missing += findings[i].Tally.Missing
	}
	if err := finding.Join(l.contents, drives); err != nil {
		return err
	}
	for i, d := range runs {
		if err := d.show(findings[i]); err != nil {
			return err
		}
	}
	return verdict(tally)
}
