package answer

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// said is an advice in words, each part in forms of which the fullest is first.
type said struct {
	first  []string // what forbids or limits it
	use    []string // what to use; nil where nothing is advised
	others []string // what the others cost
	open   []string // what is not settled, and how to go on
	named  []string // arms that it is about
}

// advise puts what was judged into words.
func (f Found) advise() said {
	switch {
	case f.Best == nil && f.early():
		return f.tooEarly()
	case f.Best == nil:
		return said{}
	}
	s := said{}
	if !slices.ContainsFunc(f.Best.Advice, func(a best.Advice) bool { return a.Kind != best.Nothing }) {
		s = f.one(f.Best.Advice[0])
	} else if f.early() {
		s = f.tooEarly()
	} else if len(f.Best.Advice) == 1 {
		s = f.one(f.Best.Advice[0])
	} else {
		s = f.several(f.Best.Advice)
	}
	s.first = append(s.first, f.mute(), f.generator(), f.out(), f.refused(), f.link(s.named))
	return s
}

// one says an advice that holds in every cell.
func (f Found) one(a best.Advice) said {
	s := said{named: a.Arms}
	switch a.Kind {
	case best.Nothing:
		s.use = []string{"So nothing is advised."}
	case best.Use:
		s.use = f.forms("Use "+f.anyOf(a.Arms)+f.on(a), a.Arms, a.Cells)
		s.others, s.open = f.others(a)
	case best.Either:
		s.use = []string{fmt.Sprintf("Take whichever you like for other reasons: no difference above %s %% was left possible%s.", percent(a.Less), f.on(a))}
		if figures := f.figures(a.Arms, a.Cells, false); figures != "" {
			s.others = []string{fmt.Sprintf("%s come to %s.", part.Capital(quantity.Plural(len(a.Arms), "arm")), figures)}
		}
	case best.Undecided:
		if s.use = f.partly(a); s.use == nil {
			s.use = f.forms("Not decided: "+f.mayBe(a), a.Arms, a.Cells)
		}
		s.others, _ = f.others(a)
		s.open = f.goOn()
	case best.Trade:
		s = f.trade(a)
	}
	return s
}

// mayBe says which arms may be the best; one that is the only one left on all metrics
// together is shown to be so on none of them.
func (f Found) mayBe(a best.Advice) string {
	if others := f.uncompared(a.Cells); len(others) > 0 {
		return f.anyOf(a.Arms) + " may be the best, and so may " + f.anyOf(others) + ", not compared"
	}
	if len(a.Arms) == 1 {
		return "only " + f.label(a.Arms[0]) + " may still be the best" + f.ofAll(a)
	}
	return f.anyOf(a.Arms) + " may be the best" + f.apart(a)
}

// ofAll says what an arm is the only one of all of: cells, where the first metric that
// is open decides, or metrics.
func (f Found) ofAll(a best.Advice) string {
	switch ordered := len(f.Header.Study.Recommend) > 0; {
	case len(a.Cells) > 1 && ordered:
		return " in every cell"
	case len(a.Cells) > 1:
		return " on every metric in every cell"
	case ordered:
		return ""
	}
	return " on every metric"
}

// apart bounds by how much the arms that may be the best differ; "" where that says little.
func (f Found) apart(a best.Advice) string {
	const little = 0.5
	most := 0.0
	for _, s := range f.Best.Sets {
		for _, one := range s.Arms {
			if one.Standing == best.Unknown { // it may be better by any share
				return ""
			}
			if slices.Contains(a.Cells, s.Cell) && slices.Contains(a.Arms, one.Name) {
				most = max(most, one.Hidden)
			}
		}
	}
	if most == 0 || most > little {
		return ""
	}
	return ", and none by more than " + percent(most) + " %"
}

// partly says on what the only arm that may be the best on every metric is shown to be; nil
// where that is nothing, or there are several.
func (f Found) partly(a best.Advice) []string {
	if len(a.Arms) != 1 {
		return nil
	}
	var shown, figures, open []string
	for _, m := range f.metrics() {
		if !f.stands(m.Name, a.Arms[0], a.Cells) {
			open = append(open, m.Doc)
			continue
		}
		shown = append(shown, m.Doc)
		if s, ok := f.spanIn(m, a.Arms, a.Cells); ok {
			figures = append(figures, bare(m, s, ""))
		}
	}
	if len(shown) == 0 || len(open) == 0 {
		return nil
	}
	text := "Use " + f.label(a.Arms[0]) + " for " + part.And(shown)
	return []string{
		text + part.Bracketed(part.And(figures)) + "; on " + part.And(open) + " the best is not decided.",
		text + "; on " + part.And(open) + " the best is not decided.",
		text + "; on other metrics the best is not decided.",
	}
}

// stands tells whether an arm is shown to be the best or level on a metric in some cells.
func (f Found) stands(metric, arm string, in []string) bool {
	n := 0
	for _, s := range f.Best.Sets {
		for _, one := range s.Arms {
			if s.Metric == metric && one.Name == arm && slices.Contains(in, s.Cell) && (one.Standing == best.Best || one.Standing == best.Level) {
				n++
			}
		}
	}
	return n == len(in)
}

// on names the metrics that decide, where others say nothing.
func (f Found) on(a best.Advice) string {
	if len(a.Mute) == 0 {
		return ""
	}
	var docs []string
	for _, m := range f.metrics() {
		docs = append(docs, m.Doc)
	}
	return " for " + part.And(docs)
}

// forms are a beginning with the figures of arms, with the interval, without it, and alone.
func (f Found) forms(beginning string, arms, in []string) []string {
	all := []string{}
	for _, interval := range []bool{true, false} {
		if figures := f.figures(arms, in, interval); figures != "" {
			all = append(all, beginning+": "+figures+".")
		}
	}
	return append(all, beginning+".")
}

// trade names the best on each metric, and what that costs on the other.
func (f Found) trade(a best.Advice) said {
	s := said{}
	var parts, short, prices []string
	for _, p := range a.Picks {
		m := metric.Shown(p.Metric)
		s.named = append(s.named, p.Arms...)
		words := f.anyOf(p.Arms)
		switch {
		case p.Decided && len(p.Arms) == 1:
			words += " " + superlative(m)
		case p.Decided:
			words = f.few(p.Arms) + " are level on " + m.Doc
		default:
			words += " may be the best on " + m.Doc
			s.open = f.goOn()
		}
		short = append(short, words)
		if s, ok := f.spanIn(m, p.Arms, a.Cells); p.Decided && ok {
			words += ", " + bare(m, s, "")
		}
		parts = append(parts, words)
	}
	costs := func(arm, name, than string) {
		if price, ok := f.priceOf(name, a.Cells, []string{arm}, than); ok {
			prices = append(prices, f.label(arm)+" "+priced(metric.Shown(name), price, false, false))
		}
	}
	for first, i := a.Picks[0], 1; i < len(a.Picks) && first.Decided; i++ {
		if other := a.Picks[i]; other.Decided {
			costs(first.Arms[0], other.Metric, other.Arms[0])
			costs(other.Arms[0], first.Metric, first.Arms[0])
		}
	}
	s.use = []string{f.sentenceOf(strings.Join(parts, "; ")), f.sentenceOf(strings.Join(short, "; "))}
	if len(prices) > 0 {
		s.others = []string{f.sentenceOf(strings.Join(prices, "; ")), f.sentenceOf(prices[0])}
	}
	return s
}

// early tells whether too few blocks have run for any verdict.
func (f Found) early() bool {
	if f.Look != nil && f.Look.Level == 0 && f.Header.Study.Settle == 0 {
		return len(f.Comparisons) > 0
	}
	return f.Best != nil && f.most(nil, func(arm cells.Arm) bool {
		return blocksOf(arm) < compare.LeastBlocks(cells.Level)
	})
}

func blocksOf(arm cells.Arm) int {
	blocks := map[int]bool{}
	for _, t := range arm.Trials {
		if t.Status == trial.Valid {
			blocks[t.Block] = true
		}
	}
	return len(blocks)
}

// tooEarly says that nothing is told apart yet, and who has the best mean so far.
func (f Found) tooEarly() said {
	blocks := 0
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			blocks = max(blocks, blocksOf(arm))
		}
	}
	s := said{first: []string{fmt.Sprintf("%s cannot tell arms apart: %d are needed at least", quantity.Plural(blocks, "block"), compare.LeastBlocks(cells.Level))}, open: f.goOn()}
	s.use = []string{"Nothing is advised yet."}
	if len(f.Cells) != 1 || len(f.Header.Study.Compare.Primary) == 0 {
		return s
	}
	m := metric.Shown(f.Header.Study.Compare.Primary[0])
	leader, value := "", 0.0
	for _, arm := range f.Cells[0].Arms {
		if x, ok := summary(arm, m.Name); ok && (leader == "" || (x.Value > value) == (m.Better == metric.Higher)) {
			leader, value = arm.Name, x.Value
		}
	}
	if leader != "" && m.Better != "" {
		s.named = []string{leader}
		s.use = []string{f.sentenceOf("so far " + f.label(leader) + " " + superlative(m) + ", " + amount(m, span{value, value}, "") + ", which may be chance"), s.use[0]}
	}
	return s
}

// mostBlocks bounds the blocks that are advised: nobody waits for more.
const mostBlocks = 100

// goOn is the one command that goes on, or what else may tell.
func (f Found) goOn() []string {
	if f.Look != nil && f.Look.Next > 0 {
		return []string{"To go on: " + compare.GoOn(f.Header) + "."}
	}
	most, decides := 0, ""
	for _, c := range f.Comparisons {
		if !c.Primary || c.Decides == "" {
			continue
		}
		if _, command, found := strings.Cut(c.Decides, "netdyno run "); found {
			return []string{"To go on: netdyno run " + command + "."}
		}
		if c.NeedsMore >= most {
			most, decides = c.NeedsMore, c.Decides
		}
	}
	switch {
	case decides == "":
		return []string{"A new run with more blocks may tell."}
	case most > mostBlocks:
		return []string{fmt.Sprintf("%d blocks would not tell: longer windows or a quieter machine may.", mostBlocks)}
	case most > 0:
		return []string{fmt.Sprintf("A new run with blocks=%d may tell.", most)}
	}
	return []string{"More blocks would not tell: a longer window or a quieter machine may."}
}
