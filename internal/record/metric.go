package record

import (
	"fmt"
	"math"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/quantity"
)

// Metric is one figure that readers derive from a record. The registry is the
// only place where counts become figures.
type Metric struct {
	Name    string // unit last
	Unit    string
	Better  string // "higher", "lower", or "" when neither is
	Doc     string // a noun phrase that fits "0.61× the … of"
	Formula string
	Least   int64 // exchanges of a window without which there is no figure; 0 when any number will do
	// Value returns the figure; false, never 0, when an input is absent.
	Value func(*Record) (float64, bool)

	in func(*Window) (float64, bool)
}

// Directions of Metric.Better.
const (
	Higher = "higher"
	Lower  = "lower"
)

// Unit conversions. GB is 1e9 payload bytes delivered.
const (
	nsPerUs    = 1e3
	nsPerS     = 1e9
	usPerS     = 1e6
	bytesPerGB = 1e9
)

// In returns the figure from a window, whose histograms are decoded once for
// all metrics; false, never 0, when an input is absent or the figure is not a
// finite number.
func (m Metric) In(w *Window) (float64, bool) {
	v, ok := m.in(w)
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

var registry = register(loadMetrics(), latencyMetrics(), arrivalMetrics(), costMetrics(), hostMetrics(), linkMetrics(), interfaceMetrics(), tcpMetrics(), connectionMetrics(), memoryMetrics(), runtimeMetrics())

func register(groups ...[]Metric) []Metric {
	var all []Metric
	for _, group := range groups {
		for _, m := range group {
			m.Value = func(r *Record) (float64, bool) { return m.In(NewWindow(r)) }
			all = append(all, m)
		}
	}
	return all
}

// Metrics returns every metric in display order. The caller owns the slice.
func Metrics() []Metric { return append([]Metric(nil), registry...) }

// MetricNamed returns the metric of that name, or an error that names the
// nearest one.
func MetricNamed(name string) (Metric, error) {
	names := make([]string, 0, len(registry))
	for _, m := range registry {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Metric{}, fmt.Errorf("find metric %q: %s", name, quantity.Hint(name, names))
}

// loadMetrics are about the work done.
func loadMetrics() []Metric {
	return []Metric{
		{
			Name: "exchanges_per_s", Unit: "1/s", Better: Higher, Doc: "exchange rate",
			Formula: "Σ clients: exchanges completed in the window ÷ its length by the client's clock",
			in:      exchangeRate,
		},
		{
			Name: "goodput_bytes_per_s", Unit: "B/s", Better: Higher, Doc: "goodput",
			Formula: "payload bytes received ÷ window (RFC 2647): Σ clients; Σ servers where a stream or the larger message goes up; both where streams go both ways",
			in:      goodput,
		},
		{
			Name: "offered_share", Unit: "share", Better: Higher, Doc: "achieved share of the offered rate",
			Formula: "exchanges_per_s ÷ Σ clients' declared rate; open loop only",
			in:      offeredShare,
		},
		{
			Name: "error_share", Unit: "share", Better: Lower, Doc: "share of failed exchanges",
			Formula: "Σ clients' errors ÷ (exchanges + errors)",
			in:      errorShare,
		},
		{
			Name: "work_s", Unit: "s", Better: Lower, Doc: "time for the fixed work",
			Formula: "longest window of the clients; only where the amount of work is fixed instead",
			in:      (*Window).WorkSeconds,
		},
	}
}

// resultRate sums one count of the clients' results, per second of each
// client's own window.
func resultRate(w *Window, count func(*Worker) int64) (float64, bool) {
	return resultSum(w, count, func(g *Worker) (float64, bool) { return seconds(g.Result.FromNs, g.Result.ToNs) })
}

// resultSum sums one count of the clients' results, each divided by its length.
func resultSum(w *Window, count func(*Worker) int64, length func(*Worker) (float64, bool)) (float64, bool) {
	sum := 0.0
	generators := w.Generators()
	for _, g := range generators {
		if g.Result == nil || count(g) < 0 {
			return 0, false
		}
		l, ok := length(g)
		if !ok {
			return 0, false
		}
		sum += float64(count(g)) / l
	}
	return sum, len(generators) > 0
}

// Exchanges returns how many were completed in the window, all clients together;
// false when one left no result.
func (w *Window) Exchanges() (int64, bool) {
	n, ok := resultSum(w, exchangesOf, func(*Worker) (float64, bool) { return 1, true })
	return int64(n), ok
}

func exchangesOf(g *Worker) int64 { return g.Result.Counts.Exchanges }

func exchangeRate(w *Window) (float64, bool) { return resultRate(w, exchangesOf) }

func goodput(w *Window) (float64, bool) {
	return delivered(w, func(g *Worker) (float64, bool) { return seconds(g.Result.FromNs, g.Result.ToNs) }, Span.Seconds)
}

// delivered sums the payload bytes that arrived, each count divided by its
// length: at the end or the ends that the exchange is about.
func delivered(w *Window, client func(*Worker) (float64, bool), server func(Span) (float64, bool)) (float64, bool) {
	up, down, ok := directions(w)
	sum := 0.0
	if ok && down {
		sum, ok = resultSum(w, func(g *Worker) int64 { return g.Result.Counts.ReceivedBytes }, client)
	}
	if !ok || !up {
		return sum, ok
	}
	atServer, ok := atServers(w, server)
	if w.uncounted() {
		// What a server that cannot count has answered it has received.
		atServer, ok = resultSum(w, func(g *Worker) int64 { return g.Result.Counts.SentBytes }, client)
	}
	return sum + atServer, ok
}

// uncounted tells whether a server stands for a program that cannot count, or
// is out of our sight.
func (w *Window) uncounted() bool {
	return len(w.Record.Away()) > 0 || slices.ContainsFunc(w.Record.Workers, func(worker Worker) bool {
		return worker.Role == contract.Server && worker.Ready != nil && worker.Ready.Foreign
	})
}

// atServers sums what arrived at the servers, each count divided by its length;
// false when one cannot count.
func atServers(w *Window, length func(Span) (float64, bool)) (float64, bool) {
	servers, ok := w.Spans(contract.Server)
	if !ok || w.uncounted() {
		return 0, false
	}
	return sumRate(servers, func(s Span) (from, to int64, ok bool) {
		return s.From.Reading.Counts.ReceivedBytes, s.To.Reading.Counts.ReceivedBytes, true
	}, length)
}

// directions tells which way the payload goes that goodput is about: that of the
// stream, else of the larger message. What asks for it or confirms it is not it.
func directions(w *Window) (up, down, ok bool) {
	generators := w.Generators()
	if len(generators) == 0 {
		return false, false, false
	}
	return generators[0].directions() // the exchange is the same for all
}

func (w *Worker) directions() (up, down, ok bool) {
	toServer, toClient, ok := w.Sizes()
	if !ok {
		return false, false, false
	}
	switch w.Setup.Exchange.Stream {
	case contract.StreamUp:
		return true, false, true
	case contract.StreamDown:
		return false, true, true
	case contract.StreamBoth:
		return true, true, true
	}
	return toServer > toClient, toServer <= toClient, true
}

func offeredShare(w *Window) (float64, bool) {
	offered, open := w.OfferedRate()
	achieved, ok := exchangeRate(w)
	return achieved / offered, open && ok
}

func errorShare(w *Window) (float64, bool) {
	failed, all := 0.0, 0.0
	generators := w.Generators()
	for _, g := range generators {
		if g.Result == nil || g.Result.Counts.Exchanges < 0 {
			return 0, false
		}
		all += float64(g.Result.Counts.Exchanges)
		for _, n := range g.Result.Counts.Errors {
			failed += float64(n)
		}
	}
	all += failed
	return failed / all, len(generators) > 0 && all > 0 && failed >= 0
}

// quantiles are those that a distribution is printed by.
var quantiles = []struct {
	label string
	share float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}}

// latencyMetrics are the distributions of METHOD §3: merged over clients,
// never averaged, and absent where the tail is too thin.
func latencyMetrics() []Metric {
	kinds := []struct{ kind, formula string }{
		{Service, "completion − actual send"},
		{Response, "completion − intended start, open loop only"},
	}
	var all []Metric
	for _, k := range kinds {
		all = append(all, Metric{
			Name: k.kind + "_mean_us", Unit: "µs", Better: Lower, Doc: "mean " + k.kind + " time",
			Formula: "mean of " + k.formula,
			in:      func(w *Window) (float64, bool) { return meanUs(w, k.kind) },
		})
		for _, q := range quantiles {
			all = append(all, Metric{
				Name: k.kind + "_" + q.label + "_us", Unit: "µs", Better: Lower, Doc: q.label + " " + k.kind + " time",
				Formula: q.label + " of " + k.formula + "; histograms of all clients merged; at least 10 values beyond",
				Least:   hist.Least(q.share),
				in:      func(w *Window) (float64, bool) { return percentileUs(w, k.kind, q.share) },
			})
		}
	}
	return append(all, Metric{
		Name: "lag_p99_us", Unit: "µs", Better: Lower, Doc: "p99 lag of the generator",
		Formula: "p99 of actual send − intended start: the generator's own error",
		Least:   hist.Least(0.99),
		in:      func(w *Window) (float64, bool) { return percentileUs(w, Lag, 0.99) },
	})
}

func meanUs(w *Window, kind string) (float64, bool) {
	h, ok := w.Histogram(kind)
	if !ok {
		return 0, false
	}
	return h.MeanNs() / nsPerUs, true
}

func percentileUs(w *Window, kind string, share float64) (float64, bool) {
	h, ok := w.Histogram(kind)
	if !ok {
		return 0, false
	}
	ns, ok := h.Percentile(share)
	return float64(ns) / nsPerUs, ok
}
