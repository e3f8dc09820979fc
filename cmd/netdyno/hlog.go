package main

import (
	"fmt"
	"io"

	"netdyno/internal/read/report"
	"netdyno/internal/run/session"
)

// hlogUsage is what the log of times is, for the command that writes it.
const hlogUsage = "also write the run's service, response and lag times to `FILE`, as a HdrHistogram log (1.3)"

// logTimes writes the times of a run to a file, whole or not at all.
func logTimes(d session.Directory, file string) error {
	if isListen(d) {
		return fmt.Errorf("report --hlog: %s is a directory of netdyno listen, which has no times; expected a run", d)
	}
	r, err := read(d)
	if err != nil {
		return err
	}
	for _, p := range r.contents.Problems {
		fmt.Fprintf(stderr, "netdyno: %s: left out of the log: %s\n", d.Records(), p)
	}
	err = render(file, func(w io.Writer) error { return report.HistogramLog(w, r.Findings, r.contents.Records) })
	if err != nil {
		return fmt.Errorf("report --hlog: %w", err)
	}
	return nil
}
