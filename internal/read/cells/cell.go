package cells

import (
	"iter"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Cell is one combination of the varied levels other than the compared one.
type Cell struct {
	Name   string            `json:"name"` // "connections=50"; "" when nothing else varies
	Levels map[string]string `json:"levels"`
	Arms   []Arm             `json:"arms"` // in the study's order
}

// Arm is one treatment within a cell, over its blocks.
type Arm struct {
	Name       string            `json:"name"`
	Baseline   bool              `json:"baseline,omitempty"`
	Trials     []trial.Trial     `json:"trials"`                // by block; the baseline's repeats included
	Metrics    []Summary         `json:"metrics"`               // in registry order, those that exist
	Limit      trial.Limit       `json:"limit"`                 // of most trials
	LimitProof string            `json:"limit_proof,omitempty"` // of the first such trial, which it names
	Settings   map[string]string `json:"settings,omitempty"`    // "server.buffer": "4096", as the workers reported them
	Service    []hist.Point      `json:"service,omitempty"`     // times of all trials by percentile
	Response   []hist.Point      `json:"response,omitempty"`
	Delivery   string            `json:"delivery,omitempty"`
	Unfinished float64           `json:"unfinished,omitempty"` // share of its exchanges that were never completed, mean of the valid trials
	Clients    []Client          `json:"clients,omitempty"`    // each by itself, where there are several
	Totals     *Totals           `json:"totals,omitempty"`     // what its clients counted in all windows; of a server that is not netdyno's
}

// EventKind is how the events of its replies are told apart; "" where its clients have no
// choice.
func (a Arm) EventKind() string { return a.Settings["client.events"] }

// All returns the arm's trials.
func (a Arm) All() iter.Seq[*trial.Trial] {
	return func(yield func(*trial.Trial) bool) {
		for i := range a.Trials {
			if !yield(&a.Trials[i]) {
				return
			}
		}
	}
}

// ArmOf names an arm in its cell.
func ArmOf(cell Cell, arm Arm) string {
	if cell.Name == "" {
		return arm.Name
	}
	return arm.Name + InCell(cell.Name)
}

// InCell completes a name by its cell: " at 50 connections"; "" for the only cell.
func InCell(cell string) string {
	if cell == "" {
		return ""
	}
	return " at " + Spoken(cell)
}

// Client is one client process of an arm that has several. A sum over clients
// hides one that did most of the work, or needed most of the memory.
type Client struct {
	Name    string    `json:"name"` // "client-1", as in the records
	Metrics []Summary `json:"metrics"`
}

// Describe sums up every arm in every cell, in the study's order.
func (s *Dataset) Describe() []Cell {
	metrics := metric.All()
	return EachCell(s, func(name string) []Cell { return []Cell{s.describe(name, metrics)} })
}

func (s *Dataset) describe(name string, metrics []metric.Metric) Cell {
	cell := Cell{Name: name, Levels: map[string]string{}}
	for _, arm := range s.Arms {
		judged := s.Of(name, arm)
		if len(judged) == 0 {
			continue
		}
		for _, f := range s.Vary {
			if level, ok := judged[0].Plan.Levels[f.Name]; ok && f.Name != s.Compare.Factor {
				cell.Levels[f.Name] = level
			}
		}
		cell.Arms = append(cell.Arms, s.describeArm(name, arm, metrics))
	}
	return cell
}

func (s *Dataset) describeArm(cell, name string, metrics []metric.Metric) Arm {
	judged := s.Of(cell, name)
	arm := Arm{Name: name, Baseline: name == s.Compare.Baseline, Trials: make([]trial.Trial, 0, len(judged))}
	for _, v := range judged {
		if v.Trial.Status != trial.StatusMissing {
			arm.Trials = append(arm.Trials, v.Trial)
		}
	}
	if len(arm.Trials) == 0 {
		arm.Trials = nil
	}
	all, ran := make([]Summary, 0, len(metrics)), len(blocksRun(judged))
	for _, m := range metrics {
		p := s.Pool(cell, name, m.Name)
		if m.Name == metric.ErrorShare {
			p = PoolWithErrors(Each(judged), m.Name)
		}
		if summary, ok := SummaryOf(m, p); ok {
			summary.Of = ran
			all = append(all, summary)
		}
	}
	arm.Metrics = append(arm.Metrics, all...) // no more memory than they need: a mesh has thousands of cells
	arm.Clients = clientsOf(judged)
	if arm.Totals = totalsOf(judged); arm.Totals != nil {
		of := s.timed(cell, name, arm.Totals.Kind)
		arm.Totals.Times, arm.Totals.MaxUs, arm.Totals.MaxAtLeast = of.bars, of.maxUs, of.longer
	}
	arm.Limit, arm.LimitProof = LimitOf(judged)
	if v := firstRecorded(judged); v != nil {
		arm.Settings, arm.Delivery = SettingsOf(v.Record), delivery(v.Record)
	}
	arm.Unfinished = unfinished(judged)
	arm.Service, arm.Response = s.timed(cell, name, record.Service).points, s.timed(cell, name, record.Response).points
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

// Failures returns how many of an arm's exchanges failed, which share of all that is,
// and why; the trials that are invalid for it are among them.
func (a Arm) Failures() (failed int64, share float64, why []contract.Reason) {
	for t := range a.All() {
		failed += t.Errors
		why = append(why, t.Reasons...)
	}
	for _, s := range a.Metrics {
		if s.Metric == metric.ErrorShare {
			share = s.Value
		}
	}
	return failed, share, trial.SumReasons(why)
}
