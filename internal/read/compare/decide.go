package compare

import (
	"fmt"
	"math"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// outlook is what would decide the questions that a run leaves open: the looks to which
// it can still be told to go on, and the command for that.
type outlook struct {
	looks  []int     // still to come, rising
	levels []float64 // theirs
	goOn   string    // the command that goes on to the first of them
}

// outlookOf is the run's own.
func outlookOf(s *cells.Dataset) outlook {
	o := outlook{goOn: s.GoOn()}
	if s.Look == nil || s.Look.Stopped {
		return o
	}
	levels := s.Levels()
	for i, blocks := range s.Looks {
		if i+1 > s.Look.Number || i+1 == s.Look.Number && s.Look.Done < s.Look.Blocks {
			o.looks, o.levels = append(o.looks, blocks), append(o.levels, levels[i])
		}
	}
	return o
}

// decide says what would decide an open question: how many blocks in all, 0 when no number
// of blocks would, and in words what to do. No other place says so.
func (b *Pending) decide(o outlook) {
	if b.Verdict != CannotTell {
		return
	}
	switch b.open {
	case aimless:
		b.Decides = "more blocks will not decide it; choose a primary metric for which higher or lower is better"
		return
	case unlevel:
		if len(o.looks) > 0 {
			b.NeedsMore, b.Decides = o.looks[0], fmt.Sprintf("a look at %d blocks can decide it: %s", o.looks[0], o.goOn)
			return
		}
	}
	mean, sd := stat.Mean(b.Pairs.Effects), stat.SD(b.Pairs.Effects)
	bounds := stat.Bounds{Inside: math.Log1p(b.Margin), Outside: b.beyond(), Shared: b.share}
	for i, blocks := range o.looks {
		if blocks > b.Of && stat.Settles(mean, sd, bounds, b.usable(blocks), o.levels[i]) {
			b.NeedsMore, b.Decides = blocks, o.reach(i)
			return
		}
	}
	b.NeedsMore = InAll(stat.BlocksToSettle(mean, sd, bounds, max(LeastBlocks(cells.Level), b.Blocks+1)), b.Blocks, b.Of)
	switch {
	case b.NeedsMore > 0 && len(o.looks) > 0:
		b.Decides = fmt.Sprintf("none of the remaining looks is expected to decide it; a new run with blocks=%d would", b.NeedsMore)
	case b.NeedsMore > 0:
		b.Decides = fmt.Sprintf("about %d blocks would decide it: start a new run with blocks=%d", b.NeedsMore, b.NeedsMore)
	default:
		b.Decides = b.beyondBlocks()
	}
}

// usable is how many of so many blocks are expected to have both figures, by the share of
// the blocks so far that have both.
func (b *Pending) usable(blocks int) int {
	if b.Of == 0 {
		return blocks
	}
	return blocks * b.Blocks / b.Of
}

// InAll returns how many blocks a run needs so that so many have a figure, if it goes on
// to lose the share of blocks that it lost so far: with 8 of 10 blocks usable, 12 usable
// blocks take 15 in all. The result is more than have run; 0 where needed or have is 0, and
// beyond stat.MaxBlocks.
func InAll(needed, have, ran int) int {
	if needed == 0 || have == 0 {
		return 0
	}
	ran = max(ran, have)
	all := max((needed*ran+have-1)/have, ran+1)
	if all > stat.MaxBlocks {
		return 0
	}
	return all
}

// reach says how a run comes to the look at which a question is expected to be
// decided.
func (o outlook) reach(look int) string {
	switch look {
	case 0:
		return fmt.Sprintf("%d blocks would decide it: %s", o.looks[0], o.goOn)
	case 1:
		return fmt.Sprintf("%d blocks would decide it: %s, twice", o.looks[1], o.goOn)
	}
	return fmt.Sprintf("%d blocks would decide it: %s, %d times", o.looks[look], o.goOn, look+1)
}

// beyondBlocks says what decides a question that no number of blocks would.
func (b *Pending) beyondBlocks() string {
	distance := math.Abs(stat.Mean(b.Pairs.Effects))
	if b.Bound > b.Margin && distance > math.Log1p(b.Margin) && distance < math.Log1p(b.Bound) {
		return fmt.Sprintf("more blocks would not decide it: the baseline differs from itself by as much (%s); a quieter machine (netdyno doctor) lowers that", quantity.ChosenShare(b.Bound))
	}
	wider := "another margin (compare.margin)"
	if b.required {
		wider = "another bound"
	}
	return fmt.Sprintf("not even %d blocks would decide it; start a new run on a quieter machine (netdyno doctor) or with %s", stat.MaxBlocks, wider)
}
