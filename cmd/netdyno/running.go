package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/search"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/session"
	"netdyno/internal/run/target"
)

// refines tells whether a run shows its figures as they become more precise,
// until it is precise enough or the user has seen enough.
func refines(s *session.Session, r session.Request) bool {
	return s.Study.Settle > 0 || len(r.Arms) > 0 && s.Study.Race == nil
}

// refining is the observer of such a run: a small table of what it found so far, under
// the progress line on a terminal, where what a look says is seen in it; elsewhere printed
// after the first block alone, and again by the report at the end.
func refining(p *progress, so *soFar) session.Observer {
	p.loads = true
	o := session.Observer{Trial: func(e bench.Event) {
		if p.out.terminal || e.Record == nil || e.Record.Failure != nil || e.Index == 0 { // the first tells at once that there are figures
			p.observe(e)
		}
		if found, is := so.after(e, func(block int) bool { return p.out.terminal || block == 1 }); is {
			p.show(runningTable(found, e.Trial.Block))
		}
	}}
	if !p.out.terminal {
		o.Look = p.line
	}
	return o
}

// endsAnywhere tells the same of a run that is read: its user may end it at any time, and
// the trials that are left are not missing.
func endsAnywhere(h record.Header) bool {
	return h.Study.Settle > 0 || slices.ContainsFunc(h.Command, target.IsURL)
}

// runningMetrics are the columns: what a closed loop of one's own server shows.
var runningMetrics = []string{metric.ExchangesPerS, metric.ServiceP50, metric.ServiceP99, metric.ResponseP99, metric.ErrorShare, metric.OfServer + metric.Cores}

// runningTable lays out every arm in every cell, with how precisely its rate is
// known, and for further arms the ratio to the baseline.
func runningTable(f finding.Findings, block int) []string {
	columns := runningMetrics
	if events := metric.OfEvents(); largest(f, metric.EventsPerS) >= 0 { // the end of a reply is not what is waited for
		columns = []string{metric.EventsPerS, events[0], events[2], metric.ErrorShare, metric.OfServer + metric.Cores}
	}
	lead := columns[0]
	shown := slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return largest(f, name) < 0 })
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	several := len(f.Cells) > 0 && len(f.Cells[0].Arms) > 1
	fmt.Fprintf(w, "after %s", quantity.Plural(block, "round"))
	for _, name := range shown {
		m, _ := metric.Named(name) // of the registry, held by a test
		heading := metric.CalledOf(f.Cells[0].Arms[0].EventKind(), name)
		if unit := m.Scale(largest(f, name)).Unit; unit != heading && !strings.HasSuffix(heading, " "+unit) {
			heading += " " + unit
		}
		fmt.Fprint(w, "\t", heading)
		if name == lead {
			fmt.Fprint(w, "\t±")
		}
	}
	fmt.Fprintln(w)
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			name := cells.Spoken(cell.Name)
			if several || name == "" {
				name = cells.ArmOf(cell, arm)
			}
			fmt.Fprint(w, name)
			for _, column := range shown {
				fmt.Fprint(w, "\t", runningFigure(f, arm, column, column == lead))
			}
			fmt.Fprint(w, runningRatio(f, cell, arm, lead), "\n")
		}
	}
	_ = w.Flush() // into memory
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// runningFigure is a column of an arm, and beside the one that leads the interval's share.
func runningFigure(f finding.Findings, arm cells.Arm, name string, leads bool) string {
	s, ok := summaryOf(arm, name)
	text, width := "–", ""
	if ok {
		m, _ := metric.Named(name)
		text = m.Scale(largest(f, name)).Format(s.Value)
		if s.N > 1 && s.Value > 0 {
			width = quantity.ChosenShare(compare.HalfWidth(s.Figure))
		}
	}
	if leads {
		return text + "\t" + width
	}
	return text
}

// runningRatio is an arm's rate by the baseline's, with its interval.
func runningRatio(f finding.Findings, cell cells.Cell, arm cells.Arm, rate string) string {
	for _, c := range f.Comparisons {
		if c.Cell == cell.Name && c.Arm == arm.Name && c.Metric == rate && c.Verdict != compare.Invalid && c.Low < c.High {
			return fmt.Sprintf("\t%.3g× (%.3g–%.3g) of %s", c.Ratio, c.Low, c.High, c.Base)
		}
	}
	return ""
}

// largest is a metric's largest value in any arm; −1 where none has it.
func largest(f finding.Findings, name string) float64 {
	most := -1.0
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			if s, ok := summaryOf(arm, name); ok {
				most = max(most, s.Value)
			}
		}
	}
	return most
}

func summaryOf(arm cells.Arm, name string) (cells.Summary, bool) {
	i := slices.IndexFunc(arm.Metrics, func(s cells.Summary) bool { return s.Metric == name })
	if i < 0 {
		return cells.Summary{}, false
	}
	return arm.Metrics[i], true
}

// allocate decides before a block which of its trials run, of a steered study, or at which
// rates. trials is the plan by the decisions so far.
func allocate(header record.Header, trials []record.Trial, records []record.Record, block int) (record.Allocation, string, error) {
	if record.HasFlatOut(trials) { // other blocks decide nothing
		trials = slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool { return !t.FlatOut && t.Block != block })
		records = slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool { return !r.Trial.FlatOut })
	}
	s, err := cells.Read(header, trials, records)
	if err != nil {
		return record.Allocation{}, "", err
	}
	decided, words := search.Next(s, block)
	return decided, words, nil
}
