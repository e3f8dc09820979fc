package main

import (
	"fmt"
	"io"

	"netdyno/internal/read/report"
)

// hlogUsage is what the log of times is, for the command that writes it.
const hlogUsage = "also write the run's service, response and lag times to `FILE`, as a HdrHistogram log (1.3)"

// logTimes writes the times of the one run among some directories to a file,
// whole or not at all; nothing when no file is asked for.
func logTimes(args []string, file string) error {
	if file == "" {
		return nil
	}
	_, runs, err := sortDirectories(args)
	if err != nil {
		return err
	}
	if len(runs) != 1 {
		return fmt.Errorf("report --hlog: %d of the directories hold a run, expected one: a log is of one run", len(runs))
	}
	r, err := runs[0].read()
	if err != nil {
		return err
	}
	for _, p := range r.contents.Problems {
		fmt.Fprintf(stderr, "netdyno: %s: left out of the log: %s\n", runs[0].records(), p)
	}
	err = render(file, func(w io.Writer) error { return report.HistogramLog(w, r.Findings, r.contents.Records) })
	if err != nil {
		return fmt.Errorf("report --hlog: %w", err)
	}
	return nil
}
