package cells

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
)

func (s *Dataset) Describe() []Cell {
	var cells []Cell
	for _, name := range s.Cells {
		cell := Cell{Name: name, Levels: map[string]string{}}
		for _, arm := range s.Arms {
			views := s.Of(name, arm)
			if len(views) == 0 {
				continue
			}
			for _, f := range s.Header.Study.Vary {
				if level, ok := views[0].Plan.Levels[f.Name]; ok && f.Name != s.Header.Study.Compare.Factor {
					cell.Levels[f.Name] = level
				}
			}
			cell.Arms = append(cell.Arms, describeArm(arm, arm == s.Header.Study.Compare.Baseline, views))
		}
		cells = append(cells, cell)
	}
	return cells
}

func describeArm(name string, baseline bool, views []*trial.Judged) Arm {
	arm := Arm{Name: name, Baseline: baseline}
	for _, v := range views {
		if v.Trial.Status != trial.StatusMissing {
			arm.Trials = append(arm.Trials, v.Trial)
		}
	}
	for _, m := range metric.All() {
		if summary, ok := Summarize(m, views); ok {
			arm.Metrics = append(arm.Metrics, summary)
		}
	}
	arm.Clients = clientsOf(views)
	arm.Limit, arm.LimitProof = LimitOf(views)
	if v := firstRecorded(views); v != nil {
		arm.Settings, arm.Delivery = settings(v.Record), delivery(v.Record)
	}
	arm.Service = percentilesOf(views, func(v *trial.Judged) []int64 { return v.Service })
	arm.Response = percentilesOf(views, func(v *trial.Judged) []int64 { return v.Response })
	return arm
}

func firstRecorded(views []*trial.Judged) *trial.Judged {
	for _, v := range views {
		if v.Record != nil && len(v.Record.Workers) > 0 && v.Trial.Status == trial.Valid {
			return v
		}
	}
	return nil
}
