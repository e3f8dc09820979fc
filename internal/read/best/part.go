package best

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/stat"
)

// Judged are the sets of a run, and what they advise.
type Judged struct {
	Margin float64  `json:"margin"` // a smaller difference is none, 0.02 for 2 %
	Sets   []Set    `json:"sets"`
	Advice []Advice `json:"advice"`
	Out    []Out    `json:"out,omitempty"` // arms of which nothing is said

	names cells.Names
	of    map[[2]string]*judging // by cell and metric
	done  int                    // blocks
	block time.Duration          // what one took
}

// Read judges a run; nil where nothing may be said of a best arm.
func Read(s *cells.Dataset, noise []compare.Noise) *Judged {
	out := leftOut(s)
	all := gatherAll(s, noise, out)
	if len(all) == 0 {
		return nil
	}
	j := &Judged{Margin: compare.Margin(s.Compare), Out: out, names: s.Names, of: map[[2]string]*judging{}}
	j.done, j.block = blockTime(s)
	for _, one := range all {
		j.Sets = append(j.Sets, one.judge(nil))
		j.of[[2]string{one.cell, one.metric}] = one
	}
	j.Out = append(j.Out, refused(j.Sets)...)
	if j.Advice = Advise(j.Sets); len(s.Recommend) > 0 {
		j.Advice = inOrder(all, s.Recommend)
	}
	return j
}

// Price is what an arm has of a metric against another in a cell.
type Price struct {
	Ratio float64 // arm ÷ base, over the blocks of both; 0 where it is not known
	Low   float64 // its interval, of the level that a comparison of the set has
	High  float64
	Worse bool // it is shown to be worse by more than the bound
}

// PriceOf compares two arms on a metric.
func (j *Judged) PriceOf(cell, metric, arm, base string) Price {
	in, p := j.between(cell, metric, arm, base)
	if p.ratio.Degrees == 0 {
		return Price{}
	}
	e := p.ratio.At(in.share())
	if !cells.Known(p.blocks, math.Exp(e.Point), math.Exp(e.Low), math.Exp(e.High)) {
		return Price{}
	}
	worse := in.surely(slices.Index(in.arms, base), slices.Index(in.arms, arm)) > math.Log1p(in.bound)
	return Price{math.Exp(e.Point), math.Exp(e.Low), math.Exp(e.High), worse}
}

// between is what is known of one arm against another; no Degrees for nothing.
func (j *Judged) between(cell, metric, arm, base string) (*judging, pair) {
	in := j.of[[2]string{cell, metric}]
	if in == nil {
		return nil, pair{}
	}
	i, k := slices.Index(in.arms, arm), slices.Index(in.arms, base)
	if i < 0 || k < 0 || i == k {
		return nil, pair{}
	}
	return in, in.pairs[i][k]
}

// Blocks returns how many blocks in all are expected to tell two arms apart on a metric, or
// to show them equal; 0 where no number does that anybody runs. Their difference and its
// scatter are known from few blocks, so it is the third of what they may need by the
// posterior of both under flat priors: of all its quantiles that one is within a factor of
// two of the truth most often, in two of three runs (the difference as it was measured: in
// two of five).
func (j *Judged) Blocks(cell, metric, arm, base string) int {
	in, p := j.between(cell, metric, arm, base)
	if p.ratio.Degrees == 0 {
		return 0
	}
	bounds := stat.Bounds{Inside: math.Log1p(in.margin), Outside: math.Log1p(in.bound), Shared: int(math.Round((1 - stat.Confidence) / in.share()))}
	var all []int
	for _, scatter := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
		off := p.ratio.Error * math.Sqrt(p.ratio.Degrees/chiSquaredBeyond(p.ratio.Degrees, scatter))
		for at := 0.05; at < 1; at += 0.1 {
			n := stat.BlocksToSettle(p.ratio.Point+off*stat.NormalBeyond(at), off*math.Sqrt(float64(p.blocks)), bounds, p.blocks+1)
			if n == 0 {
				n = math.MaxInt
			}
			all = append(all, n)
		}
	}
	slices.Sort(all)
	if n := all[len(all)/3]; n < math.MaxInt {
		return compare.InAll(n, p.blocks, p.of)
	}
	return 0
}

// chiSquaredBeyond is the value above which a share of χ² lies, by Wilson and Hilferty, 1931.
func chiSquaredBeyond(degrees, share float64) float64 {
	return degrees * math.Pow(1-2/(9*degrees)+stat.NormalBeyond(share)*math.Sqrt(2/(9*degrees)), 3)
}

// Takes is how long a run of so many blocks still takes, by what its blocks took; 0 where
// nobody knows, and where it has that many.
func (j *Judged) Takes(blocks int) time.Duration {
	return time.Duration(max(0, blocks-j.done)) * j.block
}

// blockTime is what a block took, and how many there are, by when trials started.
func blockTime(s *cells.Dataset) (done int, block time.Duration) {
	var first, last time.Time
	trials := 0
	for _, v := range s.Trials {
		if v.Record == nil || v.Record.StartedAt.IsZero() {
			continue
		}
		at := v.Record.StartedAt
		if trials++; first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
		done = max(done, v.Plan.Block)
	}
	if trials < 2 || done == 0 {
		return done, 0
	}
	return done, last.Sub(first) * time.Duration(trials) / time.Duration((trials-1)*done)
}

// Part has a table for each metric of who may be the best, where that is not the comparison
// of two arms.
func (j *Judged) Part() part.Part {
	p := part.Part{ID: "best", Title: "Who may be the best"}
	if j == nil {
		return p
	}
	s := part.Section{ID: "best-arms", Title: "Every arm beside the best of its cell"}
	s.Notes = []string{fmt.Sprintf("The truly best arm of every cell and metric is among those not called worse, in 95 of 100 runs for all of them together; a difference below %s is none.", quantity.FormatShare(j.Margin))}
	for _, name := range j.metrics() {
		if t := j.table(name); len(t.Rows) > 0 {
			s.Tables = append(s.Tables, part.Bounded(t))
		}
	}
	if len(s.Tables) > 0 {
		p.Sections = []part.Section{s}
	}
	return p
}

// metrics are those of the sets, each once.
func (j *Judged) metrics() []string {
	var names []string
	for _, s := range j.Sets {
		if !slices.Contains(names, s.Metric) {
			names = append(names, s.Metric)
		}
	}
	return names
}

// table has a row for each arm of each cell with more than two, of which some are compared.
func (j *Judged) table(name string) part.Table {
	largest := 0.0
	for _, s := range j.Sets {
		for _, a := range s.Arms {
			if s.Metric == name {
				largest = max(largest, a.Value)
			}
		}
	}
	scale := part.ScaleFor(name, largest)
	t := part.Table{
		Caption: part.AxisTitle(name, scale) + ". The ratio is to the first arm of the cell, over the blocks of both.",
		Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm"), part.Titles("standing"), part.Figures(part.Label(name), "÷ first")),
	}
	for _, s := range j.Sets {
		if s.Metric != name || len(s.Arms) < 3 || s.mute() {
			continue
		}
		for i, a := range s.Arms {
			row := []part.Datum{part.Word(j.names.CellOr(s.Cell, "all")), part.Word(a.Name), {Text: string(a.Standing), Detail: a.why()}, part.Missing(), part.Missing()}
			if a.Value > 0 {
				row[3] = part.Value(scale.Format(a.Value), "")
			}
			if i > 0 && a.Ratio > 0 {
				row[4] = part.Datum{Ratio: part.RatioOver(a.Blocks, a.Of, a.Ratio, a.Low, a.High)}
			}
			t.Rows = append(t.Rows, row)
			if a.Standing == Unknown {
				t.Notes = append(t.Notes, fmt.Sprintf("%s%s: %s.", j.names.Arm(a.Name), j.names.At(s.Cell), strings.TrimSuffix(a.Reason, ".")))
			}
		}
	}
	return t
}

// why is the ground of a standing, where it needs one.
func (a Arm) why() string {
	switch {
	case a.Standing == Worse:
		return "than " + a.By
	case a.Hidden > 0 && a.Hidden < 1:
		return "another is better by " + quantity.FormatShare(a.Hidden) + " at most"
	}
	return ""
}
