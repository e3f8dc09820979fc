package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// trialColumn is a column of the table of trials that is no level and no metric.
type trialColumn struct {
	name string
	of   func(Run, *trial.Judged) any
}

var trialColumns = []trialColumn{
	{"run", func(r Run, _ *trial.Judged) any { return some(r.name()) }},
	{"study", func(r Run, _ *trial.Judged) any { return r.study() }},
	{"trial", func(_ Run, v *trial.Judged) any { return v.Plan.ID }},
	{"block", func(_ Run, v *trial.Judged) any { return int64(v.Plan.Block) }},
	{"order", func(_ Run, v *trial.Judged) any { return int64(v.Plan.Order) }},
	{"cell", func(_ Run, v *trial.Judged) any { return v.Plan.Cell }},
	{"arm", func(_ Run, v *trial.Judged) any { return v.Plan.Arm }},
	{"baseline", func(r Run, v *trial.Judged) any { return v.Plan.Arm == r.asked().Compare.Baseline }},
	{"repeat", func(_ Run, v *trial.Judged) any { return v.Plan.Repeat }},
	{"status", func(_ Run, v *trial.Judged) any { return v.Trial.Status }},
	{"reason", func(_ Run, v *trial.Judged) any { return some(v.Trial.Reason) }},
	{"flags", func(_ Run, v *trial.Judged) any { return some(strings.Join(v.Trial.Flags, " ")) }},
	{"lower_bounds", func(_ Run, v *trial.Judged) any { return some(strings.Join(boundsOf(v), " ")) }},
	{"limit", func(_ Run, v *trial.Judged) any { return some(string(v.Trial.Limit)) }},
	{"started_at", startedAt},
	{"window_seconds", windowSeconds},
	{"exchanges", exchanges},
	{"errors", failures},
	{"error_reasons", func(_ Run, v *trial.Judged) any { return some(reasonsText(v.Trial.Reasons)) }},
}

// boundsOf names the figures of a trial that are lower bounds, in the registry's order.
func boundsOf(v *trial.Judged) []string {
	var names []string
	for _, m := range metric.All() {
		if v.Trial.AtLeast(m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// bound says of a figure that it is a lower bound; nil of one that is not.
func bound(atLeast bool) any {
	if atLeast {
		return lowerBound
	}
	return nil
}

// lowerBound is what stands beside a figure that unfinished exchanges would raise.
const lowerBound = "lower"

func startedAt(_ Run, v *trial.Judged) any {
	if v.Record == nil {
		return nil
	}
	return timeCell(v.Record.StartedAt)
}

func windowSeconds(_ Run, v *trial.Judged) any {
	if v.Record == nil || v.Record.Timeline.CloseNs <= v.Record.Timeline.OpenNs || v.Record.Timeline.OpenNs == 0 {
		return nil
	}
	return time.Duration(v.Record.Timeline.CloseNs - v.Record.Timeline.OpenNs).Seconds()
}

func exchanges(_ Run, v *trial.Judged) any {
	if v.Record == nil {
		return nil
	}
	n, ok := metric.Exchanges(record.NewWindow(v.Record))
	if !ok {
		return nil
	}
	return n
}

func failures(_ Run, v *trial.Judged) any {
	if v.Trial.Status != trial.Valid && v.Trial.Status != trial.StatusInvalid {
		return nil // nobody has counted
	}
	return v.Trial.Errors
}

// reasonsText lists why exchanges failed and how many, the most frequent first.
func reasonsText(reasons []contract.Reason) string {
	parts := make([]string, len(reasons))
	for i, r := range reasons {
		parts[i] = fmt.Sprintf("%s (%d)", r.Text, r.Count)
	}
	return strings.Join(parts, "; ")
}

// trialsTable has a row for each planned trial, and all columns in every run: those of
// metrics that none of its trials has are empty.
func trialsTable(r Run) (content, error) {
	s, err := r.judged()
	if err != nil {
		return content{}, err
	}
	var c content
	for _, f := range trialColumns {
		c.columns = append(c.columns, f.name)
	}
	metrics, levels := metric.All(), make([]map[string]string, 0, len(s.Trials))
	for _, v := range s.Trials {
		levels = append(levels, v.Plan.Levels)
	}
	figures := each.Of(metrics, func(m metric.Metric) string { return m.Name })
	at := levelsOf(r.asked(), levels, append(slices.Clone(c.columns), figures...))
	c.columns = slices.Concat(c.columns, at.columns, figures)
	c.each = func(yield func(row) error) error {
		for _, v := range s.Trials {
			cells := make(row, 0, len(c.columns))
			for _, f := range trialColumns {
				cells = append(cells, f.of(r, v))
			}
			cells = append(cells, at.row(v.Plan.Levels)...)
			for _, m := range metrics {
				cells = append(cells, valueOf(v, m.Name))
			}
			if err := yield(cells); err != nil {
				return err
			}
		}
		return nil
	}
	return c, nil
}

// valueOf is a trial's figure as a cell. An invalid trial keeps its figures, as they may
// show the cause; its status column says that they are invalid.
func valueOf(v *trial.Judged, metric string) any {
	if x, ok := v.Trial.Values.Of(metric); ok {
		return figure(x)
	}
	return nil
}
