package report

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
)

// What the tables of details show, of each end where the name begins with a
// point.
var (
	ofRuntime = []string{
		".gc_cpu_share", ".gc_cycles_per_s", ".gc_pause_us_per_s", ".gc_pause_us_per_cycle", ".alloc_bytes_per_exchange",
		".goroutines", ".heap_bytes", ".heap_sys_bytes", ".stack_sys_bytes",
	}
	ofPath = []string{
		"link_rate_share", "link_rx_bytes_per_s", "link_tx_bytes_per_s", "link_rx_packets_per_s", "link_tx_packets_per_s",
		"slowest_connection_bytes_per_s", "fastest_connection_bytes_per_s", ".threads", ".rss_bytes",
	}
)

// details are a cell's tables between the main one and that of every metric:
// each client by itself, what the runtime did, what the interfaces carried.
func (l *layout) details(c cells.Cell) []Table {
	tables := []Table{
		l.clientTable(c),
		l.turned(c, measuredOf(c, ofRuntime), "The runtime in the window: garbage collection, goroutines, memory; – where a worker has none. Mean over blocks with 95 % interval."),
		l.turned(c, measuredOf(c, ofPath), "Interfaces, connections, threads and memory. Mean over blocks with 95 % interval."),
	}
	return slices.DeleteFunc(tables, func(t Table) bool { return len(t.Rows) == 0 })
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

// turned is a table of metrics by arms: metrics are many, arms are few.
func (l *layout) turned(c cells.Cell, metrics []string, caption string) Table {
	t := Table{Caption: caption, Columns: head("metric", "unit")}
	for _, a := range c.Arms {
		t.Columns = append(t.Columns, Column{Title: a.Name, Number: true})
	}
	for _, metric := range metrics {
		s := scaleOf(c, metric)
		row := words(metric, s.Unit)
		for _, a := range c.Arms {
			datum := Datum{Text: "–"}
			if m, ok := summaryOf(a, metric); ok {
				datum = figureOf(a, m, s)
			}
			row = append(row, datum)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = arithmetic(c, metrics)
	return t
}

// clientTable has a row for each client of each arm; none where there is but
// one. Units are the cell's, so that the clients compare with the sum above them.
func (l *layout) clientTable(c cells.Cell) Table {
	t := Table{
		Caption: "Each client by itself. Mean over blocks with 95 % interval; geometric means add up only nearly.",
		Columns: head("arm", "client"),
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
	for _, metric := range metrics {
		col, _ := column(c, metric)
		t.Columns = append(t.Columns, col)
	}
	for _, a := range c.Arms {
		for _, client := range a.Clients {
			row := []Datum{l.armDatum(a), {Text: client.Name}}
			for _, metric := range metrics {
				row = append(row, clientDatum(client, metric, scaleOf(c, metric)))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func clientDatum(client cells.Client, metric string, s metric.Scale) Datum {
	for _, m := range client.Metrics {
		if m.Metric == metric {
			return figureOf(cells.Arm{}, m, s)
		}
	}
	return Datum{Text: "–"}
}

// besides has the cell's declared comparisons of two arms of which neither is
// the baseline; nil where there is none.
func (l *layout) besides(c cells.Cell) *Table {
	t := Table{Caption: "Compared besides", Columns: head("arms", "metric", "#its figure", "#the other's", "#ratio", "verdict")}
	for _, cmp := range l.Comparisons {
		if !cmp.Primary || cmp.Cell != c.Name || cmp.Base == "" || cmp.Base == l.Header.Study.Compare.Baseline {
			continue
		}
		value, other := quotientOf(cmp)
		row := words(l.pairText(cmp), labelOf(cmp.Metric), value, other, ratioOrNone(cmp), string(cmp.Verdict))
		if cmp.Ratio > 0 {
			row[4].Detail = ratioInterval(cmp.Low, cmp.High)
		}
		row[5].Verdict = cmp.Verdict
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return &t
}
