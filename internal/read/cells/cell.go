package cells

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
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
	arm.Totals = totalsOf(judged)
	arm.Limit, arm.LimitProof = LimitOf(judged)
	if v := firstRecorded(judged); v != nil {
		arm.Settings, arm.Delivery = SettingsOf(v.Record), delivery(v.Record)
	}
	arm.Unfinished = unfinished(judged)
	arm.Service = percentilesOf(judged, func(v *trial.Judged) trial.Curve { return v.Service })
	arm.Response = percentilesOf(judged, func(v *trial.Judged) trial.Curve { return v.Response })
	return arm
}

// unfinished is the mean over valid trials of the share that was never completed.
func unfinished(judged []*trial.Judged) float64 {
	sum, trials := 0.0, 0.0
	for _, v := range judged {
		if v.Record != nil && v.Trial.Status == trial.Valid {
			share, _ := record.NewWindow(v.Record).UnfinishedShare()
			sum, trials = sum+share, trials+1
		}
	}
	return sum / max(trials, 1)
}

func firstRecorded(judged []*trial.Judged) *trial.Judged {
	for _, v := range judged {
		if v.Record != nil && len(v.Record.Workers) > 0 && v.Trial.Status == trial.Valid {
			return v
		}
	}
	return nil
}
