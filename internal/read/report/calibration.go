package report

import (
	"fmt"
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
		ID: "calibration", Title: "What differences this machine can show",
		Note: calibrationNote(c) + " The table has the smallest difference that one comparison finds in nine of ten cases, by its blocks; " +
			"then how far equal runs differ from each other, as a standard deviation. Other work may differ more or less.",
		Tables: []Table{spreadTable(c, metrics)},
	}
}

// spreadTable has a row for each of the metrics that was calibrated.
func spreadTable(c *record.Calibration, metrics []string) Table {
	t := Table{Columns: columns("metric")}
	for _, name := range metrics {
		spread, known := c.Spreads[name]
		if !known {
			continue
		}
		row := words(name)
		for _, s := range spread.Smallest {
			row = append(row, number(percent(s.Difference), ""))
			if len(t.Rows) == 0 {
				t.Columns = append(t.Columns, numbers(fmt.Sprintf("%d blocks", s.Blocks))...)
			}
		}
		t.Rows = append(t.Rows, append(row, number(percent(spread.Absolute), ""), number(percent(spread.Relative), "")))
	}
	t.Columns = append(t.Columns, numbers("across runs", "across runs, as a ratio to the floor")...)
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
