package finding

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// The statuses of a trial.
const (
	Valid             = "valid"
	StatusInvalid     = "invalid"
	StatusFailed      = "failed"
	StatusUnsupported = "unsupported"
	StatusMissing     = "missing" // planned, no record yet
)

// The flags of a trial.
const (
	Unsteady      = "unsteady"
	Overloaded    = "overloaded"
	LateCounters  = "late-counters"
	GeneratorLate = "generator-late"
	StolenCPU     = "stolen-cpu"
	Reconnected   = "reconnected"
	Unverified    = "unverified"
	Bursty        = "bursty"
	TooRegular    = "too-regular"
	Unfinished    = "unfinished"
	Reflected     = "reflected"
	Stalled       = "stalled"
	Backlog       = "backlog"

	FewSamples = "few-samples" // of a metric that some of an arm's trials lack
)

// trialAudit is one record under examination, with what several checks ask of it.
type trialAudit struct {
	window     *record.Window
	generators []*record.Worker
	values     map[string]float64
	slots      float64 // places for an exchange in flight, over all clients
	open       bool    // open loop
	thinking   bool    // closed loop with think time, or one of unknown pattern
	series     []Slice
}

// examineAll reads every trial, on all CPUs: decoding histograms is most of
// the work of a large study, and no trial needs another.
func examineAll(views []*view) {
	next := make(chan *view)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for v := range next {
				v.trial = examine(v)
			}
		})
	}
	for _, v := range views {
		next <- v
	}
	close(next)
	readers.Wait()
}

// examine reads one trial, and notes in its view what only all trials together
// can judge. It does not keep the window: decoded histograms of
// thousands of trials would not fit into memory.
func examine(v *view) Trial {
	t := Trial{ID: v.plan.ID, Block: v.plan.Block, Repeat: v.plan.Repeat, Status: StatusMissing}
	if v.record == nil {
		return t
	}
	if status, reason := outcome(v); status != Valid {
		t.Status, t.Reason = status, reason
		return t
	}
	e := open(v.record)
	t.Status, t.Values, t.Series, t.CPU = Valid, e.values, e.series, e.split()
	t.Errors, _ = e.failed()
	if reason := e.inconsistency(); reason != "" {
		t.Status, t.Reason = StatusInvalid, reason
	}
	t.Moved = metric.Moved(e.window)
	t.Limit, v.limitOf, t.LimitProof = e.limit()
	v.traffic = linkTrafficOf(e, v)
	v.service, v.response = timesOf(e.window, record.Service), timesOf(e.window, record.Response)
	var why []string
	for _, check := range []func(*trialAudit) (flag, why string){
		(*trialAudit).unsteady, (*trialAudit).overloaded, (*trialAudit).lateCounters, (*trialAudit).generatorLate, (*trialAudit).stolenCPU,
		(*trialAudit).reconnected, (*trialAudit).unverified, (*trialAudit).arrivals, (*trialAudit).unfinished, (*trialAudit).reflected,
	} {
		if flag, text := check(e); flag != "" {
			t.Flags = append(t.Flags, flag)
			why = append(why, text)
		}
	}
	flags, proofs := e.plateaus()
	t.Flags, why = append(t.Flags, flags...), append(why, proofs...)
	if flag, text := e.broken(); flag != "" {
		t.Flags, why = append(t.Flags, flag), append(why, text)
		if t.Stalls = e.stalls(); t.Status == Valid {
			e.withoutRates(&t, text)
			v.limitOf, v.traffic = "", linkTraffic{}
		}
	}
	if t.Reason == "" {
		t.Reason = strings.Join(why, "; ")
	}
	return t
}

func outcome(v *view) (status, reason string) {
	r := v.record
	reason = "no reason was recorded"
	if f := r.Failure; f != nil {
		reason = string(f.Kind) + ": " + f.Text
		if f.Worker != "" {
			reason = f.Worker + " (" + f.State + "): " + reason
		}
	}
	switch {
	case r.Schema > record.Schema:
		return StatusInvalid, fmt.Sprintf("written by schema %d, this reader knows up to %d", r.Schema, record.Schema)
	case r.Trial.Cell != v.plan.Cell || r.Trial.Arm != v.plan.Arm || r.Trial.Block != v.plan.Block ||
		r.Trial.Repeat != v.plan.Repeat || r.Trial.Probe != v.plan.Probe:
		return StatusInvalid, "its record is of another place than the plan's: the files are of different runs"
	case r.Outcome == record.Unsupported:
		return StatusUnsupported, reason
	case r.Outcome == record.OK && r.Failure == nil:
		return Valid, ""
	}
	return StatusFailed, reason
}

func open(r *record.Record) *trialAudit {
	e := &trialAudit{window: record.NewWindow(r), values: map[string]float64{}}
	e.generators = e.window.Generators()
	for _, m := range metric.All() {
		if value, ok := m.In(e.window); ok {
			e.values[m.Name] = value
		}
	}
	_, e.open = e.window.OfferedRate()
	for _, g := range e.generators {
		if g.Setup == nil {
			e.thinking = true
			continue
		}
		e.slots += slotsOf(g.Setup.Load)
		// A new connection per exchange spends time between exchanges too.
		e.thinking = e.thinking || g.Setup.Load.ThinkNs > 0 || g.Setup.Load.Fresh
	}
	e.series = seriesOf(r.Timeline, e.generators)
	return e
}

// slotsOf counts a client's places for an exchange in flight.
func slotsOf(l contract.Load) float64 {
	share, inFlight := l.ActiveShare, float64(l.InFlight)
	if !(share > 0 && share < 1) {
		share = 1
	}
	if inFlight == 0 {
		inFlight = 1
	}
	active := float64(l.Connections) * share
	if l.Connections > 0 {
		active = max(active, 1)
	}
	return active * inFlight
}
