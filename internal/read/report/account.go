package report

import (
	"encoding/json"
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/printable"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Account is all that is known of one trial: what the panel of the page shows, and
// what netdyno report DIR --trial ID prints. Its texts are printable.
type Account struct {
	ID       string    `json:"id"`
	Where    string    `json:"where"`  // arm, cell, block
	Status   string    `json:"status"` // "valid", "invalid", "failed", "unsupported", "missing"
	Reason   string    `json:"reason,omitempty"`
	Started  string    `json:"started,omitempty"`
	Levels   []Named   `json:"levels"`   // by factor, the varied ones first
	Settings []Named   `json:"settings"` // as the workers reported them
	Checks   []Checked `json:"checks"`
	Flags    []Named   `json:"flags"` // with why each is raised
	Limit    string    `json:"limit,omitempty"`
	Proof    string    `json:"proof,omitempty"`
	Figures  []Reading `json:"figures"`
	Series   *Series   `json:"series,omitempty"`
	Stderr   []Named   `json:"stderr"`           // by worker
	Record   string    `json:"record,omitempty"` // as JSON
}

// Named is a text with the name of what it is of.
type Named struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Checked is a consistency check and what it found: empty when nothing contradicts it.
type Checked struct {
	Name  string `json:"name"`
	Asks  string `json:"asks"`
	Found string `json:"found,omitempty"`
}

// Reading is a metric of one trial.
type Reading struct {
	Metric string `json:"metric"`
	Label  string `json:"label"`
	Text   string `json:"text"`
	Unit   string `json:"unit"`
}

// NewAccount returns the account of a trial. The error names the nearest one.
func NewAccount(f finding.Findings, id string) (Account, error) {
	var ids []string
	for _, v := range f.Trials {
		if v.Plan.ID == id {
			return accountOf(f.Plan(), v), nil
		}
		ids = append(ids, v.Plan.ID)
	}
	hint := "trials.jsonl lists them"
	if near := quantity.Nearest(id, ids); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return Account{}, fmt.Errorf("no trial %q; %s", quantity.Clip(id, 80), hint)
}

func accountOf(plan cells.Plan, v *trial.Judged) Account {
	a := Account{
		ID: printable.Text(v.Plan.ID), Where: printable.Text(whereIs(plan.Names, v.Plan)),
		Status: v.Trial.Status, Reason: printable.Text(v.Trial.Reason), Levels: levelsOf(plan.Vary, v.Plan),
		Settings: []Named{}, Checks: checkedOf(v), Flags: []Named{}, Limit: string(v.Trial.Limit), Proof: printable.Text(v.Trial.LimitProof),
		Figures: readingsOf(v.Trial), Stderr: []Named{},
	}
	if v.CostError > 0 {
		a.Figures = append(a.Figures, Reading{trial.LateCounters, "counters read late", quantity.FormatFigure(100 * v.CostError), "% of the window"})
	}
	for i, flag := range v.Trial.Flags {
		if i < len(v.Why) {
			a.Flags = append(a.Flags, named(flag, v.Why[i]))
		}
	}
	r := v.Record
	if r == nil {
		return a
	}
	if !r.StartedAt.IsZero() {
		a.Started = r.StartedAt.UTC().Format("2 January 2006, 15:04:05 UTC")
	}
	if w := r.WarmUp; w != nil {
		took := float64(r.Timeline.OpenNs-r.Timeline.StartNs) / 1e9
		a.Figures = append(a.Figures, Reading{"warmup", "warm-up", quantity.FormatFigure(took), "s, " + steadiness[w.Steady]})
	}
	settings := cells.SettingsOf(r)
	for _, name := range sortedKeys(settings) {
		a.Settings = append(a.Settings, named(name, settings[name]))
	}
	for _, w := range r.Workers {
		if bounds := boundsOf(r, w); bounds != "" {
			a.Settings = append(a.Settings, named(w.Name+" in its control group", bounds))
		}
		if w.Stderr != "" {
			a.Stderr = append(a.Stderr, Named{printable.Text(w.Name), printable.Lines(w.Stderr)})
		}
	}
	if a.Series = seriesOf(v.Trial); !v.Light {
		a.Record = recordText(r)
	}
	return a
}

// steadiness says how a warm-up ended.
var steadiness = map[record.Steady]string{
	record.SteadyAtOnce: "steady by then", record.SteadyLater: "steady by then, and not before",
	record.NeverSteady: "the most that it may take, and not steady", record.SteadyUntold: "steady or not is not known",
}

func named(name, text string) Named { return Named{printable.Text(name), printable.Text(text)} }

// whereIs names a trial's place in the study.
func whereIs(names cells.Names, t record.Trial) string {
	if t.Probe {
		return t.Arm + names.At(t.Cell) + ", a probe for profiles"
	}
	if t.Unloaded {
		return fmt.Sprintf("%s without load, block %d", t.Arm, t.Block)
	}
	if t.FlatOut {
		return t.Arm + " flat out, before the first block"
	}
	where := fmt.Sprintf("%s%s, block %d", t.Arm, names.At(t.Cell), t.Block)
	if t.Repeat {
		where += ", the baseline's repeat"
	}
	return where
}

// levelsOf lists a trial's levels, those of varied factors first.
func levelsOf(vary []record.Factor, t record.Trial) []Named {
	order := []string{}
	for _, f := range vary {
		order = append(order, f.Name)
	}
	levels := []Named{}
	for _, factor := range slices.Concat(order, sortedKeys(t.Levels)) {
		level, has := t.Levels[factor]
		if has && !slices.ContainsFunc(levels, func(n Named) bool { return n.Name == printable.Text(factor) }) {
			levels = append(levels, named(factor, level))
		}
	}
	return levels
}

// checkedOf lists the checks as far as they were made: the first that finds a
// contradiction ends them. A trial that ended otherwise had none.
func checkedOf(v *trial.Judged) []Checked {
	checked := []Checked{}
	if v.Trial.Values.IsZero() {
		return checked
	}
	for i, check := range trial.Checks() {
		switch one := (Checked{Name: check.Name, Asks: check.Asks}); {
		case i < v.Passed:
			checked = append(checked, one)
		case i == v.Passed:
			one.Found = printable.Text(v.Trial.Reason)
			return append(checked, one)
		}
	}
	return checked
}

// readingsOf lists a trial's metrics in the registry's order, each in its own unit.
func readingsOf(t trial.Trial) []Reading {
	readings := []Reading{}
	for _, m := range metric.All() {
		value, ok := t.Values.Of(m.Name)
		if !ok || !part.Finite(value) {
			continue
		}
		s := m.Scale(value)
		readings = append(readings, Reading{m.Name, m.Label, atLeastText(s.Format(value), t.AtLeast(m.Name)), s.Unit})
	}
	return readings
}

// seriesOf is the trial's rate over time; nil where it has none.
func seriesOf(t trial.Trial) *Series {
	if len(t.Series) < 2 {
		return nil
	}
	s, largest := &Series{}, 0.0
	line := seriesLine(t.Series, s, &largest)
	s.Panels = []SeriesPanel{{Lines: [][][2]float64{line}, Trials: []string{t.ID}}}
	s.scaled(largest)
	return s
}

// recordText is the record as JSON whose characters can all be shown.
func recordText(r *record.Record) string {
	raw, err := json.Marshal(r)
	if err != nil {
		return ""
	}
	return string(printable.JSON(raw))
}

// A page holds the records of the trials that it accounts for while these have at most so
// many bytes of JSON: about a third of that when packed.
const maxRecordBytes = 3_000_000

// accounts are those of all trials, without their records where these are too large;
// none of a run of more trials than a page holds.
func (l *layout) accounts() []Account {
	if len(l.Trials) == 0 || len(l.Trials) > trial.MostAccounts {
		return nil
	}
	all, size := make([]Account, 0, len(l.Trials)), 0
	for _, v := range l.Trials {
		a := accountOf(l.plan, v)
		size += len(a.Record)
		all = append(all, a)
	}
	if size > maxRecordBytes {
		for i := range all {
			all[i].Record = ""
		}
	}
	return all
}

// beyond says what of a trial the page does not hold.
func beyond(trials int, accounts []Account) string {
	switch {
	case len(accounts) == 0 && trials > 0:
		return "A page holds the settings, checks and records of at most " + quantity.Plural(trial.MostAccounts, "trial") + "; of this run's this command prints them:"
	case len(accounts) > 0 && accounts[0].Record == "":
		return "The records are too large for this page; records.jsonl has them. The account of this trial as text:"
	}
	return ""
}
