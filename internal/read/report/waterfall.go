package report

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/ladder"
)

// Waterfall shows how steps lead from one arm's figure to another's, on a log axis:
// a bar is as long as the step's share of the whole.
type Waterfall struct {
	Axis   Axis            `json:"axis"`
	Groups []WaterfallCell `json:"groups"`
}

// WaterfallCell is the bars of one cell, the first arm's and the whole's included.
type WaterfallCell struct {
	Cell int            `json:"cell,omitempty"` // number of the cell, from 1; 0 where the page has none
	Name string         `json:"name"`
	Bars []WaterfallBar `json:"bars"`
}

// WaterfallBar leads from one figure to the next. The first arm's has no length.
type WaterfallBar struct {
	Arm   int     `json:"arm"` // that it leads to
	Name  string  `json:"name"`
	Label string  `json:"label"` // "1.25× (1.20–1.31), 46 %"
	Hint  string  `json:"hint"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Low   float64 `json:"low"` // the interval of To, From standing
	High  float64 `json:"high"`
	Told  bool    `json:"told"`  // apart from 1
	Whole bool    `json:"whole"` // it is no step
}

// waterfall draws the cells that have steps.
func (l *layout) waterfall(splits []ladder.Split, scale metric.Scale) Figure {
	w := &Waterfall{Axis: Axis{Title: axisTitle(splits[0].Metric, scale) + ", log scale", Scale: scale, Log: true}}
	for _, p := range splits {
		if bars := l.bars(p, scale); len(bars) > 0 {
			place := slices.IndexFunc(l.Cells, func(c cells.Cell) bool { return c.Name == p.Cell })
			w.Groups = append(w.Groups, WaterfallCell{Cell: place + 1, Name: p.Cell, Bars: bars})
		}
	}
	if len(w.Groups) == 0 {
		return Figure{}
	}
	return Figure{Waterfall: w, Heading: Heading{
		Caption: "Each bar leads from one arm's figure to the next one's, which differs from it in one thing; the last bar is the whole. The axis is logarithmic, because steps multiply: " +
			"a bar is as long as its step's share of the whole, wherever it stands. Whiskers are the interval of the step's ratio. Pale bars are not told apart from 1.",
		Wide: true,
	}}
}

func (l *layout) bars(p ladder.Split, scale metric.Scale) []WaterfallBar {
	if len(p.Steps) == 0 {
		return nil
	}
	first := p.Whole.BaseValue
	bars := []WaterfallBar{{
		Arm: l.place[p.Whole.Base], Name: p.Whole.Base, Label: withUnit(first, scale), Hint: p.Whole.Base + ": " + withUnit(first, scale),
		From: brief(first), To: brief(first), Low: brief(first), High: brief(first), Told: true, Whole: true,
	}}
	for _, s := range p.Steps {
		b := l.bar(s, p.Divided, scale)
		b.Name = stepTitle(s)
		bars = append(bars, b)
	}
	whole := l.bar(p.Whole, false, scale)
	whole.Name, whole.Whole = "the whole", true
	bars = append(bars, whole)
	for _, b := range bars {
		if !drawable(b.From, b.To, b.Low, b.High) || !b.Whole && !cells.Known(p.Blocks, b.To/b.From, b.Low/b.From, b.High/b.From) {
			return nil
		}
	}
	return bars
}

func (l *layout) bar(s ladder.Step, divided bool, scale metric.Scale) WaterfallBar {
	label := ratio(s.Ratio)
	if divided {
		label += ", " + minus(percent(s.Share.Value))
	} else {
		label += bracketed(ratioInterval(s.Low, s.High))
	}
	hint := s.Arm + ": " + withUnit(s.Value, scale) + ", " + ratio(s.Ratio) + " that of " + s.Base + bracketed(ratioInterval(s.Low, s.High)) +
		", " + signed(s.Added.Value, scale)
	return WaterfallBar{
		Arm: l.place[s.Arm], Label: label, Hint: hint, Told: s.Told,
		From: brief(s.BaseValue), To: brief(s.Value), Low: brief(s.BaseValue * s.Low), High: brief(s.BaseValue * s.High),
	}
}
