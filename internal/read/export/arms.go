package export

import (
	"cmp"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
)

// placed are the columns that say where a figure of an arm belongs.
var placed = []string{"run", "study", "cell"}

// armsTable has a row for each figure of an arm in a cell.
func armsTable(r Run) (content, error) {
	s, err := r.judged()
	if err != nil {
		return content{}, err
	}
	all := s.Describe()
	figures := []string{
		"arm", "baseline", "metric", "unit", "better",
		"blocks", "trials",
		"value", "low", "high", "bound", "mean", "median", "limit",
	}
	at := cellLevels(r, all, figures)
	c := content{columns: slices.Concat(placed, at.columns, figures)}
	c.each = func(yield func(row) error) error {
		for _, cell := range all {
			place := append(row{some(r.name()), r.study(), cell.Name}, at.row(cell.Levels)...)
			for _, arm := range cell.Arms {
				for _, m := range arm.Metrics {
					if err := yield(append(slices.Clone(place), figureOfArm(arm, m)...)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	return c, nil
}

func figureOfArm(arm cells.Arm, m cells.Summary) row {
	low, high := figure(m.Low), figure(m.High)
	if m.N < 2 { // one block has no interval
		low, high = nil, nil
	}
	if m.AtLeast {
		high = nil
	}
	return row{
		arm.Name, arm.Baseline, m.Metric, some(unitOf(metric.Shown(m.Metric))), some(m.Better),
		int64(m.N), int64(m.Trials), figure(m.Value), low, high, bound(m.AtLeast), cmp.Or(m.Mean, "geometric"), figure(m.Median), some(string(arm.Limit)),
	}
}

// cellLevels are the varied factors of cells as columns.
func cellLevels(r Run, all []cells.Cell, others []string) levelColumns {
	levels := make([]map[string]string, 0, len(all))
	for _, cell := range all {
		levels = append(levels, cell.Levels)
	}
	return levelsOf(r.asked(), levels, slices.Concat(placed, others))
}
