package report

import (
	"fmt"
	"io"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// calibration is what was known of the machines before the run.
func (l *layout) calibration() Section {
	c := l.Header.Facts.Calibration
	if c == nil || len(c.Spreads) == 0 {
		return Section{}
	}
	var metrics []string
	for _, m := range metric.All() {
		metrics = append(metrics, m.Name)
	}
	return Section{
		ID: "calibration", Title: "What this machine can tell",
		Note: calibrationNote(c) + " The smallest difference that one comparison finds in nine of ten cases, by its blocks; " +
			"then how far like runs made apart scatter, as a standard deviation. Other work may scatter more or less.",
		Tables: []Table{spreadTable(c, metrics)},
	}
}

// SpreadText writes for a terminal what a calibrated machine tells of some
// metrics.
func SpreadText(w io.Writer, c *record.Calibration, metrics []string, opt TextOptions) error {
	t := newTerminal(opt)
	t.table(spreadTable(c, metrics))
	_, err := io.WriteString(w, t.out.String())
	return err
}

// spreadTable has a row for each of the metrics that was calibrated.
func spreadTable(c *record.Calibration, metrics []string) Table {
	columns := head("metric")
	var t Table
	for _, name := range metrics {
		spread, known := c.Spreads[name]
		if !known {
			continue
		}
		if len(t.Columns) == 0 {
			for _, s := range spread.Smallest {
				columns = append(columns, head(fmt.Sprintf("#%d blocks", s.Blocks))...)
			}
			t.Columns = append(columns, head("#runs apart", "#the same, to a floor")...)
		}
		row := words(name)
		for _, s := range spread.Smallest {
			row = append(row, words(percent(s.Difference))...)
		}
		t.Rows = append(t.Rows, append(row, words(percent(spread.Absolute), percent(spread.Relative))...))
	}
	return t
}

// calibrationNote tells what was measured besides.
func calibrationNote(c *record.Calibration) string {
	parts := []string{fmt.Sprintf("netdyno calibrate, %s, %d in all.", c.CreatedAt.Format("2 January 2006"), c.Times)}
	if c.GeneratorPerS > 0 {
		parts = append(parts, fmt.Sprintf("A generator alone: %s exchanges per second.", quantity.FormatCount(c.GeneratorPerS)))
	}
	if c.LinkBytesPerS > 0 {
		parts = append(parts, fmt.Sprintf("Bulk over the link: %s.", quantity.FormatByteRate(c.LinkBytesPerS)))
	}
	for _, name := range sortedKeys(c.Places) {
		q := c.Places[name]
		parts = append(parts, fmt.Sprintf("%s, idle: a spinning thread lost %s of its time, timers overshot by %s, 1 in 100 by %s.", name,
			quantity.FormatShare(q.LostShare), quantity.FormatMicroseconds(q.OvershootP50Us), quantity.FormatMicroseconds(q.OvershootP99Us)))
	}
	return strings.Join(parts, " ")
}
