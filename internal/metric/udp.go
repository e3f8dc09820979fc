package metric

import (
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// udpMetrics are what the kernel counts of UDP, by end: of the end's own sockets, and
// of its network namespace, which on loopback is that of both ends.
func udpMetrics() []Metric {
	return slices.Concat(
		udpRate(Metric{
			Name: UDPDrops, Label: "UDP drops", Heading: "dropped at its sockets", Doc: "datagrams dropped at its UDP sockets",
			Formula: "datagrams that found a receive buffer of the end's own sockets full ÷ time",
		}, func(g record.UDPGrowth) (float64, bool) { return g.Drops, g.Sockets > 0 }),
		udpRate(Metric{
			Name: UDPUndelivered, Label: "UDP not delivered", Heading: "not delivered", Doc: "UDP datagrams not delivered",
			Formula: "datagrams that came to the end's network namespace and reached no socket, for whatever reason ÷ time; on loopback those of both ends",
		}, func(g record.UDPGrowth) (float64, bool) { return g.NotIn, true }),
		udpRate(Metric{
			Name: UDPFailedSends, Label: "UDP failed sends", Heading: "failed sends", Doc: "UDP sends that failed",
			Formula: "sends of the end's network namespace that failed because a buffer was full ÷ time; on loopback those of both ends",
		}, func(g record.UDPGrowth) (float64, bool) { return g.NotOut, true }),
		[]Metric{{
			Name: DatagramsPerSend, Unit: "1", Suffix: "/send", Label: "datagrams per UDP send", Heading: "datagrams per send", Doc: "UDP datagrams per send",
			Formula: "datagrams delivered ÷ sends, in the network namespaces of both ends; above 1 where the kernel takes several datagrams in one call (UDP_SEGMENT)",
			in:      datagramsPerSend,
		}},
	)
}

// udpRate makes both ends' metric of what grew, each second.
func udpRate(m Metric, of func(record.UDPGrowth) (float64, bool)) []Metric {
	m.Unit, m.Better = "1/s", Lower
	return bothEnds(m, func(_ *record.Window, spans []record.Span) (float64, bool) {
		g, ok := record.UDPGrowthOf(spans)
		if !ok || g.Seconds <= 0 {
			return 0, false
		}
		grown, ok := of(g)
		return grown / g.Seconds, ok
	})
}

// datagramsPerSend adds up both ends, which is right where they share a namespace,
// counted twice then, and where each has its own.
func datagramsPerSend(w *record.Window) (float64, bool) {
	in, out := 0.0, 0.0
	for _, end := range []contract.Role{contract.Server, contract.Client} {
		spans, ok := w.Spans(end)
		if !ok {
			return 0, false
		}
		g, ok := record.UDPGrowthOf(spans)
		if !ok {
			return 0, false
		}
		in, out = in+g.In, out+g.Out
	}
	return in / out, out > 0
}
