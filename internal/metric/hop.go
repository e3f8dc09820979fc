package metric

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Names of the metrics of a path that other packages speak of.
const (
	HopCPU           = "hop.cpu_us_per_exchange"
	HopRSS           = "hop.rss_bytes"
	HopConnectionRSS = "hop.connection_rss_bytes"
	PathCPU          = "path_cpu_us_per_exchange"
)

// hopMetrics are what lies between clients and server, all hops together. A trial without
// a hop has none of them but the sum over its path, which is the server's.
func hopMetrics() []Metric {
	server, hops := ofRole(contract.Server, cpuPerExchange), ofRole(contract.Hop, cpuPerExchange)
	return []Metric{
		{
			Name: HopCPU, Unit: "µs", Suffix: "/exchange", Better: Lower, Label: "hop CPU", Heading: "hop CPU", Doc: "hop CPU per exchange",
			Formula: "cores × 10⁶ ÷ exchanges_per_s; of a fixed amount of work, CPU time ÷ exchanges",
			in:      hops,
		},
		{
			Name: PathCPU, Unit: "µs", Suffix: "/exchange", Better: Lower, Label: "path CPU", Heading: "path CPU", Doc: "path CPU per exchange",
			Formula: "server.… + hop.cpu_us_per_exchange; with factor path",
			in: func(w *record.Window) (float64, bool) {
				level := w.Record.Trial.Levels[record.PathFactor]
				atServer, ok := server(w)
				between, known := hops(w)
				return atServer + between, ok && (known && level != "" || level == record.Direct)
			},
		},
		{
			Name: HopRSS, Unit: "B", Better: Lower, Label: "hop RSS", Heading: "hop RSS", Doc: "hop memory",
			Formula: "resident memory (RSS) of the process tree as the window closes",
			in:      ofRole(contract.Hop, atEdge(atClose, ofProcess(rssBytes))),
		},
		{
			Name: HopConnectionRSS, Unit: "B", Suffix: "/connection", Label: "hop RSS per connection", Heading: "hop RSS/connection", Doc: "hop memory per connection",
			Formula: "growth of hop.rss_bytes since ready ÷ connections, if ≥ 100",
			in:      ofRole(contract.Hop, connectionRSS),
		},
	}
}

// fewConnections are so few that what a program takes at its first request, whoever asks,
// would be most of what each seems to cost.
const fewConnections = 100

// connectionRSS is the growth of the hops' memory from when they listen to the window's
// end, for each connection of the clients.
func connectionRSS(w *record.Window, spans []record.Span) (float64, bool) {
	end, ok := atEdge(atClose, ofProcess(rssBytes))(w, spans)
	begin, known := atEdge(atReady, ofProcess(rssBytes))(w, spans)
	connections := 0
	for _, g := range w.Generators() {
		if g.Setup != nil {
			connections += g.Setup.Load.Connections
		}
	}
	return (end - begin) / float64(connections), ok && known && connections >= fewConnections && end >= begin
}
