package main

import (
	"fmt"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
)

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
		return &status{statusTainted, nil}
	}
	return nil
}

// concludeWith reports a run together with what its server recorded of itself.
func concludeWith(d, server session.Directory, how showing) error {
	listen, err := readListen(server)
	if err != nil {
		return err
	}
	r, err := readAloud(d)
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
