package history

import (
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

const (
	// shortRun is how many blocks of a calibration make a run of its own.
	shortRun = 3
	// sliceShare is the part of a trial's variance that its own length may cause
	// before a longer window is worth more than another block.
	sliceShare = 0.25
)

// blockCounts are those for which a calibration says what they can tell.
var blockCounts = []int{6, 8, 10, 16, 30}

// Calibrate reads one calibration out of its three runs: of a generator alone,
// of bulk streams over the link, and of like figures block after block.
func Calibrate(generator, link, noise compare.Run) record.Calibrated {
	c := record.Calibrated{
		CreatedAt: noise.Header.CreatedAt, Netdyno: noise.Header.Netdyno,
		GeneratorPerS: best(generator, metric.ExchangesPerS), LinkBytesPerS: best(link, metric.Goodput),
		StealShare: mean(noise, metric.HostSteal), Scatter: map[string]record.Scatter{},
	}
	if len(noise.Cells) == 0 {
		return c
	}
	var floor, other cells.Arm
	for _, a := range noise.Cells[0].Arms {
		if a.Baseline {
			floor = a
		} else {
			other = a
		}
	}
	for _, m := range metric.All() {
		if m.Better == "" {
			continue
		}
		first, repeat := cells.Logs(floor.All(), m.Name, false), cells.Logs(floor.All(), m.Name, true)
		if alike := cells.InOrder(cells.Subtract(repeat, first)); len(alike) >= 2 {
			others := cells.Logs(other.All(), m.Name, false)
			c.Scatter[m.Name] = record.Scatter{
				Trial:    stat.SD(alike) / math.Sqrt2, // a difference of two
				Absolute: stat.Rounds(cells.InOrder(others), shortRun),
				Relative: stat.Rounds(cells.InOrder(cells.Subtract(others, first)), shortRun),
			}
		}
	}
	c.EnoughWindowS = enoughWindow(floor, c.Scatter[metric.ExchangesPerS].Trial)
	return c
}

// Calibration sums up what is known of a machine from its calibrations, the
// latest last. Like figures are as far apart as the short runs of all of them.
func Calibration(rig string, all []record.Calibrated) *record.Calibration {
	if len(all) == 0 {
		return nil
	}
	last := all[len(all)-1]
	c := &record.Calibration{
		CreatedAt: last.CreatedAt, Netdyno: last.Netdyno, Rig: rig, Times: len(all),
		GeneratorPerS: last.GeneratorPerS, LinkBytesPerS: last.LinkBytesPerS, StealShare: last.StealShare,
		EnoughWindowS: last.EnoughWindowS, Places: last.Places, Spreads: map[string]record.Spread{},
	}
	for _, m := range metric.All() {
		var absolute, relative, trials []float64
		for _, one := range all {
			if s, measured := one.Scatter[m.Name]; measured {
				absolute, relative = append(absolute, s.Absolute...), append(relative, s.Relative...)
				trials = append(trials, s.Trial*s.Trial)
			}
		}
		if len(absolute) < 2 || len(relative) < 2 {
			continue
		}
		spread := record.Spread{
			Trial: math.Sqrt(stat.Mean(trials)), Absolute: stat.SD(absolute), Relative: stat.SD(relative),
			Runs: min(len(absolute), len(relative)),
		}
		// The baseline's value in a block is of two trials.
		pair := spread.Trial * math.Sqrt(1.5)
		for _, blocks := range blockCounts {
			least := stat.SmallestDifference(blocks, pair, math.Log1p(compare.DefaultMargin))
			spread.Smallest = append(spread.Smallest, record.Smallest{Blocks: blocks, Difference: math.Expm1(least)})
		}
		c.Spreads[m.Name] = spread
	}
	return c
}

// enoughWindow returns the window in seconds from which on a trial's own slices
// make less than sliceShare of what trials differ by, 0 when they explain all of
// it at the window that was measured.
func enoughWindow(a cells.Arm, scatter float64) float64 {
	var variances []float64
	length, count := 0.0, 0
	for _, t := range a.Trials {
		var rates []float64
		for i, s := range t.Series {
			if !s.InWindow || s.ExchangesPerS <= 0 {
				continue
			}
			rates = append(rates, math.Log(s.ExchangesPerS))
			if i > 0 {
				length, count = length+s.AtS-t.Series[i-1].AtS, count+1
			}
		}
		if sd := stat.SD(rates); len(rates) >= 2 && t.Status == trial.Valid {
			variances = append(variances, sd*sd/float64(len(rates)))
		}
	}
	if len(variances) == 0 || count == 0 {
		return 0
	}
	ofSlices := stat.Mean(variances) // of a mean over the window measured
	beyond := scatter*scatter - ofSlices
	window := length / float64(len(variances))
	if beyond <= 0 {
		return 0
	}
	return window * ofSlices / (sliceShare * beyond)
}

// best is the highest figure of a metric over a run's arms, 0 for none: what the
// machine can carry is the highest figure of any of them.
func best(f compare.Run, metric string) float64 {
	most := 0.0
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			i := slices.IndexFunc(arm.Metrics, func(s cells.Summary) bool { return s.Metric == metric })
			if i >= 0 {
				most = max(most, arm.Metrics[i].Value)
			}
		}
	}
	return most
}

// mean is the mean of a metric over a run's valid trials, 0 for none. It is
// arithmetic: what is asked for is the share of all their time.
func mean(f compare.Run, metric string) float64 {
	var all []float64
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			for _, t := range arm.Trials {
				if x, ok := t.Values.Of(metric); ok && t.Status == trial.Valid {
					all = append(all, x)
				}
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	return stat.Mean(all)
}
