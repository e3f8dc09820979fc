package report

import (
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// Dots shows one metric with a dot per trial, from zero.
type Dots struct {
	Metric string       `json:"metric"`
	Axis   string       `json:"axis"`
	Scale  metric.Scale `json:"scale"`
	Rows   []DotRow     `json:"rows"`
}

// DotRow is one arm's figure, and its trials in the order of their blocks.
type DotRow struct {
	Arm   int     `json:"arm"`
	Name  string  `json:"name"`
	Label string  `json:"label"` // as in the tables: "5.87 (5.80–5.94)"; empty without a valid trial
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Dots  []Dot   `json:"dots"`
}

// Dot is one trial's value.
type Dot struct {
	Trial  string  `json:"trial"`
	Block  int     `json:"block"`
	Value  float64 `json:"value"`
	Repeat bool    `json:"repeat,omitempty"`
	Status string  `json:"status,omitempty"` // empty when valid
}

// maxDots bounds the trials of an arm that are drawn.
const maxDots = 60

// dots draws a metric of one cell; nil when no trial has it.
func (l *layout) dots(c cells.Cell, name string) (part.Heading, *Dots) {
	s := scaleOf(c, name)
	d := &Dots{Metric: name, Axis: part.AxisTitle(name, s), Scale: s}
	drawn, cut := false, false
	for _, a := range c.Arms {
		row := DotRow{Arm: l.place[a.Name], Name: a.Name, Dots: []Dot{}}
		if m, ok := a.Summary(name); ok && part.Finite(m.Value) && part.Finite(m.Low) && part.Finite(m.High) {
			row.Value, row.Low, row.High = part.Brief(m.Value), part.Brief(m.Low), part.Brief(m.High)
			if !m.Sure() || m.AtLeast {
				row.Low, row.High = row.Value, row.Value
			}
			row.Label = figureOf(m, s).Figure.Full()
		}
		for _, t := range a.Trials {
			v, ok := t.Values.Of(name)
			if !ok || !part.Finite(v) || v < 0 {
				continue
			}
			if len(row.Dots) == maxDots {
				cut = true
				break
			}
			row.Dots = append(row.Dots, Dot{Trial: t.ID, Block: t.Block, Value: part.Brief(v), Repeat: t.Repeat, Status: unlessValid(t.Status)})
		}
		drawn = drawn || len(row.Dots) > 0
		d.Rows = append(d.Rows, row)
	}
	caption := "One dot per trial, blocks from top to bottom; hollow dots are the baseline's repeat, crosses trials that are not valid. " +
		"The bar is the mean over blocks, the line its 95 % interval. The axis starts at zero."
	if cut {
		caption += fmt.Sprintf(" The first %d trials of each arm are drawn.", maxDots)
	}
	if !drawn {
		return part.Heading{}, nil
	}
	return part.Heading{Title: part.Capital(part.Label(name)) + " by trial", Caption: caption}, d
}

// unlessValid is the status of a trial that has no place in the figures.
func unlessValid(status string) string {
	if status == trial.Valid {
		return ""
	}
	return status
}
