package course

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"netdyno/internal/each"
	"netdyno/internal/hist"
	"netdyno/internal/quantity"
	"netdyno/internal/read/stat"
)

// Change says that a server became faster or slower while it was measured: in a closed loop
// by its rate, in an open one by the median time that users waited.
type Change struct {
	Faster  bool    `json:"faster"`
	Gradual bool    `json:"gradual,omitempty"` // rather than at one time; Before and After are of the first and the last sixth then
	Of      string  `json:"of"`                // rate or p50
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
	BeforeS float64 `json:"before_s"` // of the load's own time
	AfterS  float64 `json:"after_s"`

	CutBlock int     `json:"cut_block,omitempty"` // the last block that is warm-up, which no figure is of; 0 where none is cut
	LeftS    float64 `json:"left_s,omitempty"`    // of the load's time that figures are of, where some is cut
}

// What changes.
const (
	rate = "rate" // in 1/s
	p50  = "p50"  // in s
)

// What makes a change.
const (
	leastTurns   = 8
	mostGroups   = 60
	leastRate    = 1.25 // by which rates change, at least
	leastTime    = 1.5  // … and medians of times
	othersChange = 0.2  // of the CPUs: where other programs took so much more or less, it was they
)

// group is some turns that follow each other, as one reading.
type group struct {
	x       float64 // rate, or the logarithm of the median time in s
	seconds float64
	others  float64
	block   int // of its last turn
}

// changeOf tests a load for a change. A load that changes by more than its noise is found by
// its largest step: the difference of the means before and after it, weighted by how many
// readings lie on either side, divided by the scale of the differences between neighbours,
// which neither a step nor a trend makes much larger. How large that becomes by chance is
// simulated of readings that resemble their neighbours by as much as 0.5, so that it
// errs less often of all that resemble each other less. Pauses that return come out as large
// differences between neighbours.
//
// Source: K. J. Worsley, On the likelihood ratio test for a shift in location, 1979; J. von
// Neumann, Distribution of the ratio of the mean square successive difference, 1941.
func changeOf(l Load, level float64) *Change {
	groups := groupsOf(l)
	if len(groups) < leastTurns {
		return nil
	}
	xs := make([]float64, len(groups))
	for i, g := range groups {
		xs[i] = g.x
	}
	at, size := largestStep(xs)
	if !(size > critical(len(xs), level)) {
		return nil
	}
	c := &Change{Of: rate}
	if l.Turns[0].Open {
		c.Of = p50
	}
	c.tell(groups[:at], groups[at:])
	c.Faster = (c.After > c.Before) != l.Turns[0].Open
	if c.Gradual = gradual(xs, at); c.Gradual {
		end := max(1, len(groups)/6)
		c.tell(groups[:end], groups[len(groups)-end:])
	}
	if math.Abs(others(groups[:at])-others(groups[at:])) > othersChange || !c.matters() {
		return nil
	}
	warm := warmUp(xs)
	if _, more := largestStep(xs[at:]); warm == mostWarm(len(xs)) && at < warm && more < critical(len(xs)-at, level) {
		warm = at // what follows does not change any more
	}
	if c.Faster && warm > 0 && warm < mostWarm(len(xs)) {
		c.tell(groups[:min(at, warm)], groups[warm:])
		c.Gradual = false
		c.CutAt(groups[warm-1].block, l)
	}
	return c
}

// groupsOf are the turns whose figure is known, several together where there are many.
func groupsOf(l Load) []group {
	var all []group
	for _, t := range l.Turns {
		g := group{x: t.PerS, seconds: float64(t.ToNs-t.FromNs) / 1e9, others: t.Others, block: t.Block}
		if !t.Rated {
			continue
		}
		if l.Turns[0].Open {
			h := hist.Unpack(t.Times)
			if h.Count() == 0 {
				continue
			}
			g.x = math.Log(float64(max(h.Quantiles([]float64{0.5})[0], 1)) / 1e9)
		}
		all = append(all, g)
	}
	size := (len(all) + mostGroups - 1) / mostGroups
	if size < 2 {
		return all
	}
	var fewer []group
	for some := range slices.Chunk(all[len(all)%size:], size) {
		g := group{x: mean(some), others: others(some), block: some[size-1].block}
		for _, one := range some {
			g.seconds += one.seconds
		}
		fewer = append(fewer, g)
	}
	return fewer
}

func mean(groups []group) float64 { return meanOf(groups, func(g group) float64 { return g.x }) }

func others(groups []group) float64 { return meanOf(groups, func(g group) float64 { return g.others }) }

func meanOf(groups []group, of func(group) float64) float64 { return stat.Mean(each.Of(groups, of)) }

// tell notes the figures of two stretches.
func (c *Change) tell(before, after []group) {
	c.Before, c.After, c.BeforeS, c.AfterS = mean(before), mean(after), 0, 0
	if c.Of == p50 {
		c.Before, c.After = math.Exp(c.Before), math.Exp(c.After)
	}
	for _, g := range before {
		c.BeforeS += g.seconds
	}
	for _, g := range after {
		c.AfterS += g.seconds
	}
}

// CutAt leaves the blocks of a load up to one out of the figures.
func (c *Change) CutAt(block int, l Load) {
	c.CutBlock, c.LeftS = block, 0
	for _, t := range l.Turns {
		if t.Block > block {
			c.LeftS += float64(t.ToNs-t.FromNs) / 1e9
		}
	}
}

func (c *Change) matters() bool {
	least := leastRate
	if c.Of == p50 {
		least = leastTime
	}
	return max(c.Before, c.After) >= least*min(c.Before, c.After)
}

// weight is by how much figures are off that say nothing of the change.
func (c *Change) weight() float64 {
	if c.CutBlock > 0 {
		return 0
	}
	return 1 - min(c.Before, c.After)/max(c.Before, c.After)
}

// largestStep returns before which reading the largest step lies, and its size.
func largestStep(xs []float64) (at int, size float64) {
	n, squares, all := float64(len(xs)), 0.0, 0.0
	for i, x := range xs {
		all += x
		if i > 0 {
			squares += (x - xs[i-1]) * (x - xs[i-1])
		}
	}
	scale, sum := math.Sqrt(squares/(2*(n-1))), 0.0
	if !(scale > 0) {
		return 0, 0
	}
	for i := 1; i < len(xs); i++ {
		sum += xs[i-1]
		k := float64(i)
		if d := math.Abs(sum-k*all/n) / math.Sqrt(k*(n-k)/n) / scale; d > size {
			at, size = i, d
		}
	}
	return at, size
}

// alike is how much neighbouring readings may resemble each other: their correlation.
const alike = 0.5

// nulls are the sizes of the largest steps of readings that do not change, rising, by how
// many readings there are.
var nulls sync.Map

// manyReadings is from how many readings on half the level is taken: the nulls are normal, and
// of rates of which a few lie far above the others as many readings show a step twice as often.
const manyReadings = 24

// critical is what the largest step of so many readings exceeds by chance at a level.
func critical(n int, level float64) float64 {
	const rounds = 20000
	known, ok := nulls.Load(n)
	if !ok {
		random, sizes, xs := rand.New(rand.NewPCG(uint64(n), 51)), make([]float64, rounds), make([]float64, n)
		for i := range sizes {
			x := random.NormFloat64()
			for j := range xs {
				xs[j] = x
				x = alike*x + math.Sqrt(1-alike*alike)*random.NormFloat64()
			}
			_, sizes[i] = largestStep(xs)
		}
		slices.Sort(sizes)
		known, _ = nulls.LoadOrStore(n, sizes)
	}
	if n >= manyReadings {
		level /= 2
	}
	sizes := known.([]float64)
	return sizes[min(int(math.Ceil((1-level)*rounds)), rounds-1)]
}

// warmUp is how many readings to leave out at the start so that the mean of the others is
// known best; mostWarm tells that there is no end to it.
//
// Source: K. P. White, An effective truncation heuristic for bias reduction in simulation
// output, 1997 (MSER).
func warmUp(xs []float64) int {
	best, least := 0, math.Inf(1)
	for k := range mostWarm(len(xs)) + 1 {
		rest := xs[k:]
		n, sd := float64(len(rest)), stat.SD(rest)
		if e := sd * sd * (n - 1) / (n * n); e < least {
			best, least = k, e
		}
	}
	return best
}

func mostWarm(readings int) int { return readings * 2 / 3 }

// gradual tells whether a line fits readings better than a step.
func gradual(xs []float64, at int) bool {
	squares := func(xs []float64) float64 { sd := stat.SD(xs); return sd * sd * float64(max(len(xs)-1, 0)) }
	slope, ok := stat.Slope(xs)
	if !ok {
		return false
	}
	flat := make([]float64, len(xs))
	for i, x := range xs {
		flat[i] = x - slope.Point*float64(i)
	}
	step := 0.0
	for _, side := range [][]float64{xs[:at], xs[at:]} {
		if len(side) > 1 {
			step += squares(side)
		}
	}
	return squares(flat) < step
}

// Words are a sentence about a server.
func (c *Change) Words(server string) string {
	how, what, figure := "slower", "", quantity.FormatRate
	if c.Faster {
		how = "faster"
	}
	if c.Of == p50 {
		what, figure = "p50 ", seconds
	}
	text := fmt.Sprintf("%s became %s while it was measured: %s%s in the first %.0f s, %s in the last %.0f s",
		server, how, what, figure(c.Before), c.BeforeS, figure(c.After), c.AfterS)
	if c.CutBlock > 0 {
		return text + fmt.Sprintf("; figures are of the last %.0f s.", c.LeftS)
	}
	return text + "; figures are of all."
}
