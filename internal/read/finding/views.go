package finding

import "netdyno/internal/record"

// What a study asks for beyond its comparisons: where the CPU time went,
// charts, fitted models, searches.

// Profile says where the CPU time of one end of an arm went, by the samples of
// its probes, all of them together.
type Profile struct {
	Cell       string     `json:"cell"`
	Arm        string     `json:"arm"`
	End        string     `json:"end"`        // "server", "client" or "pair"
	Probes     int        `json:"probes"`     // trials that left a profile of this end
	Seconds    float64    `json:"seconds"`    // CPU time sampled, over all of them
	Shares     []Share    `json:"shares"`     // every activity of Activities, in its order; they sum to 1
	Flat       []Function `json:"flat"`       // the first 20 by time in themselves
	Cumulative []Function `json:"cumulative"` // the first 20 by time in themselves and what they called
}

// Share is the part of the sampled CPU time that went into one activity.
type Share struct {
	Activity string  `json:"activity"` // a name of Activities
	Share    float64 `json:"share"`    // 0 to 1
}

// Function is one function of a profile.
type Function struct {
	Name       string  `json:"name"`       // with its import path
	Flat       float64 `json:"flat"`       // share of the sampled time in the function itself
	Cumulative float64 `json:"cumulative"` // and in what it called
}

// Chart is a chart that the study asked for with what is drawn in it. Lines,
// Tiles or Marks are set, as Spec.Kind says.
type Chart struct {
	Spec        record.Chart `json:"spec"`
	Unit        string       `json:"unit"`                   // of Spec.Metric
	AgainstUnit string       `json:"against_unit,omitempty"` // of Spec.Against
	Lines       []Line       `json:"lines,omitempty"`        // in the order of By's levels
	Tiles       []Tile       `json:"tiles,omitempty"`        // by Y, then by X, both rising
	Marks       []Mark       `json:"marks,omitempty"`        // by name, then by cell, in the study's order
	Knee        string       `json:"knee,omitempty"`         // a front's: which mark is the knee and by which rule, or why there is none
	Notes       []string     `json:"notes,omitempty"`        // what was left out, or why nothing is drawn
}

// Coordinate is one level of a factor as a place on an axis.
type Coordinate struct {
	Text  string  `json:"text"`  // canonical: "32KiB"
	Value float64 `json:"value"` // in base units: 32768; 0 for a word
}

// Line is one line of a chart: the metric at one level of By.
type Line struct {
	Name   string  `json:"name"`   // the level of By; "" when the chart has one line
	Points []Point `json:"points"` // rising by X
}

// Point is the metric at a level of X.
type Point struct {
	X Coordinate `json:"x"`
	Figure
}

// Tile is one tile of a heat map.
type Tile struct {
	X Coordinate `json:"x"`
	Y Coordinate `json:"y"`
	Figure
}

// Mark is one arm, or level of By, in one cell, by what it reaches and what
// that costs, as in the tables.
type Mark struct {
	Name    string `json:"name"` // arm, or level of By
	Cell    string `json:"cell"`
	Metric  Figure `json:"metric"`
	Against Figure `json:"against"`
	Front   bool   `json:"front"` // no other mark is as good in both and better in one
	Knee    bool   `json:"knee,omitempty"`
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
}

// Coefficient is one number of a fitted model with its 95 % interval.
type Coefficient struct {
	Of        string   `json:"of"` // the factor; "" for the base
	Value     float64  `json:"value"`
	Low       float64  `json:"low"`
	High      float64  `json:"high"`
	Published *float64 `json:"published,omitempty"`
	Agrees    bool     `json:"agrees,omitempty"` // the interval holds the published value
}

// Search is a search that the study asked for: with how little of the factors
// that cost something each arm comes near the best. Reason says why there is
// none.
type Search struct {
	Spec     record.Reach `json:"spec"`
	Unit     string       `json:"unit"` // of Spec.Metric
	Best     Candidate    `json:"best"` // of all arms
	BestOf   string       `json:"best_of,omitempty"`
	Reached  []Reached    `json:"reached,omitempty"` // by arm, in the study's order
	Sentence string       `json:"sentence,omitempty"`
	Reason   string       `json:"reason,omitempty"`
}

// Reached is what one arm needs.
type Reached struct {
	Arm   string      `json:"arm"`
	Least []Candidate `json:"least,omitempty"` // no other candidate that reaches needs less of one factor and no more of another; none: the arm does not reach
	Best  Candidate   `json:"best"`            // the most that it does, anywhere
}

// Candidate is one arm in one cell of a search.
type Candidate struct {
	Cell      string       `json:"cell"`
	Levels    []Coordinate `json:"levels"` // of Spec.Least, in its order
	Metric    Figure       `json:"metric"`
	Share     float64      `json:"share"` // of the best, block by block: Value ÷ BestValue
	Low       float64      `json:"low"`   // its 95 % interval
	High      float64      `json:"high"`
	Value     float64      `json:"value"` // this candidate's figure and the best's over the blocks that both have
	BestValue float64      `json:"best_value"`
	Blocks    int          `json:"blocks"` // that both have, at least 2
	Limit     Limit        `json:"limit"`  // of most of its trials
}

// Uncertain tells whether a candidate's interval holds a share of the best: it comes
// there, or stays below, only perhaps.
func (a Candidate) Uncertain(share float64) bool { return a.Low < share && share <= a.High }
