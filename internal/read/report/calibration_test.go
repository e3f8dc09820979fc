package report

import (
	"strings"
	"testing"
	"time"

	"netdyno/internal/record"
)

func TestSpreadText(t *testing.T) {
	c := &record.Calibration{
		CreatedAt: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Times: 3, LinkBytesPerS: 1.25e8,
		Places: map[string]record.Quiet{"local": {LostShare: 0.004, OvershootP50Us: 70, OvershootP99Us: 1100}},
		Spreads: map[string]record.Spread{"exchanges_per_s": {
			Absolute: 0.1, Relative: 0.02, Smallest: []record.Smallest{{Blocks: 6, Difference: 0.08}, {Blocks: 10, Difference: 0.05}},
		}},
	}
	var text strings.Builder
	if err := SpreadText(&text, c, []string{"service_p99_us", "exchanges_per_s"}, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if said := text.String(); !strings.Contains(said, "10 blocks") || !strings.Contains(said, "8.00 %") || strings.Contains(said, "service_p99_us") {
		t.Errorf("a terminal is shown %q; want what was calibrated alone, under its heads", said)
	}
}
