package report

import (
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// Forest shows ratios to the baseline on a log axis, one row per arm and
// cell, a dot per block, the interval as a line.
type Forest struct {
	Axis   string       `json:"axis"`
	Better string       `json:"better"` // "higher", "lower" or ""
	Base   string       `json:"base"`   // the arm that is divided by; "" where both are one
	Groups []ForestCell `json:"groups"`
}

// ForestCell is the rows of one cell and the band inside which a difference
// is none.
type ForestCell struct {
	Cell  int         `json:"cell,omitempty"` // number of the cell whose trials these are, from 1; 0 where the page has none
	Name  string      `json:"name"`
	Bound float64     `json:"bound"` // as a ratio − 1
	Rows  []ForestRow `json:"rows"`
}

// ForestRow is one comparison, or the baseline against its own repeat.
type ForestRow struct {
	Arm     int             `json:"arm"`
	Name    string          `json:"name"`
	Label   string          `json:"label"` // "0.61× (0.58–0.64)"
	Verdict compare.Verdict `json:"verdict,omitempty"`
	Mark    string          `json:"mark,omitempty"`
	Ratio   float64         `json:"ratio"`
	Low     float64         `json:"low"`
	High    float64         `json:"high"`
	Ratios  []float64       `json:"ratios"`
	Blocks  []int           `json:"blocks"` // of the ratios
}

// forest draws a primary metric over all cells; nil when nothing was compared.
func (l *layout) forest(name string) (part.Heading, *Forest) {
	f := &Forest{Better: l.betterOf(name), Base: l.baseline(), Axis: part.Label(name) + " ÷ " + l.baseline() + " (ratio, log scale)"}
	for i, c := range l.Cells {
		if group := l.forestCell(c, name); len(group.Rows) > 0 {
			group.Cell = i + 1
			f.Groups = append(f.Groups, group)
		}
	}
	if len(f.Groups) == 0 {
		return part.Heading{}, nil
	}
	return part.Heading{
		Title: "Effect on " + part.Label(name) + betterWords(f.Better),
		Caption: "Each arm as a ratio to " + l.baseline() + ", paired within blocks: small dots are blocks, the line is the interval that decides (section Comparisons). " +
			"Inside the grey band a difference counts as none. The grey row compares the baseline with its own repeat. Pale rows are invalid.",
		Wide: true,
	}, f
}

func betterWords(better string) string {
	if better == "" {
		return ""
	}
	return " (" + better + " is better)"
}

func (l *layout) betterOf(name string) string {
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			if s, ok := a.Summary(name); ok {
				return s.Better
			}
		}
	}
	return ""
}

func (l *layout) forestCell(c cells.Cell, name string) ForestCell {
	group := ForestCell{Name: l.cell(c.Name)}
	for _, a := range c.Arms {
		cmp, ok := l.compared[comparisonKey{c.Name, a.Name, name}]
		if !ok || !cmp.Known() || !part.Drawable(cmp.Ratio, cmp.Low, cmp.High) {
			continue
		}
		group.Bound = cmp.Bound
		group.Rows = append(group.Rows, ForestRow{
			Arm: l.place[a.Name], Name: a.Name, Verdict: cmp.Verdict, Mark: mark(cmp.Verdict),
			Label: part.TimesIn(cmp.Ratio, cmp.Low, cmp.High),
			Ratio: part.Brief(cmp.Ratio), Low: part.Brief(cmp.Low), High: part.Brief(cmp.High),
		}.ofRatios(cmp.Ratios, cmp.In))
	}
	if len(group.Rows) == 0 {
		return group // the baseline alone is set against nothing
	}
	for _, n := range l.Noise {
		if n.Cell != c.Name || n.Metric != name || !n.Known() || !part.Drawable(n.Ratio, n.Low, n.High) {
			continue
		}
		group.Rows = append(group.Rows, ForestRow{
			Name:  l.baseline() + " again",
			Label: part.TimesIn(n.Ratio, n.Low, n.High),
			Ratio: part.Brief(n.Ratio), Low: part.Brief(n.Low), High: part.Brief(n.High),
		}.ofRatios(n.Ratios, n.In))
	}
	return group
}

// ofRatios adds the ratios that can be drawn, with their blocks.
func (r ForestRow) ofRatios(ratios []float64, blocks []int) ForestRow {
	r.Ratios, r.Blocks = []float64{}, []int{}
	for i, ratio := range ratios {
		if part.Drawable(ratio) && i < len(blocks) && len(r.Ratios) < maxDots {
			r.Ratios, r.Blocks = append(r.Ratios, part.Brief(ratio)), append(r.Blocks, blocks[i])
		}
	}
	return r
}
