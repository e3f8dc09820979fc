package export

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/compare"
)

// comparisonsTable has a row for each comparison, in the order of findings.json.
func comparisonsTable(r Run) (content, error) {
	f, err := r.found()
	if err != nil {
		return content{}, err
	}
	figures := []string{
		"arm", "base", "metric", "unit", "better", "primary", "verdict", "reason",
		"blocks", "ratio", "ratio_low", "ratio_high",
		"difference_percent", "difference_percent_low", "difference_percent_high",
		"confidence", "value", "value_bound", "base_value", "base_value_bound",
		"p", "p_adjusted", "margin",
	}
	at := cellLevels(r, f.Cells, figures)
	c := content{columns: slices.Concat(placed, at.columns, figures)}
	levels := map[string]map[string]string{}
	for _, cell := range f.Cells {
		levels[cell.Name] = cell.Levels
	}
	c.each = func(yield func(row) error) error {
		for _, x := range f.Comparisons {
			place := append(row{some(r.name()), r.study(), x.Cell}, at.row(levels[x.Cell])...)
			if err := yield(append(place, compared(x)...)); err != nil {
				return err
			}
		}
		return nil
	}
	return c, nil
}

func compared(x compare.Comparison) row {
	m := metric.Shown(x.Metric)
	cells := row{x.Arm, x.Base, x.Metric, some(unitOf(m)), some(m.Better), x.Primary, string(x.Verdict), some(x.Reason), int64(x.Blocks)}
	ratios := []float64{x.Ratio, x.Low, x.High}
	for _, ratio := range ratios {
		cells = append(cells, positive(ratio))
	}
	for _, ratio := range ratios {
		cells = append(cells, percent(ratio))
	}
	var confidence any
	if x.Ratio > 0 {
		confidence = figure(1 - x.Interval)
	}
	return append(cells, confidence, positive(x.Value), bound(x.AtLeast), positive(x.BaseValue), bound(x.BaseAtLeast), positive(x.P), positive(x.Adjusted), positive(x.Bound))
}

// percent is a ratio as a difference; nil when there is none.
func percent(ratio float64) any {
	if positive(ratio) == nil {
		return nil
	}
	return figure(100 * (ratio - 1))
}
