package trial

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/course"
	"netdyno/internal/record"
)

// JudgeAll reads every trial, on all CPUs: decoding histograms is most of
// the work of a large study, and no trial needs another, but for the share of errors.
func JudgeAll(judged []*Judged) {
	next := make(chan *Judged)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for v := range next {
				if v.Light {
					v.divide()
				} else {
					v.Trial = judge(v)
				}
			}
		})
	}
	for _, v := range judged {
		if !v.Light || v.times != nil {
			next <- v
		}
	}
	close(next)
	readers.Wait()
	boundErrors(judged)
}

// judge reads one trial, and notes in v what only all trials together can
// judge. It does not keep the window: decoded histograms of
// thousands of trials would not fit into memory.
func judge(v *Judged) Trial {
	t := Trial{ID: v.Plan.ID, Block: v.Plan.Block, Repeat: v.Plan.Repeat, Status: StatusMissing}
	if v.Record == nil {
		return t
	}
	if status, reason := outcome(v); status != Valid {
		t.Status, t.Reason = status, reason
		return t
	}
	e := newAudit(v.Record, v.Unloaded)
	if t.TurnS, t.Alternated = turnSeconds(e), e.window.Alternated(); t.Alternated {
		t.Threads = e.busyThreads()
	}
	t.Status, t.Values, t.Series, t.CPU = Valid, metric.ValuesOf(e.values), e.series, split(e)
	if t.Errors, t.Ended = failed(e), ended(e); t.Errors > 0 {
		t.Reasons = e.reasonsOf()
	}
	passed, reason := inconsistency(e)
	if v.Passed = passed; reason != "" {
		t.Status, t.Reason = StatusInvalid, reason
	}
	t.Moved = metric.Moved(e.window)
	t.Others, t.Beside, t.Waited = e.others, e.beside, e.waitedBeside()
	t.Limit, v.LimitOf, t.LimitProof = limitOf(e)
	v.Traffic, v.served, v.bound = linkTrafficOf(e, v), servedIn(e), boundOf(e)
	_, v.Refused = refused(e)
	v.CostError, _ = costError(e)
	t.Times, v.Counted = timesOf(e.window), countedOf(e)
	v.readSorts(e)
	flags, why := raised(e)
	t.Flags, v.Why = flags, why
	if falsified(flags) {
		t.Stalls = stalls(e)
	}
	if t.TurnS > 0 && t.Status == Valid {
		v.Turn = turnOf(e, &t)
	}
	if falsified(flags) && t.Status == Valid {
		withoutRates(e, &t, why[len(why)-1])
		v.LimitOf, v.Traffic = "", LinkTraffic{}
	}
	if t.Reason == "" {
		t.Reason = strings.Join(why, "; ")
	}
	return t
}

// turnSeconds is how long a turn lasted; 0 where the load did not go on.
func turnSeconds(e *audit) (longest float64) {
	if !e.window.Record.Turn {
		return 0
	}
	for _, g := range e.generators {
		if s, ok := g.ResultSeconds(); ok {
			longest = max(longest, s)
		}
	}
	return longest
}

func outcome(v *Judged) (status, reason string) {
	r := v.Record
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
	case r.Trial.Cell != v.Plan.Cell || r.Trial.Arm != v.Plan.Arm || r.Trial.Block != v.Plan.Block ||
		r.Trial.Repeat != v.Plan.Repeat || r.Trial.Probe != v.Plan.Probe || r.Trial.Unloaded != v.Plan.Unloaded || r.Trial.FlatOut != v.Plan.FlatOut:
		return StatusInvalid, "its record is of another place than the plan's: the files are of different runs"
	case r.Outcome == record.Unsupported:
		return StatusUnsupported, reason
	case r.Outcome == record.OK && r.Failure == nil:
		return Valid, ""
	}
	return StatusFailed, reason
}

// Judged is one planned trial with its record and what was found of it.
type Judged struct {
	Plan   record.Trial
	Record *record.Record // nil when there is none yet
	Light  bool           // Record was judged as it was read, and is lightened since
	Trial  Trial
	Passed int      // checks, before the first that found a contradiction
	Why    []string // by flag of Trial

	CostError float64 // share by which its costs may be off, as counters were read late; see flag LateCounters

	LimitOf contract.Role // the end whose resource was the limit; "" when it was neither's alone
	Traffic LinkTraffic

	Counted Counted
	Turn    course.Turn // of a load that goes on; the zero value of any other

	Refused string // that the server refused exchanges for being too many, in a clause; "" where it hardly did
	served  served
	bound   bound

	times    *record.Record    // of a light one that is yet to be divided; else nil
	Unloaded record.UnloadedNs // the arm's times without load; nil where no trials tell them
	Classes  []Sort            // of exchanges, where the load mixes several
	Paths    []Sort            // … where the client asks for several in turn
	Steps    []Sort            // … where the rate goes through steps
	Sizes    []Sort            // of exchanges whose sizes vary, and of a trial without load
	Left     float64           // share of the exchanges that have no time without load
}

// LinkTraffic is what a trial sent across its link. The zero value is of a trial
// over loopback, or of an unknown link: there, nothing is said of links.
type LinkTraffic struct {
	link     string          // its interfaces, and the levels that shape it
	Through  string          // its interfaces alone: "client1/eth0 client2/eth0"
	bulk     contract.Stream // directions in which the trial streamed
	arriving map[contract.Role]float64
}

// UnfitProbe returns why a probe did not do its arm's work, "" when it did. The
// counters of the two ends are not compared: a profiler delays the marks, so the
// ends count over different times.
func UnfitProbe(v *Judged) string {
	if status, reason := outcome(v); status != Valid {
		return status + ": " + reason
	}
	e := &audit{window: record.NewWindow(v.Record)}
	e.generators = e.window.Generators()
	for _, check := range []func(*audit) string{checkResults, checkErrors, tooManyErrors, checkClientBytes} {
		if reason := check(e); reason != "" {
			return StatusInvalid + ": " + reason
		}
	}
	return ""
}

// Partial tells whether a valid trial lacks the figures that a standstill falsifies.
func (t Trial) Partial() bool { return t.Status == Valid && falsified(t.Flags) }

func falsified(flags []string) bool { return slices.Contains(flags, Stalled) }

// withoutRates takes from a trial that stood still the figures that this falsifies: rates, costs, and times from the send. An open
// loop keeps its response times, which contain the standstill as they must, what
// was left unfinished, and memory. A closed loop keeps nothing: it is invalid.
func withoutRates(e *audit, t *Trial, why string) {
	if !e.open || e.amount() {
		t.Status, t.Reason = StatusInvalid, why
		return
	}
	t.Values.Keep(func(name string) bool {
		// What a load that goes on could not do meanwhile it does in the next turn.
		return OutlivesStall(name) || t.TurnS > 0 && (name == metric.ExchangesPerS || name == metric.Goodput)
	})
	maps.DeleteFunc(t.Moved, func(name string, _ float64) bool { return !OutlivesStall(name) })
	t.CPU, t.Limit, t.LimitProof = nil, Unknown, why
}

// OutlivesStall tells whether a metric holds of a trial that stood still.
func OutlivesStall(name string) bool {
	if strings.HasPrefix(name, record.Response+"_") || slices.Contains(metric.SlowdownNames(), name) {
		return true
	}
	_, of, atEnd := strings.Cut(name, ".")
	if atEnd { // what an end holds at an edge: memory, threads, goroutines
		return strings.HasSuffix(of, "_bytes") && !strings.HasPrefix(of, "tcp_") || of == metric.Threads || of == metric.Goroutines
	}
	return slices.Contains([]string{metric.LagP99, metric.ArrivalGapCV, metric.Unfinished, metric.UnfinishedAge, metric.ErrorShare}, name)
}
