package part

import (
	"strconv"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
)

// None stands where there is no figure.
const None = "–"

// Word is a text as a value.
func Word(text string) Datum { return Datum{Text: text} }

// Row is texts as values, in the order of their columns.
func Row(texts ...string) []Datum {
	row := make([]Datum, len(texts))
	for i, text := range texts {
		row[i].Text = text
	}
	return row
}

// Missing is the value of a place without a figure.
func Missing() Datum { return Word(None) }

// Value is a figure as a value; interval is empty for none.
func Value(text, interval string) Datum {
	return Datum{Figure: &Number{Text: text, Interval: interval}}
}

// Count is a whole number as a value.
func Count(n int) Datum { return Value(strconv.Itoa(n), "") }

// Unknown stands in the place of a figure that is not shown.
func Unknown(blocks, of int) Datum { return Value(cells.Unknown, cells.WhyUnknown(blocks, of)) }

// InUnit is a figure that brings its unit, for a column of several metrics.
func InUnit(value float64, s metric.Scale) Datum {
	return Datum{Figure: &Number{Text: s.Format(value), Unit: s.Unit}}
}

// AmountOf is a figure with its interval and unit, or why it is not shown.
func AmountOf(f cells.Figure, s metric.Scale) Datum {
	if !f.Known() {
		return Unknown(f.N, f.Of)
	}
	d := Amount(f.Value, f.Low, f.High, s)
	if !f.Sure() {
		d.Figure.Interval = ""
	}
	return d
}

// Amount is a figure of any sign with its interval and unit.
func Amount(value, low, high float64, s metric.Scale) Datum {
	interval := s.Interval(low, high)
	if low < 0 {
		interval = s.Format(low) + " to " + s.Format(high)
	}
	return Datum{Figure: &Number{Text: s.Format(value), Unit: s.Unit, Interval: interval}}
}

// RatioOf is a comparison's ratio with its interval, or why it is not shown; nil where
// there is none.
func RatioOf(c compare.Comparison) *Ratio {
	if c.Ratio <= 0 {
		return nil
	}
	return RatioOver(c.Blocks, c.Of, c.Ratio, c.Low, c.High)
}

// RatioOver is a ratio over so many blocks, of those that have run, with its interval,
// or why it is not shown.
func RatioOver(blocks, of int, point, low, high float64) *Ratio {
	if !cells.Known(blocks, point, low, high) {
		return &Ratio{Text: cells.Unknown, Interval: cells.WhyUnknown(blocks, of)}
	}
	return &Ratio{Text: Times(point), Interval: Span(low, high)}
}

// Quotient is a comparison's ratio as a value.
func Quotient(c compare.Comparison) Datum {
	if r := RatioOf(c); r != nil {
		return Datum{Ratio: r}
	}
	return Missing()
}
