package export

import (
	"fmt"
	"io"
	"strings"
	"time"

	"netdyno/internal/printable"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// writeHistogramLog writes the times of a run as a HdrHistogram log: one line for
// each valid trial and sort of time, tagged CELL/ARM/SORT, clients merged, in
// nanoseconds. A trial that is not valid is a comment with its reason. The error
// is the writer's, or a histogram that cannot be encoded.
//
// Source: HdrHistogram, HistogramLogWriter and HistogramLogProcessor, format 1.3.
func writeHistogramLog(w io.Writer, r Run, _ Table) error {
	s, err := r.judged()
	if err != nil {
		return err
	}
	l := histogramLog{printer: printer{out: w}, began: r.Header.CreatedAt}
	l.head(r.study())
	for at, judged := range s.Places() {
		for _, v := range judged {
			if err := l.trial(at.Cell, at.Arm, v); err != nil {
				return err
			}
		}
	}
	return l.err
}

// histogramLog is a log being written.
type histogramLog struct {
	printer
	began time.Time // of the run: lines count from it
}

func (l *histogramLog) head(study string) {
	seconds := secondsOf(l.began.Sub(time.Unix(0, 0)))
	l.comment("netdyno, " + study + ": times in ns, a line for each trial and sort, tagged CELL/ARM/SORT")
	l.comment("[Histogram log format version 1.3]")
	l.comment(fmt.Sprintf("[StartTime: %s (seconds since epoch), %s]", seconds, l.began.UTC().Format(time.RFC3339)))
	l.comment(fmt.Sprintf("[BaseTime: %s (seconds since epoch)]", seconds))
	l.print("%s\n", `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`)
}

// comment writes a line that readers pass over. What stands in one comes from
// workers too.
func (l *histogramLog) comment(text string) {
	l.print("#%s\n", printable.Text(strings.Join(strings.Fields(text), " ")))
}

func (l *histogramLog) trial(cell, arm string, v *trial.Judged) error {
	switch {
	case v.Record == nil:
		return nil // not run yet
	case v.Trial.Status != trial.Valid:
		l.comment(fmt.Sprintf("left out: trial %s of %s is %s: %s", v.Plan.ID, tag(cell, arm), v.Trial.Status, v.Trial.Reason))
		return nil
	}
	if v.Plan.Repeat {
		arm += " again"
	}
	window := record.NewWindow(v.Record)
	from, to := time.Duration(v.Record.Timeline.OpenNs), time.Duration(v.Record.Timeline.CloseNs)
	for _, sort := range record.Kinds {
		of, has := window.Times(sort)
		if !has {
			continue
		}
		times := of.Least
		if of.Bounded() {
			l.comment(fmt.Sprintf("lower bound: of trial %s of %s the %s times of what never completed are those that it had reached, where they are known", v.Plan.ID, tag(cell, arm), sort))
		}
		text, err := times.Encode()
		if err != nil {
			return fmt.Errorf("log %s times of trial %s: %w", sort, v.Plan.ID, err)
		}
		longest := float64(times.MaxNs()) / 1e6 // by the format in ms, where a value is in ns
		l.print("Tag=%s,%s,%s,%.3f,%s\n", tag(cell, arm, sort),
			secondsOf(v.Record.StartedAt.Add(from).Sub(l.began)), secondsOf(to-from), longest, text)
	}
	return l.err
}

// secondsOf is a duration in seconds as the format has it.
func secondsOf(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// tag joins names by slashes. The format has no way to quote the commas, spaces
// and line breaks that separate its fields.
func tag(names ...string) string {
	var parts []string
	for _, name := range names {
		clean := strings.FieldsFunc(name, func(r rune) bool { return r <= ' ' || r == ',' || r == '/' })
		if len(clean) > 0 {
			parts = append(parts, printable.Text(strings.Join(clean, "_")))
		}
	}
	return strings.Join(parts, "/")
}
