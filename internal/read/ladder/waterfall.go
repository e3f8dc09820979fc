package ladder

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// waterfall draws the cells that have steps; nil for none.
func waterfall(splits []Split, scale metric.Scale) *part.Figure {
	w := &part.Waterfall{Axis: part.Axis{Title: part.AxisTitle(splits[0].Metric, scale) + ", log scale", Scale: scale, Log: true}}
	for _, p := range splits {
		if bars := p.bars(scale); len(bars) > 0 {
			w.Groups = append(w.Groups, part.WaterfallCell{Name: p.Cell, Bars: bars})
		}
	}
	if len(w.Groups) == 0 {
		return nil
	}
	return &part.Figure{Waterfall: w, Heading: part.Heading{
		Caption: "Each bar leads from one arm's figure to the next one's, which differs from it in one thing; the last bar is the whole. The axis is logarithmic, because steps multiply: " +
			"a bar is as long as its step's share of the whole, wherever it stands. Whiskers are the interval of the step's ratio. Pale bars are not told apart from 1.",
		Wide: true,
	}}
}

func (p Split) bars(scale metric.Scale) []part.WaterfallBar {
	if len(p.Steps) == 0 {
		return nil
	}
	first := p.Whole.BaseValue
	bars := []part.WaterfallBar{{
		Colour: part.Colour{Of: p.Whole.Base}, Name: p.Whole.Base, Label: part.WithUnit(first, scale), Hint: p.Whole.Base + ": " + part.WithUnit(first, scale),
		From: part.Brief(first), To: part.Brief(first), Low: part.Brief(first), High: part.Brief(first), Told: true, Whole: true,
	}}
	for _, s := range p.Steps {
		b := bar(s, p.Divided, scale)
		b.Name = stepTitle(s)
		bars = append(bars, b)
	}
	whole := bar(p.Whole, false, scale)
	whole.Name, whole.Whole = "the whole", true
	bars = append(bars, whole)
	for _, b := range bars {
		if !part.Drawable(b.From, b.To, b.Low, b.High) || !b.Whole && !cells.Known(p.Blocks, b.To/b.From, b.Low/b.From, b.High/b.From) {
			return nil
		}
	}
	return bars
}

func bar(s Step, divided bool, scale metric.Scale) part.WaterfallBar {
	label := part.Times(s.Ratio)
	if divided {
		label += ", " + minus(part.Percent(s.Share.Value))
	} else {
		label += part.Bracketed(part.Span(s.Low, s.High))
	}
	hint := s.Arm + ": " + part.WithUnit(s.Value, scale) + ", " + part.Times(s.Ratio) + " that of " + s.Base + part.Bracketed(part.Span(s.Low, s.High)) +
		", " + signed(s.Added.Value, scale)
	return part.WaterfallBar{
		Colour: part.Colour{Of: s.Arm}, Label: label, Hint: hint, Told: s.Told,
		From: part.Brief(s.BaseValue), To: part.Brief(s.Value), Low: part.Brief(s.BaseValue * s.Low), High: part.Brief(s.BaseValue * s.High),
	}
}
