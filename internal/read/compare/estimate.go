package compare

import (
	"cmp"
	"fmt"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Prepare pairs an arm with a base in a cell and estimates their ratio on a metric.
// A verdict needs a family of such comparisons, see ShareLevel.
func Prepare(s *cells.Dataset, cell string, m metric.Metric, arm, base string) *Pending {
	b := paired(s, cell, m, arm, base)
	b.Tested = b.Primary
	estimate(s, b)
	return b
}

func paired(s *cells.Dataset, cell string, m metric.Metric, arm, base string) *Pending {
	return &Pending{
		Comparison: Comparison{Cell: cell, Metric: m.Name, Arm: arm, Base: base, Primary: s.Primary(m.Name), Level: s.Level()},
		Pairs:      PairUp(s, cell, m.Name, arm, base),
		Better:     m.Better,
		Margin:     Margin(s.Compare),
		noVerdict:  s.NoVerdict(),
	}
}

// estimate fills in what the pairs of a comparison say before any other is
// looked at.
func estimate(s *cells.Dataset, b *Pending) {
	b.Ratios, b.In, b.Blocks = b.Pairs.Ratios, b.Pairs.Blocks, len(b.Pairs.Ratios)
	b.Of = s.BlocksOf(b.Cell, b.Arm, b.Base)
	b.Value, b.BaseValue, b.Partial = b.Pairs.Value, b.Pairs.Base, b.Pairs.partial
	b.AtLeast, b.BaseAtLeast = b.Pairs.atLeast, b.Pairs.baseAtLeast
	b.EqualShares, b.Quiet = b.Pairs.beside.fitted, b.Pairs.beside.quiet
	if b.Tested {
		b.P, b.Adjusted = 1, 1
	}
	for _, arm := range []string{b.Arm, b.Base} {
		if reason := CannotRun(s, b.Cell, arm); reason != "" {
			b.cannotRun, b.Refusal = true, CannotRunWords(arm, reason)
			return
		}
	}
	if n := b.Pairs.zeros; n > 0 {
		b.Refusal = fmt.Sprintf("a figure is 0 in %d of the blocks that both arms have, so there is no ratio", n)
		return
	}
	if u, ok := b.Pairs.Mean(); ok {
		b.Effect = u
		b.judgeAt(b.Level)
		b.Refusal = refuse(s, b)
		return
	}
	if b.Blocks == 1 && b.Arm == b.Base { // a figure beside a bound; a ratio has an interval or is none
		b.Ratio, b.Low, b.High = b.Ratios[0], b.Ratios[0], b.Ratios[0]
	}
	b.Refusal = fmt.Sprintf("blocks in which both arms have a valid value: %d, and at least 2 are needed%s", b.Blocks, whyNoFigure(s, b))
}

// CannotRun is why an arm cannot run in a cell; "" when some trial of it did, or
// may yet.
func CannotRun(s *cells.Dataset, cell, arm string) string {
	reason := ""
	for t := range s.TrialsOf(cell, arm) {
		switch t.Status {
		case trial.StatusUnsupported:
			reason = cmp.Or(reason, t.Reason, "its worker refused the trial without a reason")
		case trial.StatusMissing:
		default:
			return ""
		}
	}
	return reason
}

// CannotRunWords is what an arm's worker said, without what the words before it say.
func CannotRunWords(arm, reason string) string {
	if _, said, found := strings.Cut(reason, "unsupported: "); found {
		reason = said
	}
	return arm + " cannot run here: " + strings.TrimSuffix(reason, ".")
}

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
