package link

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/pays"
	"netdyno/internal/record"
)

// answer puts the questions in order, each with its answer.
func (l *Link) answer(s *cells.Dataset, replacements pays.Replacements) {
	w := words{Link: l, study: s.Header.Study, loopback: record.RigKind(s.Header.Facts.Rig) == loopback}
	l.Answers = []Answer{
		{"Can TCP fill this link?", w.fills()},
		{"How many streams and threads does each arm need?", w.needs()},
	}
	for _, p := range replacements {
		l.Answers = append(l.Answers, Answer{"Is " + p.Spec.Title + " worth it?", w.replaces(p)})
	}
	l.Answers = append(l.Answers, Answer{"How is a TCP program tuned?", w.tunes()})
}

// loopback is the kind of rig on which nothing is a link.
const loopback = "loopback"

// words puts what was found into sentences.
type words struct {
	*Link
	study    record.Study
	loopback bool
}

func (w words) label(arm string) string { return cells.ArmLabel(w.study, arm) }

// onLink is how the study is run where there is a link.
func (w words) onLink() string {
	return fmt.Sprintf("On two hosts: netdyno run %s --rig ssh:HOST,HOST; here, as root: netdyno run %s --rig 'netns:2?rate=1Gbit'", w.study.Name, w.study.Name)
}

// fills says whether TCP fills the link, and with how little.
func (w words) fills() string {
	best := w.most(w.isTCP)
	switch x := w.cheapest(w.isTCP); {
	case best == nil:
		return "Whether TCP fills this link was not measured: no arm of TCP has a valid trial. " + w.onLink() + "."
	case w.Rate == "" && w.loopback:
		return fmt.Sprintf("There is no link to fill: on loopback the CPUs copy the bytes, at most %s with %s by %s. %s.",
			part.FigureWords(metric.Goodput, best.Goodput), w.spell(*best), w.label(best.Arm), w.onLink())
	case w.Rate == "":
		return fmt.Sprintf("Whether TCP fills this link cannot be told: its rate is known neither from the card (netdyno facts) nor from link.rate. The most is %s with %s by %s.",
			part.FigureWords(metric.Goodput, best.Goodput), w.spell(*best), w.label(best.Arm))
	case x != nil:
		return fmt.Sprintf("TCP fills this link with %s and %s by %s: %s.", w.spell(*x), coresWords(*x), w.label(x.Arm), w.shareWords(*x))
	case best.Standing == StaysBelow && !w.open(w.isTCP):
		return fmt.Sprintf("TCP does not fill this link: the most is %s, by %s with %s and %s, limit %s.", w.shareWords(*best), w.label(best.Arm), w.spell(*best), coresWords(*best), best.Limit)
	}
	return fmt.Sprintf("Whether TCP fills this link is open: the most is %s, by %s with %s; more blocks would narrow that.", w.shareWords(*best), w.label(best.Arm), w.spell(*best))
}

// open tells whether a setting of some arms may fill the link or not.
func (l *Link) open(of func(arm string) bool) bool {
	return slices.ContainsFunc(l.Settings, func(x Setting) bool { return of(x.Arm) && x.Standing != StaysBelow })
}

// shareWords is "99.1 % (98.7–99.4) of 1 Gbit/s, headers counted".
func (w words) shareWords(x Setting) string {
	f := x.Share
	if x.Standing == "" {
		return part.Percent(f.Value) + " of " + rateWords(w.Rate) + ", headers counted"
	}
	return fmt.Sprintf("%s (%s) of %s, headers counted", part.Percent(f.Value), part.Span(100*f.Low, 100*f.High), rateWords(w.Rate))
}

// coresWords is "0.31 cores (client 0.14, server 0.17)".
func coresWords(x Setting) string {
	return fmt.Sprintf("%s cores (client %s, server %s)", quantity.FormatFigure(x.Cores.Value), quantity.FormatFigure(x.Client.Value), quantity.FormatFigure(x.Server.Value))
}

// spell is "1 stream", "8 streams on 2 threads".
func (w words) spell(x Setting) string {
	text := quantity.Plural(int(x.Streams), "stream")
	if x.Threads > 0 {
		text += " on " + quantity.Plural(int(x.Threads), "thread")
	}
	return text
}

// rateWords is a level of link.rate as it is read: "1 Gbit/s".
func rateWords(rate string) string {
	digits := strings.TrimRight(rate, "kMGTbit/s")
	return digits + part.NoBreak + strings.TrimPrefix(rate, digits)
}

// need is the least of something with which some arms fill the link; 0 of those of which
// none of their settings is known to.
type need struct {
	least    float64
	standing Standing
	arms     []string
}

// needs says how many streams each arm needs, and of those that can be told how many
// threads, how many of these.
func (w words) needs() string {
	if w.Rate == "" {
		return "How many streams fill a link waits for one whose rate is known; what comes near the best here stands under Reaches."
	}
	free := func(x Setting) (float64, bool) { return x.Streams, x.Threads == 0 }
	told := func(x Setting) (float64, bool) { return x.Threads, x.Threads > 0 }
	text := "To fill the link " + w.listed(w.needsOf(free), "stream")
	if threads := w.needsOf(told); len(threads) > 0 {
		text += ". Threads: " + w.listed(threads, "thread")
	}
	return text + "."
}

// needsOf groups the arms by the least value of a count (connections, say) with which one
// of their settings fills the link: first the arms that need least, then the arms that
// may fill the link, then the others.
func (w words) needsOf(count func(Setting) (float64, bool)) []need {
	var all []need
	for _, arm := range w.armsOf(count) {
		own := need{standing: StaysBelow}
		for _, x := range w.Settings {
			n, counted := count(x)
			switch {
			case !counted || x.Arm != arm:
			case x.Standing == Fills && (own.least == 0 || n < own.least):
				own = need{least: n, standing: Fills}
			case x.Standing != Fills && x.Standing != StaysBelow && own.standing == StaysBelow:
				own.standing = Open
			}
		}
		i := slices.IndexFunc(all, func(n need) bool { return n.least == own.least && n.standing == own.standing })
		if i < 0 {
			i, all = len(all), append(all, own)
		}
		all[i].arms = append(all[i].arms, arm)
	}
	order := []Standing{Fills, Open, StaysBelow}
	slices.SortFunc(all, func(a, b need) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.standing), slices.Index(order, b.standing)), cmp.Compare(a.least, b.least))
	})
	return all
}

func (w words) armsOf(count func(Setting) (float64, bool)) []string {
	var arms []string
	for _, x := range w.Settings {
		if _, counted := count(x); counted && !slices.Contains(arms, x.Arm) {
			arms = append(arms, x.Arm)
		}
	}
	return arms
}

// listed is "Go net and io_uring need 1 stream; gRPC in Go needs 4 streams; open: iperf3
// (94.9 %); not filled by MPI over TCP (61.0 % at most)".
func (w words) listed(needs []need, unit string) string {
	var clauses []string
	for _, n := range needs {
		var names []string
		for _, arm := range n.arms {
			name := w.label(arm)
			if best := w.most(func(a string) bool { return a == arm }); n.standing != Fills && best != nil {
				name += part.Bracketed(part.Percent(best.Share.Value))
			}
			names = append(names, name)
		}
		switch {
		case n.standing == Open:
			clauses = append(clauses, "open of "+part.And(names))
		case n.standing == StaysBelow:
			clauses = append(clauses, "it is not filled by "+part.And(names))
		case len(names) == 1:
			clauses = append(clauses, names[0]+" needs "+quantity.Plural(int(n.least), unit))
		default:
			clauses = append(clauses, part.And(names)+" need "+quantity.Plural(int(n.least), unit))
		}
	}
	return strings.Join(clauses, "; ")
}

// replaces says whether a replacement of TCP is necessary to fill the link, and what it
// saves.
func (w words) replaces(p pays.Pays) string {
	if p.Spec.Unmeasured != "" {
		return p.Sentence
	}
	its := func(arm string) bool { return slices.Contains(p.Spec.Arms, arm) }
	best, tcp := w.most(its), w.cheapest(w.isTCP)
	if best == nil || len(p.Cells) == 0 {
		return fmt.Sprintf("%s On hosts that have what is missing: netdyno run %s --rig ssh:HOST,HOST.", p.Sentence, w.study.Name)
	}
	if w.Rate == "" {
		return p.Sentence
	}
	filling := w.cheapest(its)
	switch {
	case tcp != nil && filling != nil:
		return fmt.Sprintf("%s is not needed to fill it: TCP does, as does %s with %s. %s", p.Spec.Title, w.label(filling.Arm), w.spell(*filling), p.Sentence)
	case tcp != nil:
		return fmt.Sprintf("%s is not needed to fill it: TCP does, and %s brings %s. %s", p.Spec.Title, w.label(best.Arm), part.Percent(best.Share.Value), p.Sentence)
	case filling != nil && !w.open(w.isTCP):
		return fmt.Sprintf("%s is needed to fill it: %s does with %s, and TCP does not. %s", p.Spec.Title, w.label(filling.Arm), w.spell(*filling), p.Sentence)
	case filling != nil:
		return fmt.Sprintf("%s fills it by %s with %s; whether TCP does is open. %s", p.Spec.Title, w.label(filling.Arm), w.spell(*filling), p.Sentence)
	}
	return fmt.Sprintf("%s is not shown to fill it: %s at most, by %s. %s", p.Spec.Title, part.Percent(best.Share.Value), w.label(best.Arm), p.Sentence)
}

// tunes says which option saves the most CPU, or why that is not known.
func (w words) tunes() string {
	if len(w.Tuned) == 0 {
		return "Tuning was not asked: no arm of TCP differs from another in its options alone. netdyno run line-rate asks it; netdyno tune --link tries what carries a stream."
	}
	t := w.Tuned[0]
	ratio := part.TimesIn(t.CPU.Point, t.CPU.Low, t.CPU.High)
	what := fmt.Sprintf("%s of %s (%s)", part.And(t.Options), w.label(t.Base), cells.CellLabel(w.study, t.Cell))
	others := ""
	if n := len(w.Tuned) - 1; n > 0 {
		others = fmt.Sprintf(", the least of %d that were tried", n+1)
	}
	switch {
	case t.Refusal != "":
		return fmt.Sprintf("By what a TCP program is tuned cannot be told: %s.", t.Refusal)
	case t.CPU.High < 1:
		return fmt.Sprintf("A TCP program is tuned by %s: it takes %s the CPU of both ends per GB%s.", what, ratio, others)
	case t.CPU.Low > 1:
		return fmt.Sprintf("A TCP program is best left as it is: %s takes %s the CPU of both ends per GB%s.", what, ratio, others)
	}
	return fmt.Sprintf("No option is shown to save CPU: %s takes %s the CPU of both ends per GB%s.", what, ratio, others)
}
