package finding

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// ServerReport is what a server that stood by itself tells of the times in which it
// was driven. It counted alone, by its own clocks, warm-up included: no verdict
// rests on it, and none of it is divided by what a client counted.
type ServerReport struct {
	Server   string          `json:"server"` // transport
	Listen   []string        `json:"listen"`
	Arms     []ServerArm     `json:"arms,omitempty"` // by cell and arm in the study's order; those with matched segments
	Segments []ServerSegment `json:"segments"`
	Unkept   int             `json:"unkept,omitempty"` // segments that were seen and not kept, being too many
}

// ServerArm sums up the segments of one arm in one cell.
type ServerArm struct {
	Cell      string    `json:"cell"`
	Arm       string    `json:"arm"`
	Segments  int       `json:"segments"`
	Exchanges int64     `json:"exchanges"` // of all these segments
	Metrics   []Summary `json:"metrics"`   // of record.SegmentMetrics, those that exist
}

// ServerSegment is one time in which the server was driven.
type ServerSegment struct {
	Number      int                `json:"number"`
	Trials      []string           `json:"trials,omitempty"` // that drove it, where the counts tell; one of each client or more
	Cell        string             `json:"cell,omitempty"`   // of these trials, with Arm; empty when they differ
	Arm         string             `json:"arm,omitempty"`
	Connections int64              `json:"connections"` // the most at once
	Exchanges   int64              `json:"exchanges"`
	Values      map[string]float64 `json:"values,omitempty"`
	CutShort    string             `json:"cut_short,omitempty"`
}

// Account reads what a server that stood by itself kept of itself. It fails
// when the records are not those of such a server.
func Account(listen record.Contents) (ServerReport, error) {
	served, _, err := account(listen)
	return served, err
}

func account(listen record.Contents) (ServerReport, []record.Record, error) {
	s := ServerReport{Listen: listen.Header.Listen}
	if len(s.Listen) == 0 {
		return s, nil, errors.New("not the account of a server that stood by itself: its header names no address")
	}
	var segments []record.Record
	for _, r := range listen.Records {
		if len(r.Workers) != 1 {
			continue
		}
		s.Server = r.Workers[0].Transport
		if r.Segment != nil {
			segments = append(segments, r)
			continue
		}
		s.Unkept = r.Segments
	}
	slices.SortStableFunc(segments, func(a, b record.Record) int { return a.Segment.Number - b.Segment.Number })
	s.Unkept = max(0, s.Unkept-len(segments))
	for i := range segments {
		s.Segments = append(s.Segments, describeSegment(&segments[i]))
	}
	return s, segments, nil
}

func describeSegment(r *record.Record) ServerSegment {
	n, _ := exchangesIn(r)
	s := ServerSegment{
		Number: r.Segment.Number, Connections: r.Segment.Connections, CutShort: r.Segment.CutShort, Exchanges: n, Values: map[string]float64{},
	}
	w := record.NewWindow(r)
	for _, m := range record.SegmentMetrics() {
		if x, ok := m.In(w); ok {
			s.Values[m.Name] = x
		}
	}
	return s
}

// exchangesIn returns what the server counted in a segment; false when it
// cannot count.
func exchangesIn(r *record.Record) (int64, bool) {
	w := &r.Workers[0]
	span, ok := record.SpanOf(w)
	if !ok || w.Ready != nil && w.Ready.Foreign {
		return 0, false
	}
	n := span.To.Reading.Counts.Exchanges - span.From.Reading.Counts.Exchanges
	return n, n >= 0
}

// Drive is one client's run against a server that stood by itself.
type Drive struct {
	Findings *Findings // of the run; Join adds to it
	Trials   []record.Trial
	Records  []record.Record
}

// Join adds a server's own account to the findings of the runs that drove it,
// at the same time if there are several. A segment belongs to a trial when they
// come in the same order and the exchanges of the one make those of the other,
// in all phases, within what was unfinished; what does not fit is said in a
// warning, never guessed. It fails when listen is no such account.
func Join(listen record.Contents, drives []Drive) error {
	served, segments, err := account(listen)
	if err != nil {
		return err
	}
	rounds := roundsOf(drives)
	j := joint{served: served, segments: segments, rounds: rounds, blocks: make([]int, len(segments))}
	j.match()
	j.describeArms(drives)
	warnings := j.warnings(drives)
	for _, d := range drives {
		f := d.Findings
		f.ServerReport = &j.served
		f.Warnings = slices.DeleteFunc(f.Warnings, func(w record.Warning) bool { return w.About == AboutServer })
		f.Warnings = append(f.Warnings, warnings...)
	}
	return nil
}

// joint is an account being joined to the rounds that drove it.
type joint struct {
	served   ServerReport
	segments []record.Record
	blocks   []int // of the segments' trials
	rounds   []round
	lost     []round // that were counted and match no segment
	mixed    int     // segments of several arms
	refused  string  // why nothing was matched
}

// round is the trials of all clients at the same place of their plans.
type round struct {
	ids        []string
	cell, arm  string // "" when the clients' differ
	block      int
	valid      bool   // every one
	known      bool   // every one left counts of all its phases
	least      int64  // exchanges that the server must have counted
	most       int64  // that it may have counted
	server     string // as the study calls it
	upB, downB int64  // sizes of an exchange's messages
}

// roundsOf lists the rounds in the order of the plan.
func roundsOf(drives []Drive) []round {
	var rounds []round
	for _, d := range drives {
		status := map[string]string{}
		for _, c := range d.Findings.Cells {
			for _, a := range c.Arms {
				for _, t := range a.Trials {
					status[t.ID] = t.Status
				}
			}
		}
		byID := map[string]*record.Record{}
		for i := range d.Records {
			byID[d.Records[i].Trial.ID] = &d.Records[i]
		}
		for k, t := range d.Trials {
			if k == len(rounds) {
				rounds = append(rounds, round{cell: t.Cell, arm: t.Arm, block: t.Block, valid: true, known: true, server: t.Levels["server"]})
			}
			rounds[k].add(t, byID[t.ID], status[t.ID] == Valid)
		}
	}
	return rounds
}

// add enters one client's trial; its record is nil when it left none.
func (r *round) add(t record.Trial, left *record.Record, valid bool) {
	r.ids = append(r.ids, t.ID)
	r.valid = r.valid && valid
	if t.Cell != r.cell || t.Arm != r.arm {
		r.cell, r.arm = "", ""
	}
	if left == nil || left.Outcome != record.OK {
		r.known = false
		return
	}
	for i := range left.Workers {
		w := &left.Workers[i]
		done, ok := doneIn(w)
		if !ok || w.Role != contract.Client {
			r.known = false
			return
		}
		r.upB, r.downB, _ = w.Sizes()
		slack := int64(0)
		for _, n := range w.Result.Counts.Errors {
			slack += n
		}
		if w.Ready != nil {
			slack += int64(w.Ready.Verified)
		}
		if foreign(w) {
			slack += int64(serverSlack * float64(done)) // its exchanges are bytes divided
		}
		r.least += done
		r.most += done + w.Result.Unfinished + slack + int64(slotsOf(w.Setup.Load))
	}
}

// doneIn returns the exchanges that a client completed before, in and after its
// window.
func doneIn(w *record.Worker) (int64, bool) {
	switch {
	case w.Result == nil || w.Setup == nil || w.Open == nil:
		return 0, false
	case w.Close != nil:
		return w.Close.Reading.Counts.Exchanges + w.Result.Drained, true
	}
	return w.Open.Reading.Counts.Exchanges + w.Result.Counts.Exchanges + w.Result.Drained, true
}

// trialsIn names the trials of rounds, each once.
func trialsIn(rounds []round) []string {
	var ids []string
	for _, r := range rounds {
		for _, id := range r.ids {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// warnings say what of the two accounts does not fit.
func (j *joint) warnings(drives []Drive) []record.Warning {
	about := func(text, advice string) record.Warning {
		return record.Warning{About: AboutServer, Text: text, Advice: advice}
	}
	if j.refused != "" {
		return []record.Warning{about(j.refused, "read the two directories apart")}
	}
	var all []record.Warning
	var unmatched []string
	for _, s := range j.served.Segments {
		if len(s.Trials) == 0 {
			unmatched = append(unmatched, fmt.Sprintf("%d (%d exchanges)", s.Number, s.Exchanges))
		}
	}
	if len(unmatched) > 0 {
		all = append(all, about(fmt.Sprintf("%d of the server's %d segments match no trial: %s", len(unmatched), len(j.served.Segments), some(unmatched)),
			"somebody else drove it, or a trial failed; they are left out"))
	}
	if lost := trialsIn(j.lost); len(lost) > 0 {
		all = append(all, about(fmt.Sprintf("%d of %d trials match no segment of the server's: %s", len(lost), len(trialsIn(j.rounds)), some(lost)),
			"give the directory of the netdyno listen that was driven, and those of all clients that drove it at the same time"))
	}
	if j.mixed > 0 {
		all = append(all, about(fmt.Sprintf("%d segments hold trials of several arms, so their account belongs to no arm", j.mixed),
			"clients that are started by hand do not keep step; run one arm at a time, or let --rig ssh start all clients together"))
	}
	if j.served.Unkept > 0 {
		all = append(all, about(fmt.Sprintf("%d more segments were seen and not kept", j.served.Unkept), "start netdyno listen anew for every study"))
	}
	if named := j.otherName(); named != "" {
		all = append(all, about(fmt.Sprintf("the run calls its server %s, what listened is %s", named, j.served.Server), "the arms are what listened"))
	}
	if len(drives) > 1 {
		all = append(all, about(fmt.Sprintf("the server's account is of %d clients together, the other figures of one", len(drives)), ""))
	}
	return all
}

// otherName is what the run calls its server, when that is not what listened.
func (j *joint) otherName() string {
	for _, r := range j.rounds {
		if r.server != "" && j.served.Server != "" && r.server != j.served.Server {
			return r.server
		}
	}
	return ""
}

// some lists the first of many.
func some(names []string) string {
	const most = 6
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
