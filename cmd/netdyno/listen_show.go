package main

import (
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

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
	last      *record.Edge // the reading before

	cpu, seconds float64 // between readings in which anything was exchanged: CPU time in seconds, and how long
}

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
	s.last = w.Close
	since := record.Span{Worker: &w, From: *before, To: *w.Close}
	s.addCost(since)
	s.out.redraw(rates(since))
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

// rates is the status line: what happened since the reading before.
func rates(since record.Span) string {
	w := since.Worker
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
// that of the seconds in which anything was exchanged: the CPU time of an idle
// server, which answers its meter, belongs to no exchange.
func (s *standing) sum(w record.Worker) {
	span, ok := record.SpanOf(&w)
	seconds, long := span.Seconds()
	if !ok || !long {
		fmt.Fprintln(s.out, "no figures: the server ended before it was first read")
		return
	}
	fmt.Fprintf(s.out, "\nin %s", quantity.FormatDuration(time.Duration(seconds*float64(time.Second))))
	if w.Ready.Foreign {
		fmt.Fprintln(s.out, ": a foreign program, whose exchanges cannot be counted")
	} else {
		s.sumCounts(span)
	}
	s.sumCost(span)
}

func (s *standing) sumCounts(span record.Span) {
	from, to := span.From.Reading.Counts, span.To.Reading.Counts
	fmt.Fprintf(s.out, ": %s exchanges, %s up, %s down\n", quantity.FormatCount(float64(to.Exchanges-from.Exchanges)),
		quantity.FormatBytes(float64(to.ReceivedBytes-from.ReceivedBytes)), quantity.FormatBytes(float64(to.SentBytes-from.SentBytes)))
	for _, kind := range slices.Sorted(maps.Keys(to.Errors)) {
		fmt.Fprintf(s.out, "  %d errors of kind %s\n", to.Errors[kind]-from.Errors[kind], kind)
	}
}

// addCost adds what the server spent in a span in which anything was exchanged, or may
// have been.
func (s *standing) addCost(span record.Span) {
	from, to := span.From.Reading.Counts, span.To.Reading.Counts
	_, _, seconds, ok := span.Metered()
	cores, known := span.Cores()
	moved := to.Exchanges+to.ReceivedBytes+to.SentBytes > from.Exchanges+from.ReceivedBytes+from.SentBytes
	if ok && known && !span.Worker.Elsewhere() && (moved || span.Worker.Ready.Foreign) {
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
