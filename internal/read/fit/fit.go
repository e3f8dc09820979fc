// Package fit fits a model that a study asks for to trials, beside published coefficients.
// It is pure.
package fit

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// maxTerms bounds a model; each term needs levels of its own to be seen.
const maxTerms = 16

// Read carries out the fits that the study asks for, to valid trials alone.
func Read(s *cells.Dataset) Fits {
	var all Fits
	for _, spec := range s.Header.Study.Fits {
		f := Fit{Spec: spec}
		if reason := fit(s, &f); reason != "" {
			f = Fit{Spec: spec, Unit: f.Unit, Trials: f.Trials, Blocks: f.Blocks, Reason: reason}
		}
		f.Sentence = f.sentence()
		all = append(all, f)
	}
	return all
}

// fit fills in a fit, or returns why there is none.
func fit(s *cells.Dataset, f *Fit) string {
	m, err := metric.Named(f.Spec.Metric)
	if err != nil {
		return err.Error()
	}
	f.Unit = m.Unit
	if len(f.Spec.Terms) > maxTerms {
		return fmt.Sprintf("the model has %d terms; at most %d can be estimated", len(f.Spec.Terms), maxTerms)
	}
	observed, reason := observe(s, f.Spec)
	if reason != "" {
		return reason
	}
	f.Trials = len(observed)
	if _, err := regress(observed); err != nil {
		return dependent(s, f.Spec, observed, err)
	}
	if reason := f.estimate(observed); reason != "" {
		return reason
	}
	if reason := f.judge(observed); reason != "" {
		return reason
	}
	f.With = view.Implementations(s, f.Spec.Metric, judgedOf(observed))
	return ""
}

// observe makes the rows of the trials that have the metric and whose factors
// are numbers.
func observe(s *cells.Dataset, spec record.Fit) ([]observation, string) {
	factors := append([]string{spec.Per}, spec.Terms...)
	judged, why := view.Where(s, view.Scope{Levels: spec.Where}, factors...)
	if why != "" {
		return nil, why
	}
	var observed []observation
	for _, v := range judged {
		y, ok := v.Trial.Values.Of(spec.Metric)
		if !ok || !cells.Usable(y) {
			continue
		}
		o := observation{view: v, row: []float64{1}, y: y}
		for i, factor := range factors {
			level, _ := s.LevelOf(v, factor)
			x, ok := view.NumberOf(level)
			if !ok {
				return nil, fmt.Sprintf("%s=%s of trial %s is no number", factor, level, v.Plan.ID)
			}
			if i > 0 {
				x *= o.row[1]
			}
			o.row = append(o.row, x)
		}
		observed = append(observed, o)
	}
	if len(observed) == 0 {
		return nil, fmt.Sprintf("no valid trial%s has a positive %s", view.Scope{Levels: spec.Where}, spec.Metric)
	}
	return observed, ""
}

func judgedOf(observed []observation) []*trial.Judged {
	var judged []*trial.Judged
	for _, o := range observed {
		judged = append(judged, o.view)
	}
	return judged
}

func regress(observed []observation) ([]float64, error) {
	var rows [][]float64
	var ys []float64
	for _, o := range observed {
		rows, ys = append(rows, o.row), append(ys, o.y)
	}
	return stat.RelativeLeastSquares(rows, ys)
}

// dependent says in words which coefficient no trial can show.
func dependent(s *cells.Dataset, spec record.Fit, observed []observation, err error) string {
	var column *stat.DependentError
	if !errors.As(err, &column) {
		return err.Error()
	}
	factors := append([]string{spec.Per}, spec.Terms...)
	if column.Column == 0 || column.Column > len(factors) {
		return err.Error()
	}
	factor := factors[column.Column-1]
	var levels []string
	for _, o := range observed {
		if level, _ := s.LevelOf(o.view, factor); !slices.Contains(levels, level) {
			levels = append(levels, level)
		}
	}
	if len(levels) == 1 {
		return fmt.Sprintf("%s does not vary: every trial has %s, so its coefficient cannot be seen", factor, levels[0])
	}
	return fmt.Sprintf("%s varies only together with %s, so their coefficients cannot be separated",
		factor, strings.Join(factors[:column.Column-1], ", "))
}

// estimate fits each block by itself: the block is the replicate, and the
// spread of the blocks' coefficients makes the intervals (specification §4.2, §6.1).
func (f *Fit) estimate(observed []observation) string {
	blocks := map[int][]observation{}
	for _, o := range observed {
		blocks[o.view.Plan.Block] = append(blocks[o.view.Plan.Block], o)
	}
	by := make([][]float64, 2+len(f.Spec.Terms))
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		c, err := regress(blocks[block])
		if err != nil {
			continue // a block that lost trials may not show every coefficient
		}
		f.Blocks++
		for j := range by {
			by[j] = append(by[j], c[j])
		}
	}
	if f.Blocks < 2 {
		return fmt.Sprintf("blocks that show every coefficient: %d of %d; at least 2 are needed for an interval", f.Blocks, len(blocks))
	}
	coefficients := make([]Coefficient, len(by))
	for j, values := range by {
		e, ok := stat.ArithmeticMean(values)
		if !ok || math.IsInf(e.High-e.Low, 0) || math.IsNaN(e.High-e.Low) {
			return "the coefficients are not finite numbers"
		}
		coefficients[j] = Coefficient{Value: e.Point, Low: e.Low, High: e.High}
	}
	f.Base, f.Per, f.Terms = coefficients[0], coefficients[1], coefficients[2:]
	f.Per.Of = f.Spec.Per
	f.by = map[string][]float64{}
	for i := range f.Terms {
		t := &f.Terms[i]
		t.Of = f.Spec.Terms[i]
		f.by[t.Of] = by[2+i]
		if i < len(f.Spec.Published) {
			published := f.Spec.Published[i]
			t.Published, t.Agrees = &published, t.Low <= published && published <= t.High
		}
	}
	return ""
}

// judge says how well the mean coefficients describe the trials.
func (f *Fit) judge(observed []observation) string {
	coefficients := []float64{f.Base.Value, f.Per.Value}
	for _, t := range f.Terms {
		coefficients = append(coefficients, t.Value)
	}
	var ys, fitted, sizes []float64
	at := map[cells.Key][]float64{}
	for _, o := range observed {
		y := stat.Linear(o.row, coefficients)
		residual := (o.y - y) / o.y
		if math.IsNaN(residual) || math.IsInf(residual, 0) {
			return "the fitted values are not finite numbers"
		}
		ys, fitted, sizes = append(ys, o.y), append(fitted, y), append(sizes, math.Abs(residual))
		p := cells.KeyOf(o.view.Plan.Cell, o.view.Plan.Arm)
		at[p] = append(at[p], residual)
	}
	f.Error = stat.Median(sizes)
	for _, o := range observed { // in the plan's order, so that ties fall alike
		p := cells.KeyOf(o.view.Plan.Cell, o.view.Plan.Arm)
		if m := stat.Median(at[p]); f.WorstAt == "" || math.Abs(m) > math.Abs(f.Worst) {
			f.Worst, f.WorstAt = m, p.Arm+cells.InCell(p.Cell)
		}
	}
	if r2 := stat.Determination(ys, fitted); !math.IsNaN(r2) && !math.IsInf(r2, 0) {
		f.R2 = r2
	}
	return ""
}

// Fit is a model that the study asked for, fitted within each block; the
// blocks' coefficients make the intervals. Reason says why there is none.
type Fit struct {
	Spec     record.Fit    `json:"spec"`
	Unit     string        `json:"unit"` // of Spec.Metric
	Trials   int           `json:"trials"`
	Blocks   int           `json:"blocks"` // that could be fitted
	Base     Coefficient   `json:"base"`   // a: of nothing
	Per      Coefficient   `json:"per"`    // b: of one Spec.Per
	Terms    []Coefficient `json:"terms"`  // cᵢ, in the order of Spec.Terms
	Error    float64       `json:"error"`  // median over trials of |measured − fitted| ÷ measured
	Worst    float64       `json:"worst"`  // the largest median of (measured − fitted) ÷ measured, signed, of an arm in a cell
	WorstAt  string        `json:"worst_at,omitempty"`
	R2       float64       `json:"r2"`             // share of the metric's variance over trials that the model explains
	With     string        `json:"with,omitempty"` // implementation and library version: "go-grpc with google.golang.org/grpc v1.85.0"
	Sentence string        `json:"sentence,omitempty"`
	Reason   string        `json:"reason,omitempty"`

	by map[string][]float64 // coefficients of the terms, one for each block that could be fitted
}

// ByBlock returns a term's coefficients, one for each block; nil where there is none.
func (f Fit) ByBlock(term string) []float64 { return f.by[term] }

// Fits are those of a study.
type Fits []Fit

// Coefficient is one number of a fitted model with its 95 % interval.
type Coefficient struct {
	Of        string   `json:"of"` // the factor; "" for the base
	Value     float64  `json:"value"`
	Low       float64  `json:"low"`
	High      float64  `json:"high"`
	Published *float64 `json:"published,omitempty"`
	Agrees    bool     `json:"agrees,omitempty"` // the interval holds the published value
}

// observation is one trial as a row of the design: 1, n, n·x₁, n·x₂, …
type observation struct {
	view *trial.Judged
	row  []float64
	y    float64
}
