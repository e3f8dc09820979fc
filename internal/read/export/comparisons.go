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
	figures := []column{
		{name: "arm"}, {name: "base"}, {name: "metric"}, {name: "unit"}, {name: "better"}, {name: "primary", kind: flag}, {name: "verdict"}, {name: "reason"},
		{name: "blocks", kind: whole}, {name: "ratio", kind: floating}, {name: "ratio_low", kind: floating}, {name: "ratio_high", kind: floating},
		{name: "difference_percent", kind: floating, unit: "%"}, {name: "difference_percent_low", kind: floating, unit: "%"}, {name: "difference_percent_high", kind: floating, unit: "%"},
		{name: "confidence", kind: floating}, {name: "value", kind: floating}, {name: "value_bound"}, {name: "base_value", kind: floating}, {name: "base_value_bound"},
		{name: "p", kind: floating}, {name: "p_adjusted", kind: floating}, {name: "margin", kind: floating},
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
