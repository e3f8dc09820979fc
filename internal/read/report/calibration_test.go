package report

import (
	"strings"
	"testing"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
)

func TestCalibrationStandsWithTheEvidence(t *testing.T) {
	var f finding.Findings
	for _, s := range New(f).Evidence {
		if s.ID == "calibration" {
			t.Errorf("nothing calibrated, yet %+v", s)
		}
	}
	f.Header.Facts.Calibration = &record.Calibration{
		CreatedAt: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Times: 3, LinkBytesPerS: 1.25e8,
		Places: map[string]record.Quiet{"local": {LostShare: 0.004, OvershootP50Us: 70, OvershootP99Us: 1100}},
		Spreads: map[string]record.Spread{"exchanges_per_s": {
			Absolute: 0.1, Relative: 0.02, Smallest: []record.Smallest{{Blocks: 6, Difference: 0.08}, {Blocks: 10, Difference: 0.05}},
		}},
	}
	var text strings.Builder
	if err := New(f).Markdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"What differences this machine can show", "2 January 2026, 3 in all", "125 MB/s", "1 in 100 by 1.10 ms", "10 blocks", "| 8.00 % | 5.00 % | 10.0 % | 2.00 %"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	text.Reset()
	if err := SpreadText(&text, f.Header.Facts.Calibration, []string{"service_p99_us", "exchanges_per_s"}, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if said := text.String(); !strings.Contains(said, "10 blocks") || !strings.Contains(said, "8.00 %") || strings.Contains(said, "service_p99_us") {
		t.Errorf("a terminal is shown %q; want what was calibrated alone, under its heads", said)
	}
}
