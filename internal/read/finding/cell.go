package finding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

func (s *sorted) describeCells() []Cell {
	var cells []Cell
	for _, name := range s.cells {
		cell := Cell{Name: name, Levels: map[string]string{}}
		for _, arm := range s.arms {
			views := s.at[place{name, arm}]
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
	for _, m := range record.Metrics() {
		if summary, ok := summarize(m, views); ok {
			arm.Metrics = append(arm.Metrics, summary)
		}
	}
	arm.Limit, arm.LimitProof = limitOf(views)
	if v := firstRecorded(views); v != nil {
		arm.Settings, arm.Delivery = settings(v.record), delivery(v.record)
	}
	if w := medianTrial(views); w != nil {
		arm.Service, arm.Response = points(w, record.Service), points(w, record.Response)
	}
	return arm
}

func summarize(m record.Metric, views []*view) (Summary, bool) {
	var values []float64
	for _, v := range views {
		if x, ok := v.trial.Values[m.Name]; ok && v.trial.Status == Valid {
			values = append(values, x)
		}
	}
	return summaryOf(m, values)
}

// summaryOf sums up the values of a metric; false when there are none.
func summaryOf(m record.Metric, values []float64) (Summary, bool) {
	if len(values) == 0 {
		return Summary{}, false
	}
	s := Summary{Metric: m.Name, Unit: m.Unit, Better: m.Better, N: len(values), Median: stat.Median(values)}
	s.Low, s.High = s.Median, s.Median
	if e, ok := stat.GeometricMean(values); ok && !math.IsInf(e.High, 1) {
		s.Low, s.High = e.Low, e.High
	}
	return s, true
}

// limitOf returns the limit of most valid trials, the earlier in METHOD's
// order when two are as frequent, with the proof of the first such trial.
func limitOf(views []*view) (Limit, string) {
	count, proof := map[Limit]int{}, map[Limit]string{}
	for _, v := range views {
		if v.trial.Status != Valid {
			continue
		}
		if count[v.trial.Limit]++; count[v.trial.Limit] == 1 {
			proof[v.trial.Limit] = v.trial.LimitProof
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

// medianTrial returns the window of the valid trial whose median service time
// is the middle one, nil when none has any.
func medianTrial(views []*view) *record.Window {
	type timed struct {
		v  *view
		us float64
	}
	var all []timed
	for _, v := range views {
		if us, ok := v.trial.Values["service_p50_us"]; ok && v.trial.Status == Valid {
			all = append(all, timed{v, us})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(a.us, b.us) })
	return record.NewWindow(all[(len(all)-1)/2].v.record)
}

func points(w *record.Window, kind string) []hist.Point {
	h, ok := w.Histogram(kind)
	if !ok {
		return nil
	}
	return h.Points()
}
