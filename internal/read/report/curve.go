package report

import (
	"slices"

	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// Curve shows times by percentile, a line per arm.
type Curve struct {
	Axis  string      `json:"axis"`
	Lines []CurveLine `json:"lines"`
}

// CurveLine is an arm's times by percentile, of all trials together, as the
// tables' percentiles are: pairs of share and time in ns.
type CurveLine struct {
	Arm    int          `json:"arm"`
	Name   string       `json:"name"`
	Points [][2]float64 `json:"points"`
	Marks  []CurveMark  `json:"marks"`
}

// CurveMark is a point that the tables print too, if it has a metric, with the
// text that the pointer shows.
type CurveMark struct {
	Share  float64 `json:"share"`
	Ns     float64 `json:"ns"`
	Metric string  `json:"metric,omitempty"`
	Text   string  `json:"text"`
}

// maxCurvePoints bounds the points of a line.
const maxCurvePoints = 160

// curve draws response times where there are any: a closed loop has none, and
// is labelled as what it is.
func (l *layout) curve(c cells.Cell) (part.Heading, *Curve) {
	open := slices.ContainsFunc(c.Arms, func(a cells.Arm) bool { return len(a.Response) > 0 })
	kind, of := record.Service, func(a cells.Arm) []hist.Point { return a.Service }
	note := "Service time, counted from the actual send: a closed loop has no response time."
	if open {
		kind, of = record.Response, func(a cells.Arm) []hist.Point { return a.Response }
		note = "Response time, counted from when the request was due, so that waiting for a late send counts."
	}
	curve, atLeast := &Curve{Axis: kind + " time"}, false
	for _, a := range c.Arms {
		line := CurveLine{Arm: l.place[a.Name], Name: a.Name, Points: [][2]float64{}, Marks: []CurveMark{}}
		for _, p := range of(a) {
			if p.Ns > 0 && p.Share >= 0 && p.Share < 1 && len(line.Points) < maxCurvePoints {
				line.Points = append(line.Points, [2]float64{p.Share, float64(p.Ns)})
				line.mark(c, a, p, kind)
				atLeast = atLeast || p.AtLeast
			}
		}
		if len(line.Points) > 1 {
			curve.Lines = append(curve.Lines, line)
		}
	}
	if len(curve.Lines) == 0 {
		return part.Heading{}, nil
	}
	if atLeast {
		note += " Where a figure has ≥ it is a lower bound, and so is the line from there on: exchanges that were left unfinished count at the age that they had reached."
	}
	return part.Heading{
		Title: part.Capital(kind) + " time by percentile",
		Caption: note + " Each point is a percentile of all trials together, as in the tables; a line ends where fewer than 10 samples lie beyond. " +
			"Both axes are logarithmic; to the right each step is a tenth of the tail.",
	}, curve
}

// deepShares are the shares of a curve that carry a mark beside those that are
// metrics.
var deepShares = []float64{0.9999, 0.99999}

// mark adds a mark to a point that has one: the table's own text where the table
// has this percentile.
func (line *CurveLine) mark(c cells.Cell, a cells.Arm, p hist.Point, kind string) {
	one := CurveMark{Share: p.Share, Ns: float64(p.Ns)}
	us := one.Ns / 1000
	marked := slices.Contains(deepShares, p.Share)
	for _, known := range metric.Percentiles {
		if known.Share != p.Share {
			continue
		}
		marked = true
		name := metric.PercentileName(kind, known.Name)
		if summary, ok := a.Summary(name); ok {
			s := scaleOf(c, name)
			one.Metric, one.Text = name, figureText(summary, s)+" "+s.Unit
			marked = summary.Known()
		}
	}
	if one.Text == "" {
		one.Text = atLeastText(part.WithUnit(us, part.ScaleFor(metric.PercentileName(kind, metric.Percentiles[0].Name), us)), p.AtLeast)
	}
	if marked {
		line.Marks = append(line.Marks, one)
	}
}
