package report

import (
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
)

// Figure is one chart: exactly one of the pointers is set. The browser draws
// it from this value; the caption stands in the page without a script.
type Figure struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Caption string  `json:"caption"`
	Wide    bool    `json:"wide"` // takes the page's whole width
	Forest  *Forest `json:"forest,omitempty"`
	Dots    *Dots   `json:"dots,omitempty"`
	Curve   *Curve  `json:"curve,omitempty"`
	Series  *Series `json:"series,omitempty"`
	Split   *Split  `json:"split,omitempty"`
	Lines   *Lines  `json:"lines,omitempty"`
	Heat    *Heat   `json:"heat,omitempty"`
	Front   *Front  `json:"front,omitempty"`
	Shares  *Shares `json:"shares,omitempty"`
}

// Forest shows ratios to the baseline on a log axis, one row per arm and
// cell, a dot per block, the interval as a line.
type Forest struct {
	Axis   string       `json:"axis"`
	Better string       `json:"better"` // "higher", "lower" or ""
	Groups []ForestCell `json:"groups"`
}

// ForestCell is the rows of one cell and the band inside which a difference
// is none.
type ForestCell struct {
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
	Block  int     `json:"block"`
	Value  float64 `json:"value"`
	Repeat bool    `json:"repeat,omitempty"`
	Status string  `json:"status,omitempty"` // empty when valid
}

// Curve shows times by percentile, a line per arm.
type Curve struct {
	Axis  string      `json:"axis"`
	Lines []CurveLine `json:"lines"`
}

// CurveLine is an arm's times by percentile, each averaged over blocks as the
// tables' figures are: pairs of share and time in ns.
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

// Series shows the rate over time, a panel per arm, a line per trial.
type Series struct {
	Axis   string        `json:"axis"`
	Scale  metric.Scale  `json:"scale"`
	Window [2]float64    `json:"window"` // seconds since the trial's start
	Panels []SeriesPanel `json:"panels"`
}

// SeriesPanel is one arm's lines: pairs of seconds and rate.
type SeriesPanel struct {
	Arm   int            `json:"arm"`
	Name  string         `json:"name"`
	Lines [][][2]float64 `json:"lines"`
}

// Split shows where CPU time went, a panel per arm, a thin bar per trial.
type Split struct {
	Axis   string       `json:"axis"`
	Parts  []string     `json:"parts"` // from the bottom of a bar upwards
	Panels []SplitPanel `json:"panels"`
}

// SplitPanel is one arm's bars.
type SplitPanel struct {
	Arm    int          `json:"arm"`
	Name   string       `json:"name"`
	Groups []SplitGroup `json:"groups"`
}

// SplitGroup is one process or host: cores by trial and part.
type SplitGroup struct {
	Of   string      `json:"of"`
	Bars [][]float64 `json:"bars"`
}

// What is drawn stays bounded however large the study: a page that opens in
// a second shows no less than one that does not.
const (
	maxLinesPerCell = 200
	maxLines        = 1200
	maxLinePoints   = 120
	maxCurvePoints  = 160
	maxBars         = 16
	maxDots         = 60
)

// lineBudget returns how many series a cell may draw.
func lineBudget(cells int) int {
	return max(4, min(maxLinesPerCell, maxLines/max(cells, 1)))
}

// effects makes one forest per primary metric over all cells.
func (l *layout) effects() []Figure {
	var figures []Figure
	for i, metric := range l.Header.Study.Compare.Primary {
		forest := &Forest{Better: l.betterOf(metric), Axis: labelOf(metric) + " ÷ " + l.Header.Study.Compare.Baseline + " (ratio, log scale)"}
		for _, c := range l.Cells {
			if group := l.forestCell(c, metric); len(group.Rows) > 0 {
				forest.Groups = append(forest.Groups, group)
			}
		}
		if len(forest.Groups) == 0 {
			continue
		}
		caption := "Read as the figure above."
		if len(figures) == 0 {
			caption = "Each arm as a ratio to " + l.Header.Study.Compare.Baseline + ", paired within blocks: small dots are blocks, the line is the " + confidence(l.level()) + " interval. " +
				"Inside the grey band a difference counts as none; the grey row compares the baseline with its own repeat. Pale rows are invalid."
		}
		figures = append(figures, Figure{
			ID:      fmt.Sprintf("effect-%d", i+1),
			Title:   "Effect on " + labelOf(metric) + betterWords(forest.Better),
			Caption: caption,
			Wide:    true,
			Forest:  forest,
		})
	}
	return figures
}

func betterWords(better string) string {
	if better == "" {
		return ""
	}
	return " (" + better + " is better)"
}

func (l *layout) betterOf(metric string) string {
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			if s, ok := summaryOf(a, metric); ok {
				return s.Better
			}
		}
	}
	return ""
}

func (l *layout) forestCell(c cells.Cell, metric string) ForestCell {
	group := ForestCell{Name: c.Name}
	for _, a := range c.Arms {
		cmp, ok := l.compared[comparisonKey{c.Name, a.Name, metric}]
		if !ok || !drawable(cmp.Ratio, cmp.Low, cmp.High) {
			continue
		}
		group.Bound = cmp.Bound
		group.Rows = append(group.Rows, ForestRow{
			Arm: l.place[a.Name], Name: a.Name, Verdict: cmp.Verdict, Mark: mark(cmp.Verdict),
			Label: ratio(cmp.Ratio) + " (" + ratioInterval(cmp.Low, cmp.High) + ")",
			Ratio: brief(cmp.Ratio), Low: brief(cmp.Low), High: brief(cmp.High),
		}.of(cmp.Ratios, cmp.In))
	}
	if len(group.Rows) == 0 {
		return group // the baseline alone is set against nothing
	}
	for _, n := range l.Noise {
		if n.Cell != c.Name || n.Metric != metric || !drawable(n.Ratio, n.Low, n.High) {
			continue
		}
		group.Rows = append(group.Rows, ForestRow{
			Name:  l.Header.Study.Compare.Baseline + " again",
			Label: ratio(n.Ratio) + " (" + ratioInterval(n.Low, n.High) + ")",
			Ratio: brief(n.Ratio), Low: brief(n.Low), High: brief(n.High),
		}.of(n.Ratios, n.In))
	}
	return group
}

// drawable holds for what a log axis can take.
func drawable(values ...float64) bool {
	for _, v := range values {
		if !finite(v) || v <= 0 {
			return false
		}
	}
	return true
}

// of adds the ratios that can be drawn, with their blocks.
func (r ForestRow) of(ratios []float64, blocks []int) ForestRow {
	r.Ratios, r.Blocks = []float64{}, []int{}
	for i, ratio := range ratios {
		if drawable(ratio) && i < len(blocks) && len(r.Ratios) < maxDots {
			r.Ratios, r.Blocks = append(r.Ratios, brief(ratio)), append(r.Blocks, blocks[i])
		}
	}
	return r
}

// figures makes the charts of one cell; one without anything to draw is left
// out.
func (l *layout) figures(cell int, c cells.Cell, budget int) []Figure {
	var figures []Figure
	add := func(f Figure, drawn bool) {
		if drawn {
			f.ID = fmt.Sprintf("cell-%d-%d", cell+1, len(figures)+1)
			figures = append(figures, f)
		}
	}
	for _, metric := range l.Header.Study.Compare.Primary {
		add(l.dots(c, metric))
	}
	curve, drawn := l.curve(c)
	curve.Wide = len(figures)%2 == 0 // beside the last dots, or alone
	add(curve, drawn)
	add(l.series(c, budget))
	add(l.split(c))
	add(l.shares(c.Name))
	return figures
}
