package finding_test

import (
	"math"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/history"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A machine's own scatter comes out of its calibration: of a trial, and of
// short runs whose blocks drift together.
func TestCalibrateFindsTheScatter(t *testing.T) {
	const sd, drift = 0.03, 0.2
	var all []record.Calibrated
	for seed := range uint64(20) {
		noise := findIn(t, synthetic.Options{
			Blocks: 12, SD: sd, BlockSD: drift, Connections: []int{50}, Primary: []string{serverCPU}, Rate: 20000, Bare: true, Seed: seed,
			Arms: []synthetic.Arm{{Name: "floor"}, {Name: "other", Cost: 1.5}},
		})
		all = append(all, history.Calibrate(compare.Run{}, compare.Run{}, noise.Run))
	}
	c := history.Calibration("loopback", all)
	got := c.Spreads[serverCPU]
	for name, pair := range map[string][2]float64{
		"trial":    {got.Trial, sd},
		"absolute": {got.Absolute, math.Sqrt((drift*drift + sd*sd) / 3)}, // of three blocks
		"relative": {got.Relative, sd * math.Sqrt(2.0/3)},
	} {
		if math.Abs(math.Log(pair[0]/pair[1])) > 0.15 {
			t.Errorf("%s %.4f, want about %.4f", name, pair[0], pair[1])
		}
	}
	if got.Runs != 80 || c.Times != 20 {
		t.Errorf("%d short runs in %d calibrations, want 80 in 20", got.Runs, c.Times)
	}
	last := math.Inf(1)
	for _, s := range got.Smallest {
		if s.Difference >= last || s.Difference <= 0.02 {
			t.Errorf("with %d blocks %.3f, after %.3f: more blocks tell less, never less than the margin", s.Blocks, s.Difference, last)
		}
		last = s.Difference
	}
}

// The spread between runs rests on every calibration: one made on another day
// shows what a day does.
func TestCalibrationsAddUp(t *testing.T) {
	day := func(level float64) record.Calibrated {
		return record.Calibrated{Scatter: map[string]record.Scatter{serverCPU: {
			Trial: 0.01, Absolute: []float64{level - 0.01, level, level + 0.01}, Relative: []float64{0, 0.01, -0.01},
		}}}
	}
	alone := history.Calibration("loopback", []record.Calibrated{day(1)}).Spreads[serverCPU]
	both := history.Calibration("loopback", []record.Calibrated{day(1), day(1.3)}).Spreads[serverCPU]
	if both.Absolute < 10*alone.Absolute || both.Relative > 1.1*alone.Relative || both.Runs != 6 {
		t.Errorf("one day %+v, two days that differ by 0.3 %+v", alone, both)
	}
	if history.Calibration("loopback", nil) != nil {
		t.Error("no calibration makes one")
	}
}
