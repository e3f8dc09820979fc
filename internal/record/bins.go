package record

import (
	"maps"
	"slices"
	"strings"

	"netdyno/internal/hist"
)

// Bin is what all clients of a window counted of the exchanges of one size. Where all
// exchanges have one size, there is one bin, of that size.
type Bin struct {
	FromBytes, ToBytes int64 // ToBytes is exclusive
	Service            *hist.Histogram
	Response           *hist.Histogram // nil in a closed loop
	Behind, Free       *hist.Histogram // of small exchanges, where clients tell; else empty
}

// Times are response times, in a closed loop service times.
func (b Bin) Times() *hist.Histogram {
	if b.Response != nil {
		return b.Response
	}
	return b.Service
}

// Bins returns the window's times by size, the smallest first. False where a client does
// not tell them, though its sizes vary.
func (w *Window) Bins() ([]Bin, bool) {
	if !w.binned {
		w.bins, w.binned = w.readBins(), true
	}
	return w.bins, len(w.bins) > 0
}

func (w *Window) readBins() []Bin {
	generators := w.Generators()
	if !slices.ContainsFunc(generators, (*Worker).Varies) {
		return w.onlyBin()
	}
	_, open := w.OfferedRate()
	byBytes := map[int64]*Bin{}
	for _, g := range generators {
		if g.Result == nil || len(g.Result.Bins) == 0 {
			return nil
		}
		for _, counted := range g.Result.Bins {
			b := byBytes[counted.FromBytes]
			if b == nil {
				b = &Bin{FromBytes: counted.FromBytes, ToBytes: counted.ToBytes, Service: hist.New(), Behind: hist.New(), Free: hist.New()}
				if open {
					b.Response = hist.New()
				}
				byBytes[counted.FromBytes] = b
			}
			for text, to := range map[*string]*hist.Histogram{&counted.Service: b.Service, &counted.Response: b.Response, &counted.Behind: b.Behind, &counted.Free: b.Free} {
				if to == nil || *text == "" {
					continue
				}
				h, err := hist.Decode(*text)
				if err != nil {
					return nil
				}
				to.Merge(h)
			}
		}
	}
	var all []Bin
	for _, from := range slices.Sorted(maps.Keys(byBytes)) {
		all = append(all, *byBytes[from])
	}
	return all
}

// Varies tells whether a client's exchanges have several sizes.
func (w *Worker) Varies() bool {
	if w.Setup == nil {
		return false
	}
	l := w.Setup.Load
	return w.Setup.Exchange.Varies() || len(l.Classes) > 0 || l.Trace != nil && !l.Trace.Times
}

// onlyBin returns the bin of exchanges that all have one size; nil where no time is known.
func (w *Window) onlyBin() []Bin {
	service, ok := w.Histogram(Service)
	if !ok {
		return nil
	}
	b := Bin{Service: service, Behind: hist.New(), Free: hist.New()}
	b.Response, _ = w.Histogram(Response)
	for _, g := range w.Generators() {
		if g.Setup == nil {
			return nil
		}
		b.FromBytes = max(b.FromBytes, g.Setup.Exchange.UpBytes, g.Setup.Exchange.DownBytes)
	}
	b.ToBytes = b.FromBytes + 1
	return []Bin{b}
}

// UnloadedNs are an arm's times without load, in ns by the FromBytes of a bin.
type UnloadedNs map[int64]float64

// Slowdowns are times divided by those without load.
type Slowdowns struct {
	Times *hist.Histogram // SlowdownUnit for a quotient of 1; what was left unfinished is its maximum
	Left  float64         // share of the exchanges that have no time without load
}

// SlowdownUnit is the value that a Slowdowns' histogram has for a quotient of 1.
const SlowdownUnit = 10_000

// Slowdowns divides each time by that without load of the same size; false where no time
// has one.
func (w *Window) Slowdowns() (Slowdowns, bool) {
	s := Slowdowns{Times: hist.New()}
	bins, ok := w.Bins()
	service, counted := w.Histogram(Service)
	if !ok || !counted || len(w.Unloaded) == 0 {
		return s, false
	}
	for _, b := range bins {
		if ns := w.Unloaded[b.FromBytes]; ns > 0 {
			s.Times.Merge(b.Times().Scaled(SlowdownUnit / ns))
		}
	}
	s.Left = max(0, 1-float64(s.Times.Count())/float64(service.Count()))
	some := s.Times.Count() > 0
	for _, g := range w.Generators() {
		s.Times.Record(hist.MaxNs, g.Result.Unfinished)
	}
	return s, some
}

// loadFactors are those of how much load there is and when, with what an unloaded trial
// has: one exchange at a time.
var loadFactors = map[string]string{
	"connections": "1", "inflight": "1", "clients": "1", "servers": "1", "rate": "max", "arrival": "constant", "think": "0s", "active": "100%",
}

// Unload returns a trial's levels with one exchange at a time, the next as soon as the last
// one has ended.
func (t Trial) Unload() map[string]string {
	levels := maps.Clone(t.Levels)
	delete(levels, RateOf)
	for factor, level := range loadFactors {
		if _, has := levels[factor]; has {
			levels[factor] = level
		}
	}
	return levels
}

// UnloadedKey is the same of trials that differ only in their load.
func (t Trial) UnloadedKey() string {
	return t.keyWithout(func(factor string) bool { return loadFactors[factor] != "" || factor == RateOf })
}

// keyWithout is the same of an arm's trials that differ in nothing but some factors.
func (t Trial) keyWithout(left func(factor string) bool) string {
	var b strings.Builder
	b.WriteString(t.Arm)
	for _, factor := range slices.Sorted(maps.Keys(t.Levels)) {
		if !left(factor) {
			b.WriteString("\x00" + factor + "=" + t.Levels[factor])
		}
	}
	return b.String()
}
