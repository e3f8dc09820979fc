// Package fit fits a model that a study asks for to trials, beside published coefficients.
// It is pure.
package fit

import (
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

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
