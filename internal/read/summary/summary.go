// Package summary sums up a run whose servers are somebody's own as load generators do:
// how much was asked and answered, how fast, how long it took and what failed, in each
// cell of each arm. A terminal and `--json` show the same summary. It is pure.
package summary

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/answer"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/sizes"
	"netdyno/internal/record"
)

// Schema is the version of the document that --json prints: one more when a field goes
// or changes its meaning. New fields do not change it.
const Schema = 2

// Summary is what a run found, in one document.
type Summary struct {
	Schema   int              `json:"schema"`
	Answer   answer.Answer    `json:"answer"`
	Totals   Totals           `json:"totals"`
	Sent     *finding.Sent    `json:"sent,omitempty"`      // to the servers in all; absent of a run that no command probed for
	Loads    []Load           `json:"loads"`               // by cell and arm, in the study's order
	Verdicts []Verdict        `json:"verdicts,omitempty"`  // of several arms, on the primary metrics
	Settling string           `json:"settling,omitempty"`  // how the run ended among its looks
	Warnings []record.Warning `json:"warnings,omitempty"`  // about the run
	Asked    []string         `json:"asked,omitempty"`     // what is sent, in words; by the command that measures alone
	Run      string           `json:"directory,omitempty"` // of the run
	Report   string           `json:"report,omitempty"`    // path of its page
}

// Totals are those of all arms and cells.
type Totals struct {
	Requests      int64   `json:"requests"` // answered in the windows, without those that failed
	Failed        int64   `json:"failed"`
	ReceivedBytes int64   `json:"received_bytes"` // of the payload, as SentBytes
	SentBytes     int64   `json:"sent_bytes"`
	WindowS       float64 `json:"window_s"` // the windows, one after the other; warm-ups are in no count
	Planned       int     `json:"trials_planned"`
	Valid         int     `json:"trials_valid"`
	Invalid       int     `json:"trials_invalid"`
	FailedTrials  int     `json:"trials_failed"`
	Missing       int     `json:"trials_missing"`
	Blocks        int     `json:"blocks"` // of which any trial is valid
}

// Load is an arm in a cell.
type Load struct {
	Arm         string            `json:"arm"`
	Cell        string            `json:"cell"` // "connections=10"; "" where nothing else varies
	Levels      map[string]string `json:"levels,omitempty"`
	Connections string            `json:"connections"`

	Requests      int64 `json:"requests"`
	Failed        int64 `json:"failed"`
	ReceivedBytes int64 `json:"received_bytes"`
	SentBytes     int64 `json:"sent_bytes"`

	Rate        *Figure           `json:"requests_per_s,omitempty"`
	Goodput     *Figure           `json:"goodput_bytes_per_s,omitempty"` // of replies, or of requests where these are the exchange
	Errors      *Figure           `json:"error_share,omitempty"`
	Events      map[string]Figure `json:"events,omitempty"`     // of replies in events, by metric
	EventKind   string            `json:"event_kind,omitempty"` // what an event is, as option events has it
	Stages      map[string]Figure `json:"stages,omitempty"`     // … of stages of exchanges, by metric; times in µs
	ServerCPU   *Figure           `json:"server_cpu_us_per_request,omitempty"`
	Times       string            `json:"times"`          // "service", or "response": from when a request was due
	Percentiles []Percentile      `json:"percentiles_us"` // those that enough values lie beyond
	MaxUs       float64           `json:"max_us"`         // of all windows
	MaxAtLeast  bool              `json:"max_at_least,omitempty"`
	Histogram   []cells.Bar       `json:"histogram,omitempty"`
	Lengths     *cells.Lengths    `json:"lengths,omitempty"` // of the replies, where they varied
	Classes     []sizes.Sort      `json:"classes,omitempty"` // of a workload; times in µs
	Paths       []sizes.Sort      `json:"paths,omitempty"`   // that are asked for in turn
	Steps       []sizes.Sort      `json:"steps,omitempty"`   // of a rate that changes
	Reasons     []contract.Reason `json:"reasons,omitempty"` // why requests failed, the most frequent first
	Limit       string            `json:"limit,omitempty"`
}

// Figure is a metric over the blocks, with its interval of 95 %.
type Figure struct {
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Blocks int     `json:"blocks"`
	Known  bool    `json:"known"`            // enough of the blocks have it
	Sure   bool    `json:"sure"`             // and the interval says something: one block gives none
	Within float64 `json:"within,omitempty"` // share of the value that the interval reaches from it, on the farther side; of a sure one
	Least  bool    `json:"at_least,omitempty"`
}

// Percentile is a figure of the times, in µs.
type Percentile struct {
	Name string `json:"name"` // "p99.9"
	Figure
}

// Verdict is a comparison on a primary metric.
type Verdict struct {
	Metric  string          `json:"metric"`
	Cell    string          `json:"cell"`
	Arm     string          `json:"arm"`
	Base    string          `json:"base"`
	Ratio   float64         `json:"ratio"`
	Low     float64         `json:"low"`
	High    float64         `json:"high"`
	Verdict compare.Verdict `json:"verdict"`
	Reason  string          `json:"reason,omitempty"`
}

// Of sums a run up; nil for one whose servers are netdyno's own, or that counted nothing.
func Of(f finding.Findings) *Summary {
	if s := New(f); len(s.Loads) > 0 {
		return s
	}
	return nil
}

// New sums a run up, however little there is.
func New(f finding.Findings) *Summary {
	s := &Summary{Schema: Schema, Answer: f.Answer, Loads: []Load{}, Warnings: f.Warnings, Run: f.Header.Directory}
	s.Totals.Planned, s.Totals.Valid, s.Totals.Invalid = f.Tally.Planned, f.Tally.Valid, f.Tally.Invalid
	s.Totals.FailedTrials, s.Totals.Missing = f.Tally.Failed, f.Tally.Missing
	s.Sent = f.Sent
	blocks, none := map[int]bool{}, nothing(f.Cells)
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			switch {
			case none == nil: // the servers are netdyno's own
				continue
			case a.Totals == nil: // none of its trials can be used, which is said of it
				a.Totals = none
			}
			s.Totals.addTotals(a.Totals)
			load := loadOf(f.Plan(), c, a)
			load.Classes, load.Paths, load.Steps = f.Sizes.Of(c.Name, a.Name)
			s.Loads = append(s.Loads, load)
			for t := range a.All() {
				blocks[t.Block] = true
			}
		}
	}
	s.Totals.Blocks = len(blocks)
	for _, c := range f.Comparisons {
		if c.Primary {
			s.Verdicts = append(s.Verdicts, Verdict{c.Metric, c.Cell, c.Arm, c.Base, c.Ratio, c.Low, c.High, c.Verdict, c.Reason})
		}
	}
	if f.Look != nil {
		s.Settling = f.Look.Sentence
	}
	return s
}

// nothing are the totals of an arm that counted nothing, in a run in which others did;
// nil where none did.
func nothing(all []cells.Cell) *cells.Totals {
	for _, c := range all {
		for _, a := range c.Arms {
			if a.Totals != nil {
				return &cells.Totals{Kind: a.Totals.Kind}
			}
		}
	}
	return nil
}

func (t *Totals) addTotals(a *cells.Totals) {
	t.Requests += a.Exchanges
	t.Failed += a.Failed
	t.ReceivedBytes += a.ReceivedBytes
	t.SentBytes += a.SentBytes
	t.WindowS += a.WindowS
}

// Words are the totals in one clause.
func (t Totals) Words() string {
	text := quantity.FormatCount(float64(t.Requests)) + " requests answered"
	if t.Requests == 1 {
		text = "1 request answered"
	}
	text += ", " + quantity.FormatBytes(float64(t.ReceivedBytes)) + " received in " + quantity.FormatFigure(t.WindowS) + " s"
	if t.Failed > 0 {
		return text + ", " + quantity.FormatCount(float64(t.Failed)) + " failed"
	}
	return text + ", none failed"
}

func loadOf(plan cells.Plan, c cells.Cell, a cells.Arm) Load {
	t := a.Totals
	l := Load{
		Arm: a.Name, Cell: c.Name, Levels: c.Levels, Connections: c.Levels["connections"],
		Requests: t.Exchanges, Failed: t.Failed, ReceivedBytes: t.ReceivedBytes, SentBytes: t.SentBytes,
		Rate: figureOf(a, metric.ExchangesPerS), Goodput: figureOf(a, metric.Goodput), Errors: figureOf(a, metric.ErrorShare),
		ServerCPU: figureOf(a, metric.OfServer+metric.CPUPerExchange),
		Times:     t.Kind, MaxUs: t.MaxUs, MaxAtLeast: t.MaxAtLeast, Histogram: t.Times, Lengths: t.Lengths, Percentiles: []Percentile{}, Limit: string(a.Limit),
	}
	if l.Connections == "" {
		l.Connections = plan.Hold["connections"]
	}
	_, _, l.Reasons = a.Failures()
	for _, p := range metric.Percentiles {
		if f := figureOf(a, metric.PercentileName(t.Kind, p.Name)); f != nil {
			l.Percentiles = append(l.Percentiles, Percentile{p.Label, *f})
		}
	}
	l.Events, l.Stages = figuresOf(a, metric.OfEvents()), figuresOf(a, metric.OfStages())
	if l.Events != nil {
		l.EventKind = a.EventKind()
	}
	return l
}

// figuresOf are those of some metrics that an arm has; nil for none.
func figuresOf(a cells.Arm, names []string) map[string]Figure {
	all := map[string]Figure{}
	for _, name := range names {
		if f := figureOf(a, name); f != nil {
			all[name] = *f
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// Stage returns a figure of stages by its metric; nil where there is none.
func (l Load) Stage(name string) *Figure {
	if f, has := l.Stages[name]; has {
		return &f
	}
	return nil
}

// TellsFirstByte tells whether the first byte of a reply comes clearly before what else is
// shown of it: its end, or its first event.
func (l Load) TellsFirstByte() bool {
	first, rest := l.Stage(metric.PercentileName(record.FirstByte, "p50")), l.Percentile("p50")
	if event := l.Event(metric.OfEvents()[0]); event != nil {
		rest = event
	}
	return first != nil && rest != nil && first.Known && rest.Known && first.Value < 0.9*rest.Value
}

// Event returns a figure of events by its metric; nil where there is none.
func (l Load) Event(name string) *Figure {
	if f, has := l.Events[name]; has {
		return &f
	}
	return nil
}

// Percentile returns one by its name; nil where too few values lie beyond it.
func (l Load) Percentile(name string) *Figure {
	for i := range l.Percentiles {
		if l.Percentiles[i].Name == name {
			return &l.Percentiles[i].Figure
		}
	}
	return nil
}

// Row names the load by what differs between those of the run.
func (s *Summary) Row(l Load) string {
	several := slices.ContainsFunc(s.Loads, func(other Load) bool { return other.Arm != l.Arm })
	where := cells.Spoken(l.Cell)
	if where == "" && l.Connections != "" {
		where = cells.Spoken("connections=" + l.Connections)
	}
	switch {
	case several && !slices.ContainsFunc(s.Loads, func(other Load) bool { return other.Cell != l.Cell }):
		return l.Arm
	case several:
		return l.Arm + cells.InCell(l.Cell)
	}
	return strings.TrimSpace(where)
}

// ByConnections tells whether the loads differ in their connections alone.
func (s *Summary) ByConnections() bool {
	for _, l := range s.Loads {
		if l.Arm != s.Loads[0].Arm || len(l.Levels) > 1 || len(l.Levels) == 1 && l.Levels["connections"] == "" || l.Connections == "" {
			return false
		}
	}
	return true
}

// figureOf is a metric of an arm; nil where no block has it.
func figureOf(a cells.Arm, name string) *Figure {
	m, has := a.Summary(name)
	if !has {
		return nil
	}
	f := &Figure{Value: m.Value, Low: m.Low, High: m.High, Blocks: m.N, Known: m.Known(), Sure: m.Sure(), Least: m.AtLeast}
	if within := compare.HalfWidth(m.Figure); f.Sure && cells.Usable(m.Value) {
		f.Within = within
	}
	return f
}

// mostLengthLines bounds the arms whose replies' lengths are told one by one.
const mostLengthLines = 2

// LengthLines says of each arm whose replies varied how long they were, a line each.
func (s *Summary) LengthLines() []string {
	var lines []string
	for _, l := range s.Varying() {
		text := upperFirst(l.Lengths.Words())
		if row := s.Row(l); row != "" && len(s.Loads) > 1 {
			text = row + ": " + l.Lengths.Words()
		}
		lines = append(lines, text)
	}
	if len(lines) > mostLengthLines {
		return []string{fmt.Sprintf("Replies of %s varied in length: see the report", quantity.Plural(len(lines), "arm"))}
	}
	return lines
}

// Varying are the loads whose replies varied in length, one of each arm: that with the
// most replies.
func (s *Summary) Varying() []Load {
	var all []Load
	place := map[string]int{}
	for _, l := range s.Loads {
		if l.Lengths == nil {
			continue
		}
		if i, known := place[l.Arm]; !known {
			place[l.Arm] = len(all)
			all = append(all, l)
		} else if l.Lengths.Replies > all[i].Lengths.Replies {
			all[i] = l
		}
	}
	return all
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
