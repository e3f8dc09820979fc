package report

import (
	"fmt"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// calibration is what was known of the machines before the run.
func (l *layout) calibration() part.Section {
	c := l.Header.Facts.Calibration
	if c == nil || len(c.Spreads) == 0 {
		return part.Section{}
	}
	var metrics []string
	for _, m := range metric.All() {
		metrics = append(metrics, m.Name)
	}
	return part.Section{
		ID: "calibration", Title: "What differences this machine can show",
		Notes: []string{calibrationNote(c) + " The table has the smallest difference that one comparison finds in nine of ten cases, by its blocks; " +
			"then how far equal runs differ from each other, as a standard deviation. Other work may differ more or less."},
		Tables: []part.Table{spreadTable(c, metrics)},
	}
}

// spreadTable has a row for each of the metrics that was calibrated.
func spreadTable(c *record.Calibration, metrics []string) part.Table {
	t := part.Table{Columns: part.Titles("metric")}
	for _, name := range metrics {
		spread, known := c.Spreads[name]
		if !known {
			continue
		}
		row := part.Row(name)
		for _, s := range spread.Smallest {
			row = append(row, part.Value(part.Percent(s.Difference), ""))
			if len(t.Rows) == 0 {
				t.Columns = append(t.Columns, part.Figures(fmt.Sprintf("%d blocks", s.Blocks))...)
			}
		}
		t.Rows = append(t.Rows, append(row, part.Value(part.Percent(spread.Absolute), ""), part.Value(part.Percent(spread.Relative), "")))
	}
	t.Columns = append(t.Columns, part.Figures("across runs", "across runs, as a ratio to the floor")...)
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
		parts = append(parts, fmt.Sprintf("%s, idle: a spinning thread lost %s of its time; timers were late by %s, 1 in 100 by %s.", name,
			quantity.FormatShare(q.LostShare), quantity.FormatMicroseconds(q.OvershootP50Us), quantity.FormatMicroseconds(q.OvershootP99Us)))
	}
	return strings.Join(parts, " ")
}
