package record

import (
	"math"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// Window is a record between the two edges of its window: the divisors of readers, worked
// out once. A Window keeps decoded histograms, so that a record's many percentiles cost
// one decoding. One goroutine may use it.
type Window struct {
	Record *Record

	// Nominal are rates of interfaces in bits per second, by "seat/eth0", where
	// a reader knows them from the facts of the hosts.
	Nominal map[string]float64

	// Unloaded are the times of the window's arm without load, where trials tell them.
	Unloaded UnloadedNs

	bins   []Bin
	binned bool                           // bins are read
	merged map[string]*hist.Histogram     // by kind; nil for one that cannot be had
	own    map[clientKind]*hist.Histogram // of one client; nil likewise
	times  map[string]Times               // by kind; zero likewise
	spans  map[contract.Role][]Span       // of all workers of a role; nil likewise
}

// clientKind names a histogram of a window.
type clientKind struct {
	client *Worker
	kind   string
}

// NewWindow returns the window of r, which it refers to and does not change.
func NewWindow(r *Record) *Window {
	return &Window{Record: r, merged: map[string]*hist.Histogram{}, own: map[clientKind]*hist.Histogram{}, times: map[string]Times{}, spans: map[contract.Role][]Span{}}
}

// Span returns the worker's span in this window; false when an edge is
// missing. A server's closing edge comes after the last client of a fixed
// amount of work has ended: what it idled until then is no part of its length.
func (w *Window) Span(worker *Worker) (Span, bool) {
	s, ok := SpanOf(worker)
	if work, fixed := w.WorkSeconds(); ok && fixed && worker.Role.Serves() {
		s.most = work
	}
	return s, ok
}

// Spans returns the spans of every worker of a role; false when there is none
// or one of them misses an edge, because a partial sum is a wrong figure, and
// false when one only stands for a process that runs elsewhere, because its
// account is not that process's. The window keeps them.
func (w *Window) Spans(role contract.Role) ([]Span, bool) {
	spans, known := w.spans[role]
	if !known {
		spans = w.readSpans(role)
		w.spans[role] = spans
	}
	return spans, len(spans) > 0
}

func (w *Window) readSpans(role contract.Role) []Span {
	var spans []Span
	for i := range w.Record.Workers {
		if w.Record.Workers[i].Role != role {
			continue
		}
		s, ok := w.Span(&w.Record.Workers[i])
		if !ok || s.Worker.Elsewhere() {
			return nil
		}
		spans = append(spans, s)
	}
	return spans
}

// Generators returns the workers that carry the load: clients and pairs.
func (w *Window) Generators() []*Worker {
	var generators []*Worker
	for i := range w.Record.Workers {
		if role := w.Record.Workers[i].Role; role == contract.Client || role == contract.Pair {
			generators = append(generators, &w.Record.Workers[i])
		}
	}
	return generators
}

// Directions returns those of the window's exchange, which is the same for all
// its workers; false when nobody carries load.
func (w *Window) Directions() (up, down, ok bool) {
	generators := w.Generators()
	if len(generators) == 0 {
		return false, false, false
	}
	return generators[0].Directions()
}

// WorkSeconds returns how long a fixed amount of work took, by the clients'
// own clocks: the longest of their windows. False when the window was fixed
// instead, or when a client left no result.
func (w *Window) WorkSeconds() (float64, bool) {
	longest, fixed := 0.0, false
	for _, g := range w.Generators() {
		if g.Result == nil {
			return 0, false
		}
		length, ok := g.ResultSeconds()
		if !ok {
			return 0, false
		}
		longest = max(longest, length)
		fixed = fixed || g.Setup != nil && g.Setup.Load.Amount > 0
	}
	return longest, fixed
}

// Hosts returns one span per distinct host, its meter readings holding that
// host's CPUs; empty when no worker was metered.
func (w *Window) Hosts() []Span {
	var hosts []Span
next:
	for i := range w.Record.Workers {
		s, ok := SpanOf(&w.Record.Workers[i])
		if !ok {
			continue
		}
		from, to, _, ok := s.Metered()
		if !ok || len(from.CPUs) == 0 || len(from.CPUs) != len(to.CPUs) {
			continue
		}
		for _, known := range hosts {
			if SameHost(known.From.Meter, from) {
				continue next
			}
		}
		hosts = append(hosts, s)
	}
	return hosts
}

// Alternated tells whether other loads ran between the window's edges besides its own, so that
// what is counted of a whole host is theirs too.
func (w *Window) Alternated() bool { return len(w.Record.BesideNs) > 0 }

// SameHost reports whether two meter readings come from one host; false when
// one is missing. Seats do not tell: a network namespace is a seat of its own on
// the same CPUs, and adding those CPUs twice would be a wrong figure.
func SameHost(a, b *contract.Meter) bool {
	if a == nil || b == nil {
		return false
	}
	if a.BootID != "" && b.BootID != "" {
		return a.BootID == b.BootID
	}
	return countersAgree(a, b)
}

// countersAgree stands in for boot IDs in records written before meters read
// them. Two readings of one host cannot differ by more CPU time than passed
// between them. Two hosts, whose counters run since their own boots, nearly
// always do.
func countersAgree(a, b *contract.Meter) bool {
	const ticks = 50_000_000 // /proc/stat counts in 10 ms, idle time lags behind
	if len(a.CPUs) == 0 || len(a.CPUs) != len(b.CPUs) {
		return false
	}
	slack := math.Abs(Growth(a.AtNs, b.AtNs)) + ticks
	for i, cpu := range a.CPUs {
		other := b.CPUs[i]
		if cpu.ID != other.ID ||
			math.Abs(Growth(cpu.UserNs, other.UserNs)) > slack ||
			math.Abs(Growth(cpu.SystemNs, other.SystemNs)) > slack ||
			math.Abs(Growth(cpu.IdleNs, other.IdleNs)) > slack {
			return false
		}
	}
	return true
}

// OfferedRate returns the exchanges per second that an open loop asks for,
// over all clients; false for a closed loop.
func (w *Window) OfferedRate() (float64, bool) {
	sum := 0.0
	generators := w.Generators()
	for _, g := range generators {
		if g.Setup == nil || !(g.Setup.Load.Rate > 0) {
			return 0, false
		}
		sum += g.Setup.Load.Rate
	}
	return sum, len(generators) > 0
}

// The kinds of histogram that a result carries (specification §3.1).
const (
	Service  = "service"
	Response = "response"
	Lag      = "lag"
	Lengths  = "lengths" // in bytes

	// Of clients that tell how long stages of exchanges took.
	Connect   = "connect"
	Handshake = "handshake"
	FirstByte = "first_byte"

	// Of clients that tell when parts of replies came.
	FirstEvent = "first_event"
	Gap        = "gap" // between events of one reply
)

// Kinds are those of times.
var Kinds = []string{Service, Response, Lag, Connect, Handshake, FirstByte, FirstEvent, Gap}

// inParts returns the histogram of a kind of time that is of a part of an exchange, and the ages
// of the exchanges that ended before it came, for kinds that each exchange waits for; false for
// times of whole exchanges.
func inParts(r *contract.Result, kind string) (text, waiting string, ok bool) {
	var s contract.Stages
	if r.Stages != nil {
		s = *r.Stages
	}
	var e contract.Events
	if r.Events != nil {
		e = *r.Events
	}
	switch kind {
	case Connect:
		return s.Connect, "", true
	case Handshake:
		return s.Handshake, "", true
	case FirstByte:
		return s.FirstByte, s.Waiting, true
	case FirstEvent:
		return e.First, e.Waiting, true
	case Gap:
		return e.Gaps, "", true
	}
	return "", "", false
}

// ofParts tells whether a kind of time is of a part of an exchange.
func ofParts(kind string) bool {
	_, _, ok := inParts(&contract.Result{}, kind)
	return ok
}

// Histogram returns the merged histogram of one kind over all clients; false
// when a client has none, it cannot be decoded or it is empty. Response
// exists in an open loop only. The window keeps it.
func (w *Window) Histogram(kind string) (*hist.Histogram, bool) {
	h, known := w.merged[kind]
	if !known {
		h = w.merge(kind)
		w.merged[kind] = h
	}
	return h, h != nil
}

func (w *Window) merge(kind string) *hist.Histogram {
	if _, open := w.OfferedRate(); kind == Response && !open {
		return nil
	}
	generators := w.Generators()
	if len(generators) == 1 {
		if h, ok := w.HistogramOf(generators[0], kind); ok && h.Count() > 0 {
			return h
		}
		return nil
	}
	sum := hist.New()
	for _, g := range generators {
		h, ok := w.HistogramOf(g, kind)
		if !ok {
			return nil
		}
		sum.Merge(h)
	}
	if sum.Count() == 0 {
		return nil
	}
	return sum
}

// HistogramOf returns one client's own histogram of a kind, as the client left
// it; false when there is none or it cannot be decoded. The window keeps it.
func (w *Window) HistogramOf(client *Worker, kind string) (*hist.Histogram, bool) {
	key := clientKind{client, kind}
	h, known := w.own[key]
	if !known {
		h = decode(client.Result, kind)
		w.own[key] = h
	}
	return h, h != nil
}

// Lengths returns how long the replies of one client were, in bytes: the lengths
// that the client tells, else for every reply the length of its setup. False where
// the client completed no exchange, where the lengths cannot be decoded, and where a
// client that tells no lengths received another sum of bytes than its setup's length
// makes.
func (w *Window) Lengths(client *Worker) (*hist.Histogram, bool) {
	if client.Result == nil {
		return nil, false
	}
	if client.Result.Lengths != "" {
		return w.HistogramOf(client, Lengths)
	}
	_, down, ok := client.Sizes()
	counts := client.Result.Counts
	replies := counts.Exchanges + client.Result.Drained
	if !ok || replies <= 0 || client.AnyReply() && counts.ReceivedBytes != counts.Exchanges*down {
		return nil, false
	}
	return hist.Constant(down, replies), true
}

// decode returns nil for a histogram that cannot be had.
func decode(r *contract.Result, kind string) *hist.Histogram {
	if r == nil {
		return nil
	}
	text := map[string]string{Service: r.Service, Response: r.Response, Lag: r.Lag, Lengths: r.Lengths}[kind]
	if part, _, ok := inParts(r, kind); ok {
		text = part
	}
	if text == "" {
		return nil
	}
	h, err := hist.Decode(text)
	if err != nil {
		return nil
	}
	return h
}

// Alone returns the window of one client without the others and the servers:
// the clients' metrics, taken from it, are that client's own. What needs the
// servers is absent.
func (w *Window) Alone(client *Worker) *Window {
	r := *w.Record
	r.Workers = []Worker{*client}
	return NewWindow(&r)
}

// Arrivals is how the sends of one client came, as far as it kept them.
type Arrivals struct {
	Client   *Worker
	Process  contract.Arrival // declared
	Declared float64          // standard deviation ÷ mean of the gaps, as declared
	Once     bool             // the declared rate goes through phases once: its gaps are of the time that was kept
	Gaps     float64          // number
	CV       float64          // standard deviation ÷ mean of the gaps
	StepNs   float64          // mean gap of the declared rate
}

// Arrivals returns the sends of the client that came farthest from the declared
// process: each has a schedule of its own, so that gaps over several say
// nothing. False for a closed loop and when a client does not tell.
func (w *Window) Arrivals() (farthest Arrivals, ok bool) {
	for _, g := range w.Generators() {
		a, known := g.arrivals()
		if !known {
			return Arrivals{}, false
		}
		if !ok || a.off() > farthest.off() {
			farthest, ok = a, true
		}
	}
	return farthest, ok
}

func (w *Worker) arrivals() (Arrivals, bool) {
	if w.Setup == nil || !(w.Setup.Load.Rate > 0) || w.Result == nil || w.Result.Arrivals == nil {
		return Arrivals{}, false
	}
	sums, load := w.Result.Arrivals, w.Setup.Load
	a := Arrivals{Client: w, Process: load.Arrival, Gaps: float64(sums.Gaps), StepNs: nsPerS / load.Rate}
	switch a.Process {
	case contract.Poisson:
		a.Declared = 1
	case contract.Drawn, contract.Recorded:
		a.Declared = load.GapsCV
	default:
		a.Process = contract.Constant
	}
	if len(load.Phases) > 0 {
		a.Declared, a.Once = phasesCV(load.Phases), !load.Repeat
	}
	mean := float64(sums.SumNs) / a.Gaps
	// Of an even rhythm the squares' rounding can leave less than nothing.
	a.CV = math.Sqrt(max(0, sums.SumSquaresNs2/a.Gaps/(mean*mean)-1))
	return a, a.Gaps > 0 && mean > 0 && !math.IsNaN(a.CV) && !math.IsInf(a.CV, 0)
}

// off is how far the gaps lie from those of the declared process.
func (a Arrivals) off() float64 { return math.Abs(a.CV - a.Declared) }

// phasesCV returns the coefficient of variation of evenly spaced gaps of a rate that goes
// through phases again and again. A gap within a phase is 1 ÷ rate; a phase without a rate
// is one gap.
func phasesCV(phases []contract.Phase) float64 {
	n, time, squares := 0.0, 0.0, 0.0
	for _, p := range phases {
		lasts, first, last := p[0]/nsPerS, p[1], p[2]
		time += lasts
		n += lasts * (first + last) / 2
		switch {
		case first+last == 0:
			squares += lasts * lasts
		case math.Min(first, last) < 1e-3*math.Max(first, last): // from or to nothing, where the integral has no bound
			squares += lasts / math.Max(first, last) * math.Log(1e3)
		case math.Abs(first-last) < 1e-9*first:
			squares += lasts / first
		default:
			squares += lasts * math.Log(last/first) / (last - first)
		}
	}
	mean := time / n
	return math.Sqrt(math.Max(0, squares/n/(mean*mean)-1))
}
