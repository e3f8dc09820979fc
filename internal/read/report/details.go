package report

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// What the tables of details show, of each end where the name begins with a
// point.
var (
	ofRuntime = []string{
		"." + metric.GCShare, "." + metric.GCCycles, "." + metric.GCPauses, "." + metric.GCPausePerCycle, "." + metric.AllocPerExchange,
		"." + metric.Goroutines, "." + metric.Heap, "." + metric.HeapSys, "." + metric.StackSys,
	}
	ofPath = []string{
		metric.LinkRateShare, metric.LinkRxBytes, metric.LinkTxBytes, metric.LinkRxPackets, metric.LinkTxPackets,
		metric.SlowestConnection, metric.FastestConnection, "." + metric.Threads, "." + metric.RSS,
	}
)

// details are a cell's tables between the main one and that of every metric:
// each client by itself, what the runtime did, what the interfaces carried.
func (l *layout) details(c cells.Cell) []part.Table {
	tables := []part.Table{
		l.clientTable(c),
		l.byMetric(c, measuredOf(c, ofRuntime), "The runtime in the window: garbage collection, goroutines, memory; – where a worker has none. Mean over blocks with its 95 % interval.", false),
		l.byMetric(c, measuredOf(c, ofPath), "Interfaces, connections, threads and memory. Mean over blocks with its 95 % interval.", false),
	}
	return slices.DeleteFunc(tables, func(t part.Table) bool { return len(t.Rows) == 0 && len(t.Notes) == 0 })
}

// measuredOf resolves names against what the cell measured.
func measuredOf(c cells.Cell, names []string) []string {
	measured := metricsOf(c)
	var chosen []string
	for _, end := range []string{"server", "client"} {
		for _, name := range names {
			if name[0] == '.' {
				name = end + name
			}
			if slices.Contains(measured, name) && !slices.Contains(chosen, name) {
				chosen = append(chosen, name)
			}
		}
	}
	return chosen
}

// clientTable has a row for each client of each arm; none where there is but
// one. Units are the cell's, so that the clients compare with the sum above them.
func (l *layout) clientTable(c cells.Cell) part.Table {
	t := part.Table{
		Caption: "Each client by itself. Mean over blocks with its 95 % interval; geometric means add up only nearly.",
		Columns: []part.Column{{Title: "arm", Kind: part.Arms}, {Title: "client"}},
	}
	var metrics []string
	for _, a := range c.Arms {
		for _, client := range a.Clients {
			for _, m := range client.Metrics {
				if !slices.Contains(metrics, m.Metric) {
					metrics = append(metrics, m.Metric)
				}
			}
		}
	}
	for _, name := range metrics {
		t.Columns = append(t.Columns, metricColumn(name, scaleOf(c, name)))
	}
	for _, a := range c.Arms {
		for _, client := range a.Clients {
			row := []part.Datum{l.armDatum(a), part.Word(client.Name)}
			alone := cells.Arm{Metrics: client.Metrics}
			for _, name := range metrics {
				row = append(row, armFigure(alone, name, scaleOf(c, name)))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
