package report

import (
	"io"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/part"
)

// ForecastText writes for a terminal what a load will need. From names the runs that
// the models are of. The error is w's.
func ForecastText(w io.Writer, f cost.Forecast, from string, opt TextOptions) error {
	t := newTerminal(opt)
	t.title(f.Load.Title(), "")
	t.paragraph("", "Models of "+from+".")
	for _, c := range forecastStamps(f) {
		t.paragraph("  ", c)
	}
	t.line("")
	if len(f.Choices) > 0 {
		t.table(forecastTable(f))
	}
	for _, s := range f.Sentences() {
		t.paragraph("", s)
	}
	if len(f.Choices) > 0 {
		t.line("")
		t.paragraph("", "Intervals are 95 %: of the blocks, widened by what the models miss. Costs are those of busy CPUs, and are taken to grow with the rate and not with the cores.")
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

// forecastStamps says of which versions and machines the choices are.
func forecastStamps(f cost.Forecast) []string {
	var all []string
	for _, c := range f.Choices {
		if stamp := part.Joined(" on ", c.With, c.On); stamp != "" && !slices.Contains(all, stamp) {
			all = append(all, stamp)
		}
	}
	return all
}

func forecastTable(f cost.Forecast) part.Table {
	t := part.Table{Columns: slices.Concat(part.OfKind(part.Arms, ""), part.Figures("cores/server", "cores/client", "memory", "link", "connections"), part.Titles(""))}
	for _, c := range f.Choices {
		var marks []string
		if len(c.Rough) > 0 {
			marks = append(marks, "rough")
		}
		if len(c.Beyond) > 0 {
			marks = append(marks, "extrapolated")
		}
		link := part.Missing()
		for _, limit := range c.Limits {
			if limit.Name == "link" {
				link = part.Value(quantity.FormatShare(limit.Share), "")
			}
		}
		connections := quantity.FormatCount(c.Connections)
		if !c.Whole() && f.Load.Connections == 0 {
			connections = "≥ " + connections
		}
		t.Rows = append(t.Rows, []part.Datum{
			part.Word(part.Joined(" ", c.Arm, c.At)), forecastCores(c.Server.Cores), forecastCores(c.Client.Cores),
			part.Word(cost.MemoryWords(c.Server.Memory) + ", " + cost.MemoryWords(c.Client.Memory)), link,
			part.Value(connections, ""), part.Word(strings.Join(marks, ", ")),
		})
	}
	return t
}

func forecastCores(f *cost.Figure) part.Datum {
	if f == nil {
		return part.Missing()
	}
	return part.Amount(f.Value, f.Low, f.High, metric.Scale{Factor: 1})
}
