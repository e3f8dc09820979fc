package cells

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
)

// Describe sums up every arm in every cell, in the study's order.
func (s *Dataset) Describe() []Cell {
	return EachCell(s, func(name string) []Cell { return []Cell{s.describe(name)} })
}

func (s *Dataset) describe(name string) Cell {
	cell := Cell{Name: name, Levels: map[string]string{}}
	for _, arm := range s.Arms {
		judged := s.Of(name, arm)
		if len(judged) == 0 {
			continue
		}
		for _, f := range s.Header.Study.Vary {
			if level, ok := judged[0].Plan.Levels[f.Name]; ok && f.Name != s.Header.Study.Compare.Factor {
				cell.Levels[f.Name] = level
			}
		}
		cell.Arms = append(cell.Arms, describeArm(arm, arm == s.Header.Study.Compare.Baseline, judged))
	}
	return cell
}

func describeArm(name string, baseline bool, judged []*trial.Judged) Arm {
	arm := Arm{Name: name, Baseline: baseline}
	for _, v := range judged {
		if v.Trial.Status != trial.StatusMissing {
			arm.Trials = append(arm.Trials, v.Trial)
		}
	}
	for _, m := range metric.All() {
		if summary, ok := Summarize(m, judged); ok {
			arm.Metrics = append(arm.Metrics, summary)
		}
	}
	arm.Clients = clientsOf(judged)
	arm.Limit, arm.LimitProof = LimitOf(judged)
	if v := firstRecorded(judged); v != nil {
		arm.Settings, arm.Delivery = SettingsOf(v.Record), delivery(v.Record)
	}
	arm.Service = percentilesOf(judged, func(v *trial.Judged) []int64 { return v.Service })
	arm.Response = percentilesOf(judged, func(v *trial.Judged) []int64 { return v.Response })
	return arm
}

func firstRecorded(judged []*trial.Judged) *trial.Judged {
	for _, v := range judged {
		if v.Record != nil && len(v.Record.Workers) > 0 && v.Trial.Status == trial.Valid {
			return v
		}
	}
	return nil
}
