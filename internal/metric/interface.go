package metric

import (
	"fmt"
	"math"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// interfaceMetrics are what the clients' interfaces carried each second, and
// which share of its nominal rate the busiest interface carried.
func interfaceMetrics() []Metric {
	const from = "%s per second by the busiest interface of each client's host, headers and other traffic included; loopback counts every packet in both directions"
	const alike = "%s per second, counted as link_rx_bytes_per_s counts bytes"
	rate := func(name, unit, label, doc, formula string, of func(contract.Interface) int64) Metric {
		return Metric{
			Name: name, Unit: unit, Label: label, Doc: doc, Formula: formula,
			in: func(w *record.Window) (float64, bool) {
				return overHosts(w, meteredSeconds, func(_ string, before, after contract.Interface) float64 {
					return record.Growth(of(before), of(after))
				})
			},
		}
	}
	return []Metric{
		rate(LinkRxBytes, "B/s", "interfaces received", "bytes received by the interfaces", fmt.Sprintf(from, "bytes received"),
			func(i contract.Interface) int64 { return i.ReceivedBytes }),
		rate(LinkTxBytes, "B/s", "interfaces sent", "bytes sent by the interfaces", fmt.Sprintf(from, "bytes sent"),
			func(i contract.Interface) int64 { return i.SentBytes }),
		rate(LinkRxPackets, "1/s", "packets received", "packets received by the interfaces", fmt.Sprintf(alike, "packets received"),
			func(i contract.Interface) int64 { return i.ReceivedPackets }),
		rate(LinkTxPackets, "1/s", "packets sent", "packets sent by the interfaces", fmt.Sprintf(alike, "packets sent"),
			func(i contract.Interface) int64 { return i.SentPackets }),
		{
			Name: LinkRateShare, Unit: "share", Label: "share of the link's rate", Doc: "share of the link's nominal rate",
			Formula: "bits per second in the busier direction of the busiest interface of any end, the headers of every packet included, ÷ its nominal rate, which is the lower of factor link.rate and the card's speed; never on loopback",
			in:      linkRateShare,
		},
	}
}

// overHosts sums what grew on the clients' busiest interfaces, each divided by its
// length: clients of one host see the same interfaces, which count once, by the
// client that saw the most of them. A growth below 0 is unknown, and so is the sum.
func overHosts(w *record.Window, length spanLength, grown func(name string, before, after contract.Interface) float64) (float64, bool) {
	clients, ok := w.Spans(contract.Client)
	if !ok || w.Alternated() {
		return 0, false
	}
	hosts := map[string]float64{}
	for _, s := range clients {
		name, known := s.BusiestInterface()
		l, timed := length(s)
		if !known || !timed {
			return 0, false
		}
		before, _ := s.From.Meter.Interfaces.Of(name)
		after, _ := s.To.Meter.Interfaces.Of(name)
		more := grown(name, before, after)
		if more < 0 {
			return 0, false
		}
		hosts[s.Worker.Seat] = max(hosts[s.Worker.Seat], more/l)
	}
	sum := 0.0
	for _, x := range hosts {
		sum += x
	}
	return sum, true
}

// linkRateShare is the largest share over all ends: where two clients meet one
// server, its cable is full before theirs are.
func linkRateShare(w *record.Window) (float64, bool) {
	most, known := 0.0, false
	for i := range w.Record.Workers {
		worker := &w.Record.Workers[i]
		span, ok := w.Span(worker)
		if !ok || worker.Elsewhere() {
			continue
		}
		name, carried := span.BusiestInterface()
		length, timed := meteredSeconds(span)
		if !carried || !timed || name == record.Loopback {
			continue
		}
		nominal, rated := nominal(w, worker.Seat+"/"+name)
		if !rated {
			continue
		}
		busier := max(onWire(span, name))
		if busier < 0 {
			return 0, false
		}
		most, known = max(most, busier/length*8/nominal), true
	}
	return most, known
}

// frameHeaders are what precedes the payload of a TCP segment: Ethernet, IPv4, TCP
// and its timestamps.
const frameHeaders = 14 + 20 + 32

// onWire returns the bytes that an interface received and sent in a span as its link
// carried them. Where the kernel hands several segments to an interface as one
// packet, the interface counts their headers once: the queueing discipline in front of
// it counts each, and where there is none, segments of the connections' size are
// taken to fill what was counted. Source: "Segmentation Offloads" of Linux,
// Documentation/networking/segmentation-offloads.rst.
func onWire(s record.Span, name string) (received, sent float64) {
	before, _ := s.From.Meter.Interfaces.Of(name)
	after, _ := s.To.Meter.Interfaces.Of(name)
	segment := 0.0
	if _, to, ok := s.TCP(); ok {
		segment = float64(to.SegmentBytes)
	}
	whole := func(bytes, packets float64) float64 {
		if segment == 0 || bytes <= packets*(segment+frameHeaders) {
			return bytes
		}
		return (bytes - packets*frameHeaders) * (segment + frameHeaders) / segment
	}
	received = whole(record.Growth(before.ReceivedBytes, after.ReceivedBytes), record.Growth(before.ReceivedPackets, after.ReceivedPackets))
	sent = whole(record.Growth(before.SentBytes, after.SentBytes), record.Growth(before.SentPackets, after.SentPackets))
	if before.Queue != nil && after.Queue != nil {
		sent = max(sent, record.Growth(before.Queue.SentBytes, after.Queue.SentBytes))
	}
	return received, sent
}

// nominal returns the rate of an interface, "seat/eth0", in bits per second.
func nominal(w *record.Window, name string) (float64, bool) {
	lowest := math.Inf(1)
	if rate, err := quantity.ParseBitRate(w.Record.Trial.Levels["link.rate"]); err == nil && rate > 0 {
		lowest = float64(rate)
	}
	if rate := w.Nominal[name]; rate > 0 {
		lowest = min(lowest, rate)
	}
	return lowest, !math.IsInf(lowest, 1)
}

// linkMetrics are what crossed the link for one exchange: payload, headers,
// acknowledgements and retransmissions, both directions.
func linkMetrics() []Metric {
	const bytes = "bytes sent and received by the busiest interface of each client's host ÷ exchanges; other traffic counts too; on loopback, which sees everything twice, counted once"
	return []Metric{
		{
			Name: "link_bytes_per_exchange", Unit: "B", Suffix: "/exchange", Better: Lower, Label: "bytes on the link", Doc: "bytes on the link per exchange",
			Formula: bytes,
			in: func(w *record.Window) (float64, bool) {
				return perLink(w, func(i contract.Interface) (received, sent int64) { return i.ReceivedBytes, i.SentBytes })
			},
		},
		{
			Name: "link_packets_per_exchange", Unit: "1", Suffix: "/exchange", Better: Lower, Label: "packets on the link", Doc: "packets on the link per exchange",
			Formula: "packets sent and received ÷ exchanges, counted as link_bytes_per_exchange counts bytes",
			in: func(w *record.Window) (float64, bool) {
				return perLink(w, func(i contract.Interface) (received, sent int64) { return i.ReceivedPackets, i.SentPackets })
			},
		},
	}
}

// perLink sums an interface's counters over the clients' hosts, both directions;
// on loopback, where what is sent is received too, once.
func perLink(w *record.Window, of func(contract.Interface) (received, sent int64)) (float64, bool) {
	sum, ok := overHosts(w, costLength(w, meteredSeconds), func(name string, before, after contract.Interface) float64 {
		receivedBefore, sentBefore := of(before)
		received, sent := of(after)
		if name == record.Loopback {
			return record.Growth(sentBefore, sent)
		}
		return record.Growth(sentBefore, sent) + record.Growth(receivedBefore, received)
	})
	return perExchange(w, sum, ok && sum > 0)
}
