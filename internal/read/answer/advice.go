package answer

import (
	"fmt"
	"slices"
	"strconv"
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
	if f.early() {
		s = f.tooEarly()
	} else if len(f.Best.Advice) == 1 {
		s = f.one(f.Best.Advice[0])
	} else {
		s = f.several(f.Best.Advice)
	}
	s.first = append(s.first, f.mute(), f.generator(), f.out(), f.link(s.named))
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
		s.use = f.forms("Not decided: "+f.anyOf(a.Arms)+" may be the best", a.Arms, a.Cells)
		s.others, _ = f.others(a)
		s.open = f.goOn()
	case best.Trade:
		s = f.trade(a)
	}
	return s
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
			words = f.allOf(p.Arms) + " are level on " + m.Doc
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
	if a.Picks[0].Decided {
		for _, p := range a.Picks[1:] {
			m := metric.Shown(p.Metric)
			if !p.Decided {
				continue
			}
			if price, ok := f.priceOf(p.Metric, a.Cells, a.Picks[0].Arms[:1], p.Arms[0]); ok {
				prices = append(prices, f.label(a.Picks[0].Arms[0])+" "+priced(m, price, false, false))
			}
			first := metric.Shown(a.Picks[0].Metric)
			if price, ok := f.priceOf(a.Picks[0].Metric, a.Cells, p.Arms[:1], a.Picks[0].Arms[0]); ok {
				prices = append(prices, f.label(p.Arms[0])+" "+priced(first, price, false, false))
			}
		}
	}
	s.use = []string{f.sentenceOf(strings.Join(parts, "; ")), f.sentenceOf(strings.Join(short, "; "))}
	if len(prices) > 0 {
		s.others = []string{f.sentenceOf(strings.Join(prices, "; ")), f.sentenceOf(prices[0])}
	}
	return s
}

// several says cells that disagree: an arm that is nowhere shown to be beaten, where which
// arm, or who may be the best in how many cells.
func (f Found) several(all []best.Advice) said {
	s := said{}
	total := 0
	kinds := map[best.Kind]int{}
	for _, a := range all {
		total += len(a.Cells)
		kinds[a.Kind] += len(a.Cells)
		s.named = append(s.named, a.Arms...)
	}
	if kinds[best.Undecided] > 0 {
		s.open = f.goOn()
	}
	if arm, in := everywhere(all); arm != "" && 2*len(in) > total {
		s.named = []string{arm}
		beginning := "Use " + f.label(arm)
		if len(in) < total {
			beginning += fmt.Sprintf(", the best or level in %d of %d cells and beaten in none", len(in), total)
		}
		s.use = f.forms(beginning, s.named, in)
		return s
	}
	if kinds[best.Undecided] == total {
		if left := everywhereOpen(all); len(left) > 0 {
			a := best.Advice{Kind: best.Undecided, Arms: left}
			for _, one := range all {
				a.Cells = append(a.Cells, one.Cells...)
			}
			return f.one(a)
		}
	}
	if text := f.along(all); text != "" {
		s.use = []string{text}
		s.others = f.crossing(s.named)
		return s
	}
	s.use, s.others = f.byCell(all, kinds, total), f.crossing(s.named)
	return s
}

// everywhereOpen are the arms that may be the best in every cell.
func everywhereOpen(all []best.Advice) []string {
	left := slices.Clone(all[0].Arms)
	for _, a := range all[1:] {
		left = slices.DeleteFunc(left, func(arm string) bool { return !slices.Contains(a.Arms, arm) })
	}
	return left
}

// byCell names the cells of each advice, or counts them.
func (f Found) byCell(all []best.Advice, kinds map[best.Kind]int, total int) []string {
	told := slices.DeleteFunc(slices.Clone(all), func(a best.Advice) bool { return a.Kind != best.Use && a.Kind != best.Either })
	slices.SortStableFunc(told, func(a, b best.Advice) int { return len(b.Cells) - len(a.Cells) })
	var rest []string
	for _, of := range []struct {
		kind  best.Kind
		words string
	}{{best.Undecided, "not decided"}, {best.Trade, "no arm is the best on every metric"}, {best.Nothing, "nothing can be compared"}} {
		if n := kinds[of.kind]; n > 0 {
			rest = append(rest, fmt.Sprintf("%s in %d", of.words, n))
		}
	}
	var forms []string
	for _, most := range []int{4, armsSaid, 2, 1} {
		parts, more := []string{}, 0
		for i, a := range told {
			if i >= most {
				more += len(a.Cells)
				continue
			}
			text := f.inOne(a)
			if i > 0 {
				text = strings.TrimPrefix(text, "use ")
			}
			where := f.where(a.Cells, total)
			if i > 0 {
				where = strings.TrimSuffix(where, fmt.Sprintf(" of %d cells", total))
			}
			parts = append(parts, text+where)
		}
		if more > 0 {
			parts = append(parts, fmt.Sprintf("other arms in %d", more))
		}
		if len(told) == 0 {
			parts = []string{"no arm is shown to be the best" + f.possible(all, total)}
		} else {
			parts = append(parts, rest...)
		}
		forms = append(forms, f.sentenceOf(strings.Join(parts, "; ")))
	}
	return forms
}

// possible says which arms may be the best in most cells.
func (f Found) possible(all []best.Advice, total int) string {
	count := map[string]int{}
	var arms []string
	for _, a := range all {
		for _, arm := range a.Arms {
			if count[arm] == 0 {
				arms = append(arms, arm)
			}
			count[arm] += len(a.Cells)
		}
	}
	slices.SortStableFunc(arms, func(a, b string) int { return count[b] - count[a] })
	var parts []string
	for _, arm := range arms[:min(2, len(arms))] {
		parts = append(parts, fmt.Sprintf("%s may be in %d of %d cells", f.label(arm), count[arm], total))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.ReplaceAll(part.And(parts), fmt.Sprintf(" of %d cells and ", total), fmt.Sprintf(" of %d cells, and ", total))
}

// everywhere is the arm that is the best or level in most cells, and those, if it may be
// the best in all others.
func everywhere(all []best.Advice) (arm string, in []string) {
	fit, possible, total := map[string][]string{}, map[string]int{}, 0
	var order []string
	for _, a := range all {
		total += len(a.Cells)
		for _, arm := range a.Arms {
			if possible[arm] += len(a.Cells); !slices.Contains(order, arm) {
				order = append(order, arm)
			}
			if a.Kind == best.Use || a.Kind == best.Either {
				fit[arm] = append(fit[arm], a.Cells...)
			}
		}
	}
	for _, one := range order {
		if possible[one] == total && len(fit[one]) > len(in) {
			arm, in = one, fit[one]
		}
	}
	return arm, in
}

// along says where one arm, where another, if the cells are the levels of one factor and
// each of two arms is to be used on one side.
func (f Found) along(all []best.Advice) string {
	if len(all) != 2 || all[0].Kind != best.Use || all[1].Kind != best.Use {
		return ""
	}
	factor := ""
	ends := [2]span{}
	for i, a := range all {
		var at []float64
		for _, cell := range a.Cells {
			name, level, _ := strings.Cut(cell, "=")
			x, err := strconv.ParseFloat(level, 64)
			if err != nil || factor != "" && name != factor {
				return ""
			}
			factor, at = name, append(at, x)
		}
		ends[i] = spanOf(at)
	}
	if ends[0].low > ends[1].low {
		all, ends = []best.Advice{all[1], all[0]}, [2]span{ends[1], ends[0]}
	}
	if ends[0].high >= ends[1].low {
		return ""
	}
	at := func(x float64) string {
		return cells.Spoken(factor + "=" + strconv.FormatFloat(x, 'f', -1, 64))
	}
	use := func(a best.Advice) string {
		if figure := f.figures(a.Arms, a.Cells, false); figure != "" {
			return f.anyOf(a.Arms) + " (" + figure + ")"
		}
		return f.anyOf(a.Arms)
	}
	return fmt.Sprintf("Use %s up to %s, and %s from %s.", use(all[0]), at(ends[0].high), use(all[1]), at(ends[1].low))
}

// crossing is where two of some arms cross, as a chart of a judged metric found it.
func (f Found) crossing(arms []string) []string {
	for _, c := range f.Charts {
		for _, x := range c.Crosses {
			if slices.Contains(arms, x.Arm) && slices.Contains(arms, x.Base) && slices.Contains(f.Header.Study.Compare.Primary, c.Spec.Metric) {
				return []string{fmt.Sprintf("They cross at about %s (%s–%s).", cells.Spoken(x.Factor+"="+x.At), x.Low, x.High)}
			}
		}
	}
	return nil
}

// inOne says an advice as a part of a sentence.
func (f Found) inOne(a best.Advice) string {
	switch a.Kind {
	case best.Use:
		return "use " + f.anyOf(a.Arms)
	case best.Either:
		return "take whichever you like"
	case best.Undecided:
		return "not decided: " + f.anyOf(a.Arms)
	case best.Nothing:
		return "nothing is advised"
	}
	var picks []string
	for _, p := range a.Picks {
		picks = append(picks, f.anyOf(p.Arms)+" for "+metric.Shown(p.Metric).Doc)
	}
	return part.And(picks)
}

// inShort is an advice as a sentence, with all its cells.
func (f Found) inShort(a best.Advice) string {
	var in []string
	for _, cell := range a.Cells {
		in = append(in, cells.CellLabel(f.Header.Study, cell))
	}
	return f.sentenceOf(f.inOne(a) + ": " + strings.Join(in, "; "))
}

// cellWords bounds the names of cells that are said.
const cellWords = 9

// where names the cells of an advice, or counts them.
func (f Found) where(of []string, total int) string {
	var in []string
	for _, cell := range of {
		in = append(in, cells.CellLabel(f.Header.Study, cell))
	}
	if len(of) > 2 || words(in) > cellWords {
		return fmt.Sprintf(" in %d of %d cells", len(of), total)
	}
	return " at " + part.And(in)
}

// out says which arms did not do the work.
func (f Found) out() string {
	by := map[best.Why][]string{}
	for _, o := range f.Best.Out {
		if !slices.Contains(by[o.Why], o.Arm) {
			by[o.Why] = append(by[o.Why], o.Arm)
		}
	}
	var parts []string
	if arms := by[best.Absent]; len(arms) > 0 {
		parts = append(parts, f.few(arms)+" cannot run here")
	}
	if arms := by[best.Failed]; len(arms) > 0 {
		parts = append(parts, f.few(arms)+" gave no valid trial")
	}
	if arms := by[best.Overloaded]; len(arms) > 0 {
		parts = append(parts, f.few(arms)+" fell behind the offered rate")
	}
	return strings.Join(parts, "; ")
}

// mute says on which metrics nothing can be compared, those for one reason together.
func (f Found) mute() string {
	var reasons []string
	docs := map[string][]string{}
	for _, a := range f.Best.Advice {
		for _, m := range a.Mute {
			reason := ": " + strings.TrimSuffix(m.Reason, ".")
			switch {
			case strings.HasSuffix(reason, compare.OthersTurnRatios):
				if reason = ", as " + compare.OthersTurnRatios; besideOthers(f.Run) == "" {
					reason = ": other processes used the CPUs, and " + compare.OthersTurnRatios
				}
			case compare.IsLatency(m.Metric) && f.most(a.Cells, func(arm cells.Arm) bool { return flagged(arm, trial.Overloaded) }):
				reason = ": no arm kept up with the offered rate" + f.achieved(a.Cells)
			}
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
			if doc := metric.Shown(m.Metric).Doc; !slices.Contains(docs[reason], doc) {
				docs[reason] = append(docs[reason], doc)
			}
		}
	}
	var parts []string
	for _, reason := range reasons {
		parts = append(parts, "on "+part.And(docs[reason])+" nothing can be compared"+reason)
	}
	return strings.Join(parts, "; ")
}

// generator says whose figures are those of the load generator.
func (f Found) generator() string {
	var limited []string
	for _, set := range f.Best.Sets {
		for _, a := range set.Arms {
			if arm, ok := f.armIn(set.Cell, a.Name); ok && a.Standing == best.Unknown && strings.HasPrefix(string(arm.Limit), "client-") && !slices.Contains(limited, a.Name) {
				limited = append(limited, a.Name)
			}
		}
	}
	if len(limited) == 0 {
		return ""
	}
	return "the load generator was the limit for " + f.few(limited) + ", which may be faster than measured; give the clients more CPUs or processes (clients=2)"
}

// link says that the link was the limit for all that is advised.
func (f Found) link(named []string) string {
	if len(named) == 0 || !f.most(nil, func(arm cells.Arm) bool { return !slices.Contains(named, arm.Name) || arm.Limit == trial.Link }) {
		return ""
	}
	return "the link was full: the rates are the link's"
}

// most tells whether something holds for every arm of some cells; nil for all cells.
func (f Found) most(in []string, holds func(cells.Arm) bool) bool {
	for _, cell := range f.Cells {
		if in != nil && !slices.Contains(in, cell.Name) {
			continue
		}
		if slices.ContainsFunc(cell.Arms, func(a cells.Arm) bool { return !holds(a) }) {
			return false
		}
	}
	return true
}

// flagged tells whether most of an arm's trials have a flag.
func flagged(arm cells.Arm, flag string) bool {
	n := 0
	for _, t := range arm.Trials {
		if slices.Contains(t.Flags, flag) {
			n++
		}
	}
	return 2*n > len(arm.Trials)
}

// achieved is the most that an arm served in some cells.
func (f Found) achieved(in []string) string {
	most := 0.0
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			if s, ok := summary(arm, metric.ExchangesPerS); ok && slices.Contains(in, cell.Name) {
				most = max(most, s.Value)
			}
		}
	}
	if most == 0 {
		return ""
	}
	m := metric.Shown(metric.ExchangesPerS)
	return ", " + part.WithUnit(most, m.Scale(most)) + " were served at most; offer less"
}

// early tells whether too few blocks have run for any verdict.
func (f Found) early() bool {
	if f.Stage != nil && f.Stage.Level == 0 && f.Header.Study.Settle == 0 {
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

// goOn is the one command that goes on, or what else may tell.
func (f Found) goOn() []string {
	if f.Stage != nil && f.Stage.Next > 0 {
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
	case most > 0:
		return []string{fmt.Sprintf("A new run with blocks=%d may tell.", most)}
	}
	return []string{"More blocks would not tell: a longer window or a quieter machine may."}
}
