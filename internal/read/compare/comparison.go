// Package compare sets arms against each other: pairs within blocks, families of
// tests, verdicts, requirements, claims, looks and the gate.
package compare

// Comparison is one arm against the baseline in one cell on one metric.
type Comparison struct {
	Cell        string    `json:"cell"`
	Metric      string    `json:"metric"`
	Arm         string    `json:"arm"`
	Base        string    `json:"base"`
	Primary     bool      `json:"primary"`
	Ratio       float64   `json:"ratio"` // arm ÷ base, geometric mean of the within-block ratios; 0 for none, which is so for fewer than two blocks
	Low         float64   `json:"low"`   // the interval that decides: see Judge
	High        float64   `json:"high"`
	Interval    float64   `json:"interval_level"` // 1 − the interval's confidence: Level, or the part of Level that a primary comparison has in its family
	Level       float64   `json:"level"`          // that the family shares, and against which the adjusted p is held: 0.05, or the part of it that a look has
	Value       float64   `json:"value"`          // the arm's figure over the blocks that both arms have: Ratio is Value ÷ BaseValue; 0 for none
	BaseValue   float64   `json:"base_value"`
	Ratios      []float64 `json:"ratios"`                  // by block
	In          []int     `json:"in,omitempty"`            // the blocks of Ratios, rising
	Blocks      int       `json:"blocks"`                  // that both arms have
	Of          int       `json:"of,omitempty"`            // blocks in which both arms ran
	AtLeast     bool      `json:"at_least,omitempty"`      // Value is a lower bound, as exchanges that were left unfinished would raise it
	BaseAtLeast bool      `json:"base_at_least,omitempty"` // BaseValue is a lower bound
	Partial     bool      `json:"partial,omitempty"`       // not all blocks of both, so that Value and BaseValue are not the arms' own figures
	EqualShares bool      `json:"equal_shares,omitempty"`  // Ratio, its interval, Ratios, Value and BaseValue are those with as much of the CPUs used by others beside the one arm as beside the other
	Quiet       bool      `json:"quiet,omitempty"`         // of a tail: of the blocks alone in which others used little of the CPUs
	P           float64   `json:"p,omitempty"`             // Student's t, two-sided, of a difference beyond Bound; this and the next four are of primary comparisons alone
	Adjusted    float64   `json:"adjusted,omitempty"`
	Family      int       `json:"family,omitempty"` // size of the family it was adjusted in
	Method      string    `json:"method,omitempty"` // "Holm"
	Bound       float64   `json:"bound,omitempty"`  // a difference inside [1/(1+Bound), 1+Bound] is none: max(margin, A/A noise)
	Verdict     Verdict   `json:"verdict"`
	Reason      string    `json:"reason,omitempty"`     // why invalid or cannot tell; of one not judged, why its figures may not be compared
	NeedsMore   int       `json:"needs_more,omitempty"` // blocks it would take in all; 0 when no number of them decides it
	Decides     string    `json:"decides,omitempty"`    // of one that cannot be told: what decides it, and the command
	Sentence    string    `json:"sentence,omitempty"`   // in words, as it stands in Answers; empty when not worth saying
}

// Noise is the A/A comparison: the baseline against its own repeat.
type Noise struct {
	Cell   string    `json:"cell"`
	Metric string    `json:"metric"`
	Ratio  float64   `json:"ratio"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Ratios []float64 `json:"ratios"`
	In     []int     `json:"in,omitempty"` // the blocks of Ratios, rising
	Bound  float64   `json:"bound"`        // distance of the interval from 1, as a ratio − 1; 0 when it holds 1
	P      float64   `json:"p"`
}

// Verdict is the outcome of one comparison.
type Verdict string

// The verdicts. Unsupported says that one of the two arms cannot run in the cell.
// NotJudged is the verdict of explored comparisons, which have a ratio and an interval but
// were not declared before the run.
const (
	Better      Verdict = "better"
	Worse       Verdict = "worse"
	Equivalent  Verdict = "equivalent"
	CannotTell  Verdict = "cannot tell"
	Invalid     Verdict = "invalid"
	Unsupported Verdict = "unsupported"
	NotJudged   Verdict = "not judged"
)

// Refused tells whether there is nothing to compare: a reason stands in the place of
// a ratio.
func (v Verdict) Refused() bool { return v == Invalid || v == Unsupported }
