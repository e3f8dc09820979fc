package worker

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// start begins a client's load.
func (m *machine) start() {
	switch {
	case !m.ready():
		m.complain(contract.Invalid, errors.New("start came before ready (CONTRACT.md, section Life)"))
	case m.started:
		m.complain(contract.Invalid, errors.New("start came twice (CONTRACT.md, section start)"))
	default:
		m.started = true
		if m.client != nil {
			m.results.Start()
			go func() { m.finished <- m.client.Run() }()
		}
	}
}

func (m *machine) mark(mark contract.Mark) {
	if !m.ready() {
		m.complain(contract.Invalid, errors.New("mark came before ready (CONTRACT.md, section Life)"))
		return
	}
	counts := m.counts
	var part *load.Part
	switch parting, parts := m.results.(load.Parting); {
	case m.client == nil || m.done || mark.Keep:
	case mark.Part && !parts:
		m.complain(contract.Invalid, errors.New("mark has part, and this client does not have feature turns (CONTRACT.md, section Turns)"))
		return
	case mark.Part:
		counts = func() contract.Counts {
			part = parting.Part(load.Now())
			return m.addReconnects(m.results.Snapshot())
		}
	default:
		counts = func() contract.Counts { return m.addReconnects(edge(m.results, mark.Reset)) }
	}
	if mark.Reset {
		m.profiler.begin()
	}
	reading := m.reader.readCounts(counts)
	mark.Reading = &reading
	m.send(contract.Message{Mark: &mark})
	if part != nil {
		m.parts = append(m.parts, pendingPart{mark.ID, part})
		time.AfterFunc(load.PartSettles, func() {
			select {
			case m.settled <- struct{}{}:
			default: // the loop is behind, and takes all that are due
			}
		})
	}
	if !mark.Reset && !mark.Keep && !mark.Part {
		m.profiler.end() // takes up to 200 ms, which the answer must not wait for
	}
}

// edge opens or closes the window and returns the counts of that instant. A
// mark that does neither only reads.
func edge(a load.ResultSource, open bool) contract.Counts {
	if open {
		a.Open(load.Now())
		return a.Snapshot()
	}
	if !a.Close(load.Now()) {
		return a.Counts()
	}
	return a.Snapshot()
}

// pendingPart is a window that has ended, and the mark that ended it.
type pendingPart struct {
	id   int
	part *load.Part
}

// tellPart says what was counted in the earliest window that was not told yet.
func (m *machine) tellPart() {
	if len(m.parts) == 0 {
		return
	}
	p := m.parts[0]
	m.parts = m.parts[1:]
	result, err := m.results.(load.Parting).PartResult(p.part)
	if err != nil {
		m.fail(load.Failure(contract.Bug, err))
		return
	}
	m.send(contract.Message{Part: &contract.Part{ID: p.id, Result: result}})
}

func (m *machine) counts() contract.Counts {
	if m.client != nil {
		return m.addReconnects(m.results.Counts())
	}
	return m.server.Counts()
}

// addReconnects adds how many connections the client made again.
func (m *machine) addReconnects(counts contract.Counts) contract.Counts {
	if r, ok := m.client.(load.Reconnector); ok {
		counts.Redialled = r.Reconnects()
	}
	return counts
}

// stop ends the load. A client answers when it has drained (finish) or when
// the drain bound passes (overdue); a server answers at once.
func (m *machine) stop() {
	switch {
	case !m.ready():
		m.complain(contract.Invalid, errors.New("stop came before ready (CONTRACT.md, section Life)"))
	case m.stopping || m.done:
		return
	case m.client != nil && m.started:
		m.stopping = true
		m.results.End(load.Now())
		m.overdue = time.After(time.Duration(m.results.Plan().DrainNs))
	case m.client != nil:
		m.finish(nil)
	default:
		m.done = true
		result := contract.Result{Counts: m.server.Counts(), Runtime: m.reader.runtime()}
		m.profiler.taken(&result)
		m.send(contract.Message{Result: &result})
	}
}

// finish reports the result of a client whose slots are all let go.
func (m *machine) finish(err error) {
	if err != nil {
		m.fail(load.Telling(err, load.SentBy(m.client)))
		return
	}
	for len(m.parts) > 0 && !m.failed {
		m.tellPart()
	}
	m.done, m.stopping, m.overdue = true, false, nil
	result, err := m.results.Result()
	if err != nil {
		m.fail(load.Failure(contract.Bug, err))
		return
	}
	result.Counts = m.addReconnects(result.Counts)
	result.Sent = load.SentBy(m.client)
	result.Runtime = m.reader.runtime()
	m.profiler.taken(&result)
	m.send(contract.Message{Result: &result})
}

func (m *machine) tick() {
	if m.done || !m.ready() || (m.client != nil && !m.started) {
		return
	}
	counts := m.counts()
	tick := contract.Tick{AtNs: load.Now(), Exchanges: counts.Exchanges, ReceivedBytes: counts.ReceivedBytes}
	for _, n := range counts.Errors {
		tick.Errors += n
	}
	if s, ok := m.results.(load.Slicing); ok && m.setup.Timeline {
		tick.Times = s.Slice()
	}
	m.send(contract.Message{Tick: &tick})
}

// raiseDescriptors lifts the soft limit on open files to the hard one. Go does
// so by itself only until a program sets the limit; a launcher may have.
func raiseDescriptors() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur >= limit.Max {
		return
	}
	limit.Cur = limit.Max
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) // too few descriptors is reported where they run out
}

// able reports what setup asks for beyond whole messages on kept, plain
// connections and t does not declare; it would be left out without a word. A
// transport without a wire is a program of the user's, of which nothing is known.
func able(t contract.Transport, setup contract.Setup) error {
	if t.Wire == "" {
		return nil
	}
	if t.Encrypted && setup.TLS == nil {
		return fmt.Errorf("setup.tls is absent: transport %s is always encrypted; give tls=yes", t.Name)
	}
	for _, asked := range []struct {
		by      string
		is      bool
		feature contract.Feature
	}{
		{"setup.tls is given", setup.TLS != nil, contract.FeatureTLS},
		{"load.fresh is true", setup.Load.Fresh, contract.FeatureFresh},
		{"exchange.up_sizes or down_sizes is given", setup.Exchange.Varies(), contract.FeatureSizes},
		{"load.phases is given, or load.arrival drawn", len(setup.Load.Phases) > 0 || setup.Load.Arrival == contract.Drawn, contract.FeatureArrivals},
		{"load.gather_ns is given", setup.Load.GatherNs > 0, contract.FeatureGather},
		{"load.turns is given", len(setup.Load.Turns) > 0, contract.FeatureTurns},
		{"load.turns is given beside classes or drawn sizes", len(setup.Load.Turns) > 0 && (setup.Exchange.Varies() || len(setup.Load.Classes) > 0), contract.FeatureMixedTurns},
		{"load.classes is given", len(setup.Load.Classes) > 0, contract.FeatureMix},
		{"a class has a deadline", setup.Load.Deadlines(), contract.FeatureDeadline},
		{"setup.events is true", setup.Events && setup.Role == contract.Client, contract.FeatureEvents},
		{"setup.stages is true", setup.Stages && setup.Role == contract.Client, contract.FeatureStages},
		{"setup.tls.resume is true", setup.TLS != nil && setup.TLS.Resume && setup.Role == contract.Client, contract.FeatureResume},
		{"exchange.every_ns is given", setup.Exchange.EveryNs > 0, contract.FeatureEvents},
		{"load.trace is given", setup.Load.Trace != nil && !setup.Load.Trace.Times, contract.FeatureTrace},
		{"load.trace.times is true", setup.Load.Trace != nil && setup.Load.Trace.Times, contract.FeatureTimes},
		{"the method of a class is of gRPC", setup.Load.Calls(), contract.FeatureMethods},
		{"a class has headers", setup.Load.Headed(), contract.FeatureHeaders},
		{"a class has think_ns", setup.Load.Thinks(), contract.FeatureThink},
		{"setup.work is given", setup.Work != nil && setup.Role != contract.Client, setup.Work.Feature()},
		{fmt.Sprintf("exchange.stream is %q", setup.Exchange.Stream), setup.Exchange.Stream != "", contract.Feature("stream-" + setup.Exchange.Stream)},
	} {
		if asked.is && !slices.Contains(t.Features, asked.feature) {
			return fmt.Errorf("%s: transport %s does not have feature %s, it has %q", asked.by, t.Name, asked.feature, t.Features)
		}
	}
	return nil
}
