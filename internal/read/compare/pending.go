package compare

import (
	"fmt"

	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// cause is why a question stays open; what decides it follows from that.
type cause int

const (
	tooWide cause = iota // its interval or its p: more blocks narrow both
	tooFew               // so few blocks that no p can reach the level
	unlevel              // the look has no part of the level
	aimless              // its metric has no better direction
)

// Pending is one comparison on its way to a verdict.
type Pending struct {
	Comparison
	Pairs     Pairs
	Effect    stat.Uncertain // the logarithm of Ratio, of plain pairs Ratio − 1; no Degrees where there is none
	Better    string         // the metric's direction
	Margin    float64
	Refusal   string // why no verdict may be given
	cannotRun bool   // as an arm is unsupported in the cell
	Tested    bool   // it was declared, so it has a p
	noVerdict bool   // the look has no part of the level
	share     int    // what the level is divided by, see ShareLevel; 0 before
	open      cause  // of a verdict that cannot be told

	required bool // it holds an arm against a bound that the study requires
}

// DefaultMargin is the ratio − 1 below which a difference is none, when the
// study declares no margin.
const DefaultMargin = 0.02

// Margin returns the study's margin; one that is not a sensible ratio counts
// as undeclared.
func Margin(c record.Compare) float64 {
	if c.Margin > 0 && c.Margin < 10 {
		return c.Margin
	}
	return DefaultMargin
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (b *Pending) cannotTell(open cause, format string, args ...any) {
	b.Verdict, b.Reason, b.open = CannotTell, fmt.Sprintf(format, args...), open
}
