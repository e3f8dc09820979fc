package finding

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// ClientRun is a run whose clients drove a server that stood by itself.
type ClientRun struct {
	Findings *Findings // Join adds to them
	Trials   []record.Trial
	Records  []record.Record
}

// Join adds to a run's findings the records of the server that the run drove. Where both
// ends ran on one host, a trial gets the segment in which its window lies. Elsewhere
// trials and segments are paired in order, if there are as many of both. Otherwise the
// two are shown beside each other, and a warning says why. Join fails when listen holds
// no segments of a server, and when the counts of the two ends disagree, since the run
// then drove another server or was not alone.
func Join(run ClientRun, listen record.Contents) error {
	served, segments, err := account(listen)
	if err != nil {
		return err
	}
	j := joint{served: served, segments: segments, held: make([][]drive, len(segments)), drives: drivesOf(run)}
	if err := j.match(); err != nil {
		return err
	}
	j.describeArms(run.Findings.Cells)
	f := run.Findings
	f.ServerReport = &j.served
	f.Warnings = slices.DeleteFunc(f.Warnings, func(w record.Warning) bool { return w.About == AboutServer })
	f.Warnings = append(f.Warnings, j.warnings()...)
	return nil
}

// joint is a server's segments being joined to the trials that drove them.
type joint struct {
	served   ServerReport
	segments []record.Record
	drives   []drive
	held     [][]drive // by segment: the trials in it
	lost     []string  // trials in no segment
	apart    string    // why trials and segments cannot be told to belong together
}

// drive is one completed trial, as its clients counted it.
type drive struct {
	trial      record.Trial
	valid      bool
	spans      []record.Span // of the clients
	counted    bool          // every client counted all its phases
	least      int64         // exchanges that the server must have counted
	most       int64         // that it may have counted
	upB, downB int64         // sizes of an exchange's messages
}

// drivesOf lists the trials that ran to their end, in the order of the plan.
func drivesOf(run ClientRun) []drive {
	status := map[string]string{}
	for _, c := range run.Findings.Cells {
		for _, a := range c.Arms {
			for _, t := range a.Trials {
				status[t.ID] = t.Status
			}
		}
	}
	byID := map[string]*record.Record{}
	for i := range run.Records {
		byID[run.Records[i].Trial.ID] = &run.Records[i]
	}
	var drives []drive
	for _, t := range run.Trials {
		if r := byID[t.ID]; r != nil && r.Outcome == record.OK {
			drives = append(drives, driveOf(r, status[t.ID] == trial.Valid))
		}
	}
	return drives
}

func driveOf(r *record.Record, valid bool) drive {
	d := drive{trial: r.Trial, valid: valid, counted: true}
	for i := range r.Workers {
		w := &r.Workers[i]
		if s, ok := record.SpanOf(w); ok {
			d.spans = append(d.spans, s)
		}
		done, ok := doneIn(w)
		if !ok || w.Role != contract.Client {
			d.counted = false
			continue
		}
		d.upB, d.downB, _ = w.Sizes()
		slack := int64(0)
		for _, n := range w.Result.Counts.Errors {
			slack += n
		}
		if w.Ready != nil {
			slack += int64(w.Ready.Verified)
		}
		if trial.Foreign(w) {
			slack += int64(trial.ServerSlack * float64(done)) // its exchanges are bytes divided
		}
		d.least += done
		d.most += done + w.Result.Unfinished + slack + int64(w.Setup.Load.Slots())
	}
	if len(r.Away()) > 1 {
		d.least = 0 // each of several servers had its part
	}
	return d
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

// match gives every segment its trials, and checks what both ends counted.
func (j *joint) match() error {
	counted := !slices.ContainsFunc(j.drives, func(d drive) bool { return !d.counted }) &&
		!slices.ContainsFunc(j.segments, func(r record.Record) bool { _, ok := exchangesIn(&r); return !ok })
	switch {
	case len(j.drives) == 0:
		j.apart = "no trial of the run came to its end"
	case j.oneClock():
		if j.matchByClock(); len(j.lost) == len(j.drives) {
			return fmt.Errorf("no trial of the run falls into a time in which %s was driven: it is not the server of this run", j.served.named())
		}
	case !counted:
		j.apart = "server and clients share no clock, and one of them did not count its exchanges"
	case len(j.drives) != len(j.segments) || j.served.Unkept > 0:
		j.apart = fmt.Sprintf("server and clients share no clock, and %d trials ran to their end while the server was driven %d times",
			len(j.drives), len(j.segments)+j.served.Unkept)
	default:
		for s := range j.segments {
			j.held[s] = j.drives[s : s+1 : s+1]
		}
	}
	for s, drives := range j.held {
		if len(drives) == 0 {
			continue
		}
		if err := j.check(s); err != nil {
			return err
		}
		j.describe(s)
	}
	return nil
}

// oneClock reports whether every worker of both ends was metered on one host.
// Seats of a client's rig and of a server have nothing in common but this.
func (j *joint) oneClock() bool {
	boot := ""
	same := func(s record.Span, ok bool) bool {
		if !ok || s.From.Meter == nil || s.To.Meter == nil || s.From.Meter.BootID == "" {
			return false
		}
		if boot == "" {
			boot = s.From.Meter.BootID
		}
		return s.From.Meter.BootID == boot
	}
	for i := range j.segments {
		if !same(record.SpanOf(&j.segments[i].Workers[0])) {
			return false
		}
	}
	for _, d := range j.drives {
		for _, s := range d.spans {
			if !same(s, true) {
				return false
			}
		}
		if len(d.spans) == 0 {
			return false
		}
	}
	return boot != ""
}

// matchByClock gives every trial the segment in which its window lies. Several
// trials lie in one segment where the server saw no pause between them.
func (j *joint) matchByClock() {
	for _, d := range j.drives {
		at := slices.IndexFunc(j.segments, func(r record.Record) bool {
			segment, _ := record.SpanOf(&r.Workers[0]) // oneClock has seen it
			return !slices.ContainsFunc(d.spans, func(s record.Span) bool {
				return s.From.Meter.AtNs < segment.From.Meter.AtNs || s.To.Meter.AtNs > segment.To.Meter.AtNs
			})
		})
		if at < 0 {
			j.lost = append(j.lost, d.trial.ID)
			continue
		}
		j.held[at] = append(j.held[at], d)
	}
}

// check demands that the server counted in a segment what the clients' trials
// did, in all phases, within what was unfinished.
func (j *joint) check(s int) error {
	least, most := int64(0), int64(0)
	for _, d := range j.held[s] {
		if !d.counted {
			return nil
		}
		least, most = least+d.least, most+d.most
	}
	recounted := recounted(j.segments[s], j.held[s][0])
	counted, ok := exchangesIn(&recounted)
	if !ok || least <= counted && counted <= most {
		return nil
	}
	return fmt.Errorf("segment %d of %s counted %d exchanges, and %s made %d to %d: the run drove another server, or something else drove this one at the same time; report each directory alone",
		j.segments[s].Segment.Number, j.served.named(), counted, strings.Join(trialsIn(j.held[s]), " and "), least, most)
}

func (s ServerReport) named() string {
	return strings.TrimSpace(s.Server + " on " + strings.Join(s.Listen, " "))
}

// describe enters the trials that drove a segment.
func (j *joint) describe(s int) {
	first := j.held[s][0]
	j.segments[s] = recounted(j.segments[s], first)
	d := describeSegment(&j.segments[s])
	d.Trials, d.Cell, d.Arm = trialsIn(j.held[s]), first.trial.Cell, first.trial.Arm
	if slices.ContainsFunc(j.held[s], func(o drive) bool { return o.trial.Cell != d.Cell || o.trial.Arm != d.Arm }) {
		d.Cell, d.Arm = "", ""
	}
	j.served.Segments[s] = d
}

func trialsIn(drives []drive) []string {
	var ids []string
	for _, d := range drives {
		ids = append(ids, d.trial.ID)
	}
	return ids
}

// recounted returns a segment as its server would have counted with the sizes that the
// trial declares. A server that sees no boundaries counts bytes ÷ size: told 100 B while
// the client sends 200 B, it counts 10,000 bytes as 100 exchanges where there were 50.
// The bytes are right, and recounted divides them by the client's size.
func recounted(r record.Record, of drive) record.Record {
	w := r.Workers[0]
	up, down, ok := w.Sizes()
	if !ok || up == of.upB && down == of.downB || w.Open == nil || w.Close == nil {
		return r
	}
	again := func(e record.Edge) record.Edge {
		c := &e.Reading.Counts
		switch {
		case of.upB > 0:
			c.Exchanges = c.ReceivedBytes / of.upB
		case of.downB > 0:
			c.Exchanges = c.SentBytes / of.downB
		}
		return e
	}
	from, to, segment := again(*w.Open), again(*w.Close), *r.Segment
	w.Open, w.Close = &from, &to
	segment.First, segment.Last = again(segment.First), again(segment.Last)
	r.Workers, r.Segment = []record.Worker{w}, &segment
	return r
}

// describeArms sums up the segments by cell and arm, in the order of the run.
// Segments with a trial that is not valid are left out.
func (j *joint) describeArms(cells []cells.Cell) {
	for _, cell := range cells {
		for _, arm := range cell.Arms {
			if a, ok := j.describeArm(cell.Name, arm.Name); ok {
				j.served.Arms = append(j.served.Arms, a)
			}
		}
	}
}

func (j *joint) describeArm(cell, arm string) (ServerArm, bool) {
	a := ServerArm{Cell: cell, Arm: arm}
	values := map[string]*cells.Pool{}
	for i, s := range j.served.Segments {
		if len(j.held[i]) == 0 || s.Cell != cell || s.Arm != arm || slices.ContainsFunc(j.held[i], func(d drive) bool { return !d.valid }) {
			continue
		}
		a.Segments++
		a.Exchanges += s.Exchanges
		for name, x := range s.Values {
			if values[name] == nil {
				values[name] = &cells.Pool{}
			}
			values[name].Add(j.held[i][0].trial.Block, x)
		}
	}
	for _, m := range metric.OfSegments() {
		if p := values[m.Name]; p != nil {
			if summary, ok := cells.SummaryOf(m, p); ok {
				a.Metrics = append(a.Metrics, summary)
			}
		}
	}
	return a, a.Segments > 0
}

// warnings say which parts of the two runs have no counterpart.
func (j *joint) warnings() []record.Warning {
	var all []record.Warning
	warn := func(text, advice string) {
		all = append(all, record.Warning{About: AboutServer, Text: text, Advice: advice})
	}
	if j.apart != "" {
		warn("the server's segments are shown by themselves: "+j.apart, "start netdyno listen anew for every run, and let nothing else drive it")
	}
	var unmatched []string
	mixed := 0
	for i, s := range j.served.Segments {
		if len(j.held[i]) == 0 {
			unmatched = append(unmatched, fmt.Sprintf("%d (%d exchanges)", s.Number, s.Exchanges))
		} else if s.Arm == "" {
			mixed++
		}
	}
	if len(unmatched) > 0 && j.apart == "" {
		warn(fmt.Sprintf("no trial belongs to %d of the server's %d segments: %s", len(unmatched), len(j.served.Segments), quantity.Names(unmatched)),
			"something else drove the server, or a trial failed; they count for no arm")
	}
	if len(j.lost) > 0 {
		warn(fmt.Sprintf("the server kept no segment of %d of %d trials: %s", len(j.lost), len(j.drives), quantity.Names(j.lost)),
			"start netdyno listen before the run and end it afterwards")
	}
	if mixed > 0 {
		warn(fmt.Sprintf("%d segments hold trials of several arms, so they count for no arm", mixed),
			"the server saw no pause between these trials; run one arm at a time")
	}
	if j.served.Unkept > 0 {
		warn(fmt.Sprintf("%d more segments were seen and not kept", j.served.Unkept), "start netdyno listen anew for every study")
	}
	if named := j.otherName(); named != "" {
		warn(fmt.Sprintf("the run calls its server %s, what listened is %s", named, j.served.Server), "the figures are of what listened")
	}
	return all
}

// otherName is what the run calls its server, when that is not what listened.
func (j *joint) otherName() string {
	for _, d := range j.drives {
		if name := d.trial.Levels["server"]; name != "" && j.served.Server != "" && name != j.served.Server {
			return name
		}
	}
	return ""
}
