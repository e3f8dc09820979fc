package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// HistogramLog writes the times of a run as a HdrHistogram log: one line for
// each valid trial and sort of time, tagged CELL/ARM/SORT, clients merged, in
// nanoseconds. A trial that is not valid is a comment with its reason. The error
// is the writer's, or a histogram that cannot be encoded.
//
// Source: HdrHistogram, HistogramLogWriter and HistogramLogProcessor, format 1.3.
func HistogramLog(w io.Writer, f finding.Findings, records []record.Record) error {
	l := histogramLog{began: f.Header.CreatedAt, byTrial: map[string]*record.Record{}}
	for i := range records {
		l.byTrial[records[i].Trial.ID] = &records[i]
	}
	l.head(or(f.Header.Study.Name, "a study"))
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			for _, trial := range arm.Trials {
				if err := l.trial(cell.Name, arm.Name, trial); err != nil {
					return err
				}
			}
		}
	}
	_, err := w.Write(l.out.Bytes())
	return err
}

// histogramLog is a log being written.
type histogramLog struct {
	out     bytes.Buffer
	began   time.Time // the run; what lines count from
	byTrial map[string]*record.Record
}

func (l *histogramLog) head(study string) {
	seconds := secondsOf(l.began.Sub(time.Unix(0, 0)))
	l.comment("netdyno, " + study + ": times in ns, a line for each trial and sort, tagged CELL/ARM/SORT")
	l.comment("[Histogram log format version 1.3]")
	l.comment(fmt.Sprintf("[StartTime: %s (seconds since epoch), %s]", seconds, l.began.UTC().Format(time.RFC3339)))
	l.comment(fmt.Sprintf("[BaseTime: %s (seconds since epoch)]", seconds))
	l.out.WriteString(`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"` + "\n")
}

// comment writes a line that readers pass over. What stands in one comes from
// workers too.
func (l *histogramLog) comment(text string) {
	l.out.WriteString("#" + strings.Join(strings.Fields(text), " ") + "\n")
}

func (l *histogramLog) trial(cell, arm string, t trial.Trial) error {
	r := l.byTrial[t.ID]
	switch {
	case r == nil:
		return nil // not run yet
	case t.Status != trial.Valid:
		l.comment(fmt.Sprintf("left out: trial %s of %s is %s: %s", t.ID, tag(cell, arm), t.Status, t.Reason))
		return nil
	}
	if t.Repeat {
		arm += " again"
	}
	window := record.NewWindow(r)
	from, to := time.Duration(r.Timeline.OpenNs), time.Duration(r.Timeline.CloseNs)
	for _, sort := range []string{record.Service, record.Response, record.Lag} {
		times, has := window.Histogram(sort)
		if !has {
			continue
		}
		text, err := times.Encode()
		if err != nil {
			return fmt.Errorf("log %s times of trial %s: %w", sort, t.ID, err)
		}
		longest := float64(times.MaxNs()) / 1e6 // by the format in ms, where a value is in ns
		fmt.Fprintf(&l.out, "Tag=%s,%s,%s,%.3f,%s\n", tag(cell, arm, sort),
			secondsOf(r.StartedAt.Add(from).Sub(l.began)), secondsOf(to-from), longest, text)
	}
	return nil
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
			parts = append(parts, strings.Join(clean, "_"))
		}
	}
	return strings.Join(parts, "/")
}
