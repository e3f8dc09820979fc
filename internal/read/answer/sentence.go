package answer

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// said is a sentence of the list.
type said struct {
	kind   Kind
	text   string
	open   bool // going on may decide it
	blocks int  // in all that are expected to do so; 0 where nobody knows
}

// sentence is the one of the list that the run's evidence holds.
func (f Found) sentence() said {
	decided := f.Best != nil && slices.ContainsFunc(f.Best.Advice, func(a best.Advice) bool {
		return a.Kind == best.Use || a.Kind == best.Either || a.Kind == best.Trade
	})
	refused := f.Best != nil && !slices.ContainsFunc(f.Best.Advice, func(a best.Advice) bool { return a.Kind != best.Nothing })
	if blocks, early := f.early(); early && !decided && !refused {
		text := fmt.Sprintf("No answer yet: %s ran, and %d tell arms apart at the earliest.", quantity.Plural(blocks, "round"), compare.LeastBlocks(cells.Level))
		return said{kind: Early, text: text, open: true}
	}
	if f.Best == nil {
		if text := f.alone(); text != "" {
			return said{kind: Alone, text: text}
		}
		return said{kind: None, text: nothing(f.Run)}
	}
	if len(f.Best.Advice) == 1 {
		return f.advised(f.Best.Advice[0])
	}
	return f.byCell(f.Best.Advice)
}

// early tells whether too few blocks have run for any verdict, and how many have.
func (f Found) early() (blocks int, early bool) {
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			ran := map[int]bool{}
			for _, t := range arm.Trials {
				if t.Status == trial.Valid {
					ran[t.Block] = true
				}
			}
			blocks = max(blocks, len(ran))
		}
	}
	if f.Look != nil && f.Look.Level == 0 && !f.Plan().Kind.Ended {
		return blocks, len(f.Comparisons) > 0
	}
	return blocks, f.Best != nil && blocks < compare.LeastBlocks(cells.Level)
}

// advised says an advice that holds in every cell.
func (f Found) advised(a best.Advice) said {
	switch a.Kind {
	case best.Use:
		return said{kind: Use, text: f.use(a)}
	case best.Either:
		return said{kind: Equal, text: fmt.Sprintf("Use any of them: %s are equal within %s %%.", f.listed(a.Arms, quantity.And), percent(cmp.Or(a.Less, f.Best.Margin)))}
	case best.Undecided:
		return f.open(a)
	case best.Trade:
		return said{kind: Trade, text: f.trade(a)}
	}
	reason := "its figures may not be compared"
	if len(a.Mute) > 0 {
		reason = strings.TrimSuffix(a.Mute[0].Reason, ".")
	}
	return said{kind: None, text: "No answer: " + reason + "."}
}

// use names what to use, and the nearest arm that is worse with what that costs.
func (f Found) use(a best.Advice) string {
	text := "Use " + f.listed(a.Arms, quantity.Or) + ": "
	if len(a.Arms) > 1 {
		text += fmt.Sprintf("they are equal within %s %%; ", percent(max(f.Best.Margin, a.Less)))
	}
	if worse := f.nearest(a); worse != "" {
		return text + worse + "."
	}
	if others := f.uncompared(a.Cells); len(others) > 0 {
		return text + f.listed(others, quantity.And) + " may not be compared with it."
	}
	for _, m := range f.metrics() {
		set, _ := f.set(a.Cells[0], m.Name)
		if rest := standing(set, best.Open); len(rest) > 0 && len(a.Arms) == 1 {
			return fmt.Sprintf("%snone is better by %s %%; how much worse %s is cannot be told%s.", text, percent(f.Best.Margin),
				f.listed(rest, quantity.Or), part.Bracketed(f.apart(a.Cells[0], m, append(slices.Clone(a.Arms), rest...))))
		}
	}
	return strings.TrimRight(text, ":; ") + "."
}

// nearest is the arm outside an advice that costs least more on the first metric on which
// any does, where it is nearest.
func (f Found) nearest(a best.Advice) string {
	for _, m := range f.metrics() {
		said, least := "", math.Inf(1)
		for _, cell := range a.Cells {
			set, _ := f.set(cell, m.Name)
			for _, arm := range set.Arms {
				if arm.Standing != best.Worse || slices.Contains(a.Arms, arm.Name) {
					continue
				}
				p := f.Best.PriceOf(cell, m.Name, arm.Name, a.Arms[0])
				if far := math.Abs(math.Log(p.Ratio)); p.Worse && far < least {
					least, said = far, f.costs(m, arm.Name, p)+f.in(cell, a.Cells)
				}
			}
		}
		if said != "" {
			return said
		}
	}
	return ""
}

// in says in which of several cells; nothing of the only one.
func (f Found) in(cell string, of []string) string {
	if len(of) < 2 {
		return ""
	}
	return " at " + f.Plan().Names.Cell(cell)
}

// open names arms that are too close to call, what is settled between them on other metrics,
// and how many blocks decide it.
func (f Found) open(a best.Advice) said {
	cell := a.Cells[0]
	var undecided metric.Metric
	var contenders []string
	for _, m := range f.metrics() {
		set, _ := f.set(cell, m.Name)
		if len(standing(set, best.Open)) > 0 {
			undecided, contenders = m, standing(set, best.Open, best.Level)
			break
		}
	}
	if others := f.uncompared(a.Cells); len(contenders) < 2 && len(others) > 0 {
		text := "Of those compared " + f.listed(a.Arms, quantity.Or) + " is best"
		if worse := f.nearest(a); worse != "" {
			text += ": " + worse
		}
		return said{kind: Open, text: text + "; " + f.listed(others, quantity.And) + " could not be compared."}
	}
	if len(contenders) < 2 {
		return said{kind: Open, text: fmt.Sprintf("Only %s may be the best of all, and is not shown to be.", f.listed(a.Arms, quantity.Or)), open: true}
	}
	of := ""
	if len(f.metrics()) > 1 {
		of = " on " + f.called(undecided)
	}
	verdict := "too close to call"
	if p := f.Best.PriceOf(cell, undecided.Name, contenders[1], contenders[0]); len(contenders) == 2 && p.Ratio > 0 && (p.Low > 1+f.Best.Margin || p.High < 1/(1+f.Best.Margin)) {
		verdict = "too few blocks to call" // some have no figure, or the level is later blocks'
	}
	text := fmt.Sprintf("%s: %s%s%s%s", f.listed(contenders, quantity.Or), verdict, of, part.Bracketed(f.apart(cell, undecided, contenders)), f.in(cell, a.Cells))
	if settled := f.settled(cell, undecided, contenders); settled != "" {
		text += "; " + settled
	}
	blocks := 0
	for _, other := range contenders[1:] {
		blocks = max(blocks, f.Best.Blocks(cell, undecided.Name, other, contenders[0]))
	}
	return said{Open, text + ".", true, blocks}
}

func standing(s best.Set, wanted ...best.Standing) (arms []string) {
	for _, a := range s.Arms {
		if slices.Contains(wanted, a.Standing) {
			arms = append(arms, a.Name)
		}
	}
	return arms
}

// apart bounds by how much the contenders of a metric differ.
func (f Found) apart(cell string, m metric.Metric, contenders []string) string {
	if len(contenders) == 2 {
		p := f.Best.PriceOf(cell, m.Name, contenders[1], contenders[0])
		if p.Ratio == 0 || p.High > 10 {
			return ""
		}
		return fmt.Sprintf("%s %s to %s %%", f.label(contenders[1]), signed(p.Low-1), signed(p.High-1))
	}
	most := 0.0
	set, _ := f.set(cell, m.Name)
	for _, a := range set.Arms {
		if a.Standing == best.Open {
			most = max(most, a.Hidden)
		}
	}
	if most >= 1 {
		return ""
	}
	return "within " + percent(most) + " %"
}

// settled says the first difference between contenders that another metric holds.
func (f Found) settled(cell string, undecided metric.Metric, contenders []string) string {
	for _, m := range f.metrics() {
		set, _ := f.set(cell, m.Name)
		first := slices.IndexFunc(set.Arms, func(a best.Arm) bool { return slices.Contains(contenders, a.Name) })
		if m.Name == undecided.Name || first < 0 {
			continue
		}
		for _, a := range set.Arms[first+1:] {
			if p := f.Best.PriceOf(cell, m.Name, a.Name, set.Arms[first].Name); slices.Contains(contenders, a.Name) && p.Worse {
				return f.costs(m, a.Name, p)
			}
		}
	}
	return ""
}

// trade names the best arm of each metric, with its figure and what the next one's is.
func (f Found) trade(a best.Advice) string {
	var parts []string
	for _, p := range a.Picks {
		m := metric.Shown(p.Metric)
		if !p.Decided {
			parts = append(parts, f.listed(p.Arms, quantity.Or)+": too close to call on "+f.called(m))
			continue
		}
		verb, figure := superlative(m), ""
		if len(p.Arms) > 1 {
			verb = "are equal on " + f.called(m)
		} else if arm, ok := f.armIn(a.Cells[0], p.Arms[0]); ok {
			if s, has := arm.Summary(m.Name); has && s.Known() {
				figure = part.WithUnit(s.Value, m.Scale(s.Value))
			}
		}
		others := ""
		for _, q := range a.Picks {
			if price := f.Best.PriceOf(a.Cells[0], m.Name, q.Arms[0], p.Arms[0]); q.Metric != p.Metric && price.Worse {
				others = f.label(q.Arms[0]) + " " + relation(price.Ratio)
				break
			}
		}
		parts = append(parts, f.listed(p.Arms, quantity.And)+" "+verb+part.Bracketed(part.Joined("; ", figure, others)))
	}
	return strings.Join(parts, "; ") + f.in(a.Cells[0], a.Cells) + "."
}

// superlative says that an arm has the best end of a metric.
func superlative(m metric.Metric) string {
	switch {
	case m.Better == metric.Higher:
		return "carries most"
	case compare.IsLatency(m.Name):
		return "is fastest"
	case strings.Contains(m.Name, "cpu"):
		return "is cheapest"
	}
	return "has the least " + m.Label
}

// byCell says cells that disagree: where one arm, where another, and where it is open.
func (f Found) byCell(all []best.Advice) said {
	total := 0
	for _, a := range all {
		total += len(a.Cells)
	}
	if arm, in := everywhere(all); arm != "" && 2*len(in) > total {
		return said{kind: Use, text: fmt.Sprintf("Use %s: best or equal to the best in %d of %d cells, and beaten in none.", f.label(arm), len(in), total)}
	}
	if text := f.along(all); text != "" {
		return said{kind: ByCell, text: text}
	}
	if left := openEverywhere(all); len(left.Arms) > 0 {
		return f.open(left)
	}
	var parts []string
	told := slices.DeleteFunc(slices.Clone(all), func(a best.Advice) bool { return a.Kind != best.Use })
	slices.SortStableFunc(told, func(a, b best.Advice) int { return len(b.Cells) - len(a.Cells) })
	for _, a := range told[:min(len(told), armsSaid)] {
		parts = append(parts, f.listed(a.Arms, quantity.Or)+f.at(a.Cells))
	}
	kind, text := ByCell, "Use "+strings.Join(parts, ", ")
	if len(parts) == 0 {
		kind, text = Open, f.contenders(all)
	}
	for _, rest := range []struct {
		kind  best.Kind
		words string
	}{{best.Either, "any of them"}, {best.Undecided, "too close to call"}, {best.Trade, "none is best on every metric"}, {best.Nothing, "nothing can be compared"}} {
		var in []string
		for _, a := range all {
			if a.Kind == rest.kind {
				in = append(in, a.Cells...)
			}
		}
		if len(in) > 0 && !(kind == Open && rest.kind == best.Undecided && len(all) <= cellsNamed) {
			text += "; " + rest.words + f.at(in)
		}
	}
	open := slices.ContainsFunc(all, func(a best.Advice) bool { return a.Kind == best.Undecided })
	return said{kind: kind, text: text + ".", open: open}
}

// contenders names the arms that may be the best of each of a few cells, where no cell has one
// that is.
func (f Found) contenders(all []best.Advice) string {
	if len(all) > cellsNamed {
		return "No arm is best everywhere"
	}
	var parts []string
	for _, a := range all {
		if a.Kind == best.Undecided {
			arms := a.Arms
			for _, m := range f.metrics() {
				set, _ := f.set(a.Cells[0], m.Name)
				if open := standing(set, best.Open, best.Level); len(standing(set, best.Open)) > 0 {
					arms = open
					break
				}
			}
			parts = append(parts, f.listed(arms, quantity.Or)+f.at(a.Cells))
		}
	}
	if len(parts) == 0 {
		return "No arm is best everywhere"
	}
	return "Too close to call: " + strings.Join(parts, "; ")
}

// everywhere is the arm that is the best or level with it in most cells, and those, if it
// may be the best in all others.
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

// openEverywhere are the arms that may be the best in every cell, where all are open.
func openEverywhere(all []best.Advice) best.Advice {
	left := best.Advice{Kind: best.Undecided, Arms: slices.Clone(all[0].Arms)}
	for _, a := range all {
		if a.Kind != best.Undecided {
			return best.Advice{}
		}
		left.Cells = append(left.Cells, a.Cells...)
		left.Arms = slices.DeleteFunc(left.Arms, func(arm string) bool { return !slices.Contains(a.Arms, arm) })
	}
	return left
}

// along says where one arm, where another, if the cells are the levels of one factor and
// each of two arms is to be used on one side.
func (f Found) along(all []best.Advice) string {
	if len(all) != 2 || all[0].Kind != best.Use || all[1].Kind != best.Use {
		return ""
	}
	factor := ""
	var sides [2][]float64
	for i, a := range all {
		for _, cell := range a.Cells {
			name, level, _ := strings.Cut(cell, "=")
			x, err := strconv.ParseFloat(level, 64)
			if err != nil || cmp.Or(factor, name) != name {
				return ""
			}
			factor, sides[i] = name, append(sides[i], x)
		}
	}
	if slices.Min(sides[0]) > slices.Min(sides[1]) {
		all, sides = []best.Advice{all[1], all[0]}, [2][]float64{sides[1], sides[0]}
	}
	if slices.Max(sides[0]) >= slices.Min(sides[1]) {
		return ""
	}
	at := func(x float64) string {
		return cells.Spoken(factor + "=" + strconv.FormatFloat(x, 'f', -1, 64))
	}
	return fmt.Sprintf("Use %s up to %s, %s from %s.", f.listed(all[0].Arms, quantity.Or), at(slices.Max(sides[0])), f.listed(all[1].Arms, quantity.Or), at(slices.Min(sides[1])))
}

// cellsNamed is how many cells are named together.
const cellsNamed = 3

// at names some cells, or counts them.
func (f Found) at(in []string) string {
	if len(in) > cellsNamed {
		return fmt.Sprintf(" in %d of %d cells", len(in), len(f.Cells))
	}
	var labels []string
	for _, cell := range in {
		labels = append(labels, f.Plan().Names.Cell(cell))
	}
	return " at " + quantity.And(labels)
}

// mostGoOn bounds the time that is told: nobody waits for more.
const mostGoOn = 12 * time.Hour

// goOn says in a line how to go on where that may decide what is open, and how
// long it takes, with the command that the line ends in.
func (f Found) goOn(s said) (line, command string) {
	if !s.open {
		return "", ""
	}
	left := time.Duration(0)
	if f.Best != nil && s.blocks > 0 {
		left = f.Best.Takes(s.blocks)
	}
	about := ""
	switch {
	case left > mostGoOn:
		return "It would take more than 12 h here to decide it.", ""
	case left > 0:
		about = " in about " + quantity.Roughly(left)
	}
	switch {
	case f.Look != nil && f.Look.Next > 0:
		command = f.Plan().GoOn()
		return fmt.Sprintf("Decide it%s: %s", about, command), command
	case s.blocks > 0:
		return fmt.Sprintf("A new run with blocks=%d may decide it%s.", s.blocks, about), ""
	}
	return "", ""
}

// costs says what an arm has of a metric in place of the best one's, with the interval:
// "gRPC needs 45 % more server CPU (42–49 %)".
func (f Found) costs(m metric.Metric, arm string, p best.Price) string {
	who, low, high := f.label(arm), math.Abs(p.Low-1), math.Abs(p.High-1)
	share := percent(math.Abs(p.Ratio-1)) + " %"
	interval := fmt.Sprintf(" (%s–%s %%)", percent(min(low, high)), percent(max(low, high)))
	if p.Ratio >= 2 {
		share = quantity.FormatFigure(p.Ratio) + " times"
		interval = part.Bracketed(part.Span(p.Low, p.High))
	}
	switch {
	case m.Better == metric.Higher && m.Name == metric.ExchangesPerS:
		return fmt.Sprintf("%s carries %s fewer %s%s", who, share, f.called(m), interval)
	case m.Better == metric.Higher:
		return fmt.Sprintf("%s carries %s less %s%s", who, share, f.called(m), interval)
	case p.Ratio >= 2 && isCost(m):
		return fmt.Sprintf("%s needs %s the %s%s", who, share, m.Label, interval)
	case p.Ratio >= 2:
		return fmt.Sprintf("%s has %s the %s%s", who, share, m.Label, interval)
	case isCost(m):
		return fmt.Sprintf("%s needs %s more %s%s", who, share, m.Label, interval)
	}
	return fmt.Sprintf("%s has a %s higher %s%s", who, share, m.Label, interval)
}

// called is a metric's label; of a rate what is counted.
func (f Found) called(m metric.Metric) string {
	if m.Name == metric.ExchangesPerS {
		return f.Counted() + "/s"
	}
	return m.Label
}

// Counted is what the exchanges of the run are called: requests where all servers speak
// HTTP or gRPC.
func (f Found) Counted() string {
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			if !requests.MatchString(cmp.Or(a.Settings["server.wire"], f.Plan().Hold["transport"], f.Plan().Hold["server"], a.Name)) {
				return "exchanges"
			}
		}
	}
	return "requests"
}

// requests matches the wires and the transports that speak HTTP or gRPC.
var requests = regexp.MustCompile(`http|h2|grpc|gin\b`)

// isCost holds for what a worker or a host uses up.
func isCost(m metric.Metric) bool {
	return m.Better == metric.Lower && (strings.HasPrefix(m.Name, "server.") || strings.HasPrefix(m.Name, "client.") || strings.HasPrefix(m.Name, "host."))
}

// percent shows a share in percent, with as many digits as a difference of that size
// deserves.
func percent(share float64) string {
	x := 100 * share
	switch size := math.Abs(x); {
	case size >= 9.95:
		return fmt.Sprintf("%.0f", x)
	case size >= 0.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// signed is percent with its sign.
func signed(share float64) string {
	if share < 0 {
		return "−" + percent(-share)
	}
	return "+" + percent(share)
}

// relation is a ratio to the best of a column: "+45 %", "−33 %", "7.1×".
func relation(ratio float64) string {
	if ratio >= 4 {
		return quantity.FormatFigure(ratio) + "×"
	}
	return signed(ratio-1) + " %"
}
