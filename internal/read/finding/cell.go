package finding

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

func (s *dataset) describeCells() []Cell {
	var cells []Cell
	for _, name := range s.cells {
		cell := Cell{Name: name, Levels: map[string]string{}}
		for _, arm := range s.arms {
			views := s.of(name, arm)
			if len(views) == 0 {
				continue
			}
			for _, f := range s.header.Study.Vary {
				if level, ok := views[0].plan.Levels[f.Name]; ok && f.Name != s.header.Study.Compare.Factor {
					cell.Levels[f.Name] = level
				}
			}
			cell.Arms = append(cell.Arms, describeArm(arm, arm == s.header.Study.Compare.Baseline, views))
		}
		cells = append(cells, cell)
	}
	return cells
}

func describeArm(name string, baseline bool, views []*view) Arm {
	arm := Arm{Name: name, Baseline: baseline}
	for _, v := range views {
		if v.trial.Status != StatusMissing {
			arm.Trials = append(arm.Trials, v.trial)
		}
	}
	for _, m := range metric.All() {
		if summary, ok := summarize(m, views); ok {
			arm.Metrics = append(arm.Metrics, summary)
		}
	}
	arm.Clients = clientsOf(views)
	arm.Limit, arm.LimitProof = limitOf(views)
	if v := firstRecorded(views); v != nil {
		arm.Settings, arm.Delivery = settings(v.record), delivery(v.record)
	}
	arm.Service = percentilesOf(views, func(v *view) []int64 { return v.service })
	arm.Response = percentilesOf(views, func(v *view) []int64 { return v.response })
	return arm
}

// summarize is a metric of an arm by its trials; false when none has it.
func summarize(m metric.Metric, views []*view) (Summary, bool) {
	return summaryOf(m, toldOf(each(views), m.Name))
}

// summaryOf sums up the figures of a metric; false when there are none.
func summaryOf(m metric.Metric, p *pool) (Summary, bool) {
	f, ok := p.figure()
	if !ok {
		return Summary{}, false
	}
	return Summary{Metric: m.Name, Unit: m.Unit, Better: m.Better, Figure: f, Median: stat.Median(p.values())}, true
}

// limitOf returns the limit of most valid trials, the earlier in METHOD's
// order when two are as frequent, with the proof of the first such trial.
func limitOf(views []*view) (Limit, string) {
	count, proof := map[Limit]int{}, map[Limit]string{}
	for _, v := range views {
		if v.trial.Status != Valid {
			continue
		}
		if count[v.trial.Limit]++; count[v.trial.Limit] == 1 && v.trial.LimitProof != "" {
			proof[v.trial.Limit] = v.plan.ID + ": " + v.trial.LimitProof // its figures are of that trial alone
		}
	}
	best := Unknown
	for _, l := range limits {
		if count[l] > count[best] {
			best = l
		}
	}
	return best, proof[best]
}

func firstRecorded(views []*view) *view {
	for _, v := range views {
		if v.record != nil && len(v.record.Workers) > 0 && v.trial.Status == Valid {
			return v
		}
	}
	return nil
}

// settings returns what the workers reported as effective, by role, and what
// the kernel says of their connections.
func settings(r *record.Record) map[string]string {
	all := tcpSettings(r)
	for _, w := range r.Workers {
		role := string(w.Role)
		if w.Transport != "" {
			all[role+".transport"] = w.Transport
		}
		if w.Ready == nil {
			continue
		}
		if how := encoding(&w); how != "" {
			all[role+".message"] = how
		}
		if w.Ready.Threads > 0 {
			all[role+".threads"] = fmt.Sprint(w.Ready.Threads)
		}
		for name, value := range w.Ready.Options {
			text, err := json.Marshal(value)
			if err != nil {
				continue
			}
			all[role+"."+name] = strings.Trim(string(text), `"`)
		}
	}
	return all
}

// delivery returns how content reached the applications: one word when both
// ends agree, by role where they do not, "" when no worker said. An end that
// content does not reach has no say.
func delivery(r *record.Record) string {
	var words, roles []string
	for _, w := range r.Workers {
		if w.Delivery == "" || !reached(w) {
			continue
		}
		if d := string(w.Delivery); !slices.Contains(words, d) {
			words = append(words, d)
		}
		if d := string(w.Role) + " " + string(w.Delivery); !slices.Contains(roles, d) {
			roles = append(roles, d)
		}
	}
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(roles, ", ")
}

// reached tells whether an exchange brings content to this worker.
func reached(w record.Worker) bool {
	up, down, ok := w.Sizes()
	switch {
	case !ok:
		return true
	case w.Role == contract.Server:
		return up > 0
	case w.Role == contract.Client:
		return down > 0
	}
	return true
}
