package main

import (
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/cpuset"
)

// standing prints how a server is driven. One goroutine uses it.
type standing struct {
	out     *screen
	catalog *bench.Catalog

	arguments []string     // of the command, as its clients need most of them
	last      *record.Edge // the reading shown before

	times        int     // driven so far
	cpu, seconds float64 // while driven: CPU time in seconds, and how long
}

// rewriteEvery is the time between two states of the line on a terminal.
const rewriteEvery = time.Second

// observe shows one state: where the server listens, then a line that is
// redrawn with every reading.
func (s *standing) observe(w record.Worker) {
	if w.Close == nil {
		s.introduce(w)
		return
	}
	before := w.Open
	if s.last != nil {
		before = s.last
	}
	if w.Close.Reading.AtNs-before.Reading.AtNs < int64(rewriteEvery) {
		return
	}
	s.last = w.Close
	s.out.redraw(rates(w, before))
}

func (s *standing) introduce(w record.Worker) {
	wire := wireSpoken(s.catalog, w)
	where := "wherever the scheduler puts it"
	if len(w.CPUSet) > 0 {
		where = "on CPU " + cpuset.Format(w.CPUSet)
	}
	fmt.Fprintf(s.out, "%s listens on %s, wire %s, %s\n", w.Transport, strings.Join(w.Ready.Addresses, " "), wire, where)
	for _, line := range drive(wire, w) {
		fmt.Fprintf(s.out, "  %s\n", line)
	}
	fmt.Fprintf(s.out, "  netdyno run %s --rig at:%s\n", strings.Join(quoted(s.arguments), " "), reachable(w.Ready.Addresses[0]))
	fmt.Fprintln(s.out, "Ctrl-C ends it")
}

// reachable is the address that a client elsewhere would take: of a server
// that listens on every address of the host, the host's name.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return address
	}
	if name, err := os.Hostname(); err == nil {
		return net.JoinHostPort(name, port)
	}
	return address
}

// quoted puts single quotes around what a shell would take apart.
func quoted(words []string) []string {
	var out []string
	for _, w := range words {
		if strings.ContainsAny(w, " \t\n'\"\\$&|;<>()*?[]#~`!{}") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return out
}

// segment says what the server did while it was driven once.
func (s *standing) segment(r record.Record) {
	s.out.clear()
	s.times++
	if whole, ok := record.SpanOf(&r.Workers[0]); ok {
		s.addCost(whole)
	}
	var parts []string
	w := record.NewWindow(&r)
	for _, m := range metric.OfSegments() {
		if x, ok := m.In(w); ok {
			parts = append(parts, inWords(m, x))
		}
	}
	fmt.Fprintf(s.out, "%3d  %s\n", r.Segment.Number, strings.Join(parts, "  "))
}

// inWords prints one figure of a segment.
func inWords(m metric.Metric, x float64) string {
	switch m.Unit {
	case "1/s":
		return quantity.FormatRate(x)
	case "B/s":
		return quantity.FormatByteRate(x)
	case "B":
		return m.Doc + " " + quantity.FormatBytes(x)
	case "s/s":
		return fmt.Sprintf("%.2f cores", x)
	case "µs":
		return fmt.Sprintf("%s µs CPU per exchange", quantity.FormatCount(x))
	case "s/GB":
		return fmt.Sprintf("%s s per GB", quantity.FormatCount(x))
	}
	return fmt.Sprintf("%s %s", m.Doc, quantity.FormatCount(x))
}

// rates is the status line: what happened since the reading before.
func rates(w record.Worker, before *record.Edge) string {
	since := record.Span{Worker: &w, From: *before, To: *w.Close}
	var parts []string
	if seconds, ok := since.Seconds(); ok && !w.Ready.Foreign {
		from, to := since.From.Reading.Counts, since.To.Reading.Counts
		parts = append(parts,
			quantity.FormatRate(float64(to.Exchanges-from.Exchanges)/seconds),
			"up "+quantity.FormatByteRate(float64(to.ReceivedBytes-from.ReceivedBytes)/seconds),
			"down "+quantity.FormatByteRate(float64(to.SentBytes-from.SentBytes)/seconds),
			quantity.FormatCount(float64(to.Connections))+" connections")
	}
	if cores, ok := since.Cores(); ok && !w.Elsewhere() {
		parts = append(parts, fmt.Sprintf("%.2f cores", cores), quantity.FormatBytes(float64(since.To.Meter.Process.RSSBytes)))
	}
	return strings.Join(parts, "  ")
}

// sum prints what the server did from its first reading to its last. The cost is
// that of the times in which a client drove the server: the CPU time of an idle
// server, which answers its meter, belongs to no exchange.
func (s *standing) sum(w record.Worker) {
	span, ok := record.SpanOf(&w)
	seconds, long := span.Seconds()
	if !ok || !long {
		fmt.Fprintln(s.out, "no figures: the server ended before it was first read")
		return
	}
	fmt.Fprintf(s.out, "\nin %s, %s", quantity.FormatDuration(time.Duration(seconds*float64(time.Second))), times(s.times))
	if w.Ready.Foreign {
		fmt.Fprintln(s.out, ": a foreign program, whose exchanges cannot be counted")
	} else {
		s.sumCounts(span)
	}
	if s.times == 0 {
		s.addCost(span)
	}
	s.sumCost(span)
}

func times(n int) string {
	switch n {
	case 0:
		return "not driven"
	case 1:
		return "driven once"
	}
	return fmt.Sprintf("driven %d times", n)
}

func (s *standing) sumCounts(span record.Span) {
	from, to := span.From.Reading.Counts, span.To.Reading.Counts
	fmt.Fprintf(s.out, ": %s exchanges, %s up, %s down\n", quantity.FormatCount(float64(to.Exchanges-from.Exchanges)),
		quantity.FormatBytes(float64(to.ReceivedBytes-from.ReceivedBytes)), quantity.FormatBytes(float64(to.SentBytes-from.SentBytes)))
	for _, kind := range slices.Sorted(maps.Keys(to.Errors)) {
		fmt.Fprintf(s.out, "  %d errors of kind %s\n", to.Errors[kind]-from.Errors[kind], kind)
	}
}

// addCost adds what the server spent in a span.
func (s *standing) addCost(span record.Span) {
	_, _, seconds, ok := span.Metered()
	cores, known := span.Cores()
	if ok && known && !span.Worker.Elsewhere() {
		s.cpu += cores * seconds
		s.seconds += seconds
	}
}

func (s *standing) sumCost(span record.Span) {
	if s.seconds == 0 {
		return
	}
	fmt.Fprintf(s.out, "CPU %s, %.2f cores", quantity.FormatDuration(time.Duration(s.cpu*float64(time.Second))), s.cpu/s.seconds)
	from, to := span.From.Reading.Counts, span.To.Reading.Counts
	exchanges, down := float64(to.Exchanges-from.Exchanges), float64(to.SentBytes-from.SentBytes)
	if exchanges > 0 && !span.Worker.Ready.Foreign {
		fmt.Fprintf(s.out, ", %s per exchange", quantity.FormatDuration(time.Duration(s.cpu/exchanges*float64(time.Second))))
		if down > 0 {
			fmt.Fprintf(s.out, ", %s s per GB sent", quantity.FormatCount(s.cpu/down*1e9))
		}
	}
	process := span.To.Meter.Process
	fmt.Fprintf(s.out, "; memory %s, at most %s\n", quantity.FormatBytes(float64(process.RSSBytes)), quantity.FormatBytes(float64(process.PeakRSSBytes)))
}
