package main

import (
	"fmt"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
)

// isListen reports whether a directory is one of netdyno listen. One that cannot
// be read is not: whoever reads it as a run says why.
func (d directory) isListen() bool {
	header, err := record.ReadHeader(d.records())
	return err == nil && len(header.Listen) > 0
}

// readListen reads a directory of netdyno listen and prints what is wrong in
// its file.
func (d directory) readListen() (record.Contents, error) {
	contents, err := record.Read(d.records())
	if err != nil {
		return contents, err
	}
	for _, p := range contents.Problems {
		fmt.Fprintf(stderr, "netdyno: %s: %s\n", d.records(), p)
	}
	if len(contents.Header.Listen) == 0 {
		return contents, fmt.Errorf("report: %s is not a directory of netdyno listen", d)
	}
	return contents, nil
}

// concludeListen reports what a server recorded of itself.
func concludeListen(d directory) error {
	contents, err := d.readListen()
	if err != nil {
		return err
	}
	served, err := finding.Account(contents)
	if err != nil {
		return err
	}
	if err := d.show(finding.Findings{Run: compare.Run{Header: contents.Header}, ServerReport: &served}); err != nil {
		return err
	}
	return whole(contents)
}

// whole is the exit status that a server's own file deserves.
func whole(listen record.Contents) error {
	if len(listen.Problems) > 0 {
		return &status{statusTainted, nil}
	}
	return nil
}

// concludeWith reports a run together with what its server recorded of itself.
func concludeWith(d, server directory, gate bool) error {
	listen, err := server.readListen()
	if err != nil {
		return err
	}
	r, err := d.found()
	if err != nil {
		return err
	}
	run := finding.ClientRun{Findings: &r.Findings, Trials: r.trials, Records: r.contents.Records}
	if err := finding.Join(run, listen); err != nil {
		return fmt.Errorf("report: %s and %s do not belong together: %w", d, server, err)
	}
	if err := d.present(r.Findings, gate); err != nil {
		return err
	}
	return whole(listen)
}
