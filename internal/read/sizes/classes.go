package sizes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Versus is an arm's p99 of one class beside the baseline's, in one cell.
type Versus struct {
	Cell      string          `json:"cell"`
	Class     string          `json:"class"`
	Arm       string          `json:"arm"`
	Base      string          `json:"base"`
	Metric    string          `json:"metric"` // whose times they are
	Ratio     float64         `json:"ratio"`  // geometric mean of the ratios within blocks
	Low       float64         `json:"low"`    // the interval that decides
	High      float64         `json:"high"`
	Value     float64         `json:"value"` // µs, over the blocks that both arms have
	BaseValue float64         `json:"base_value"`
	Blocks    int             `json:"blocks"`
	Interval  float64         `json:"interval_level"` // 1 − the interval's confidence
	Verdict   compare.Verdict `json:"verdict"`
	Reason    string          `json:"reason,omitempty"`
}

// classes compares every class's p99 with the baseline's. The workload says the classes
// before the run, so they are judged: as a family of their own, which shares the level, and
// each beyond what the baseline's repeat differs from its first appearance.
func classes(s *cells.Dataset) []Versus {
	base := s.Compare.Baseline
	var family []*compare.Pending
	var names []string
	for _, cell := range s.Cells {
		with := s.Of(cell, base)
		name := metric.PercentileName(timesOf(with), "p99")
		for _, arm := range s.Arms {
			if arm == base {
				continue
			}
			for _, class := range named(with) {
				b := versus(s, cell, class, arm, name)
				if b == nil {
					continue
				}
				family, names = append(family, b), append(names, class)
			}
		}
	}
	compare.ShareLevel(family)
	var all []Versus
	for i, b := range family {
		if b.Judge(); s.NoVerdict() {
			b.LeaveUnjudged()
		}
		all = append(all, Versus{
			Cell: b.Cell, Class: names[i], Arm: b.Arm, Base: b.Base, Metric: b.Metric, Ratio: b.Ratio, Low: b.Low, High: b.High,
			Value: b.Value, BaseValue: b.BaseValue, Blocks: b.Blocks, Interval: b.Interval, Verdict: b.Verdict, Reason: b.Reason,
		})
	}
	return all
}

// versus is an arm's class beside the baseline's; nil for fewer than two blocks.
func versus(s *cells.Dataset, cell, class, arm, name string) *compare.Pending {
	base := s.Compare.Baseline
	all := func(*trial.Judged) bool { return true }
	pairs := compare.Divide(tails(s.Of(cell, arm), class, all), tails(s.Of(cell, base), class, all))
	effect, ok := stat.MeanOf(pairs.Effects)
	if !ok {
		return nil
	}
	margin := compare.Margin(s.Compare)
	b := &compare.Pending{Pairs: pairs, Effect: effect, Better: metric.Lower, Margin: margin, Tested: true}
	b.Comparison = compare.Comparison{
		Cell: cell, Metric: name, Arm: arm, Base: base, Level: s.Level(), Bound: margin,
		Ratios: pairs.Ratios, In: pairs.Blocks, Blocks: len(pairs.Ratios), Value: pairs.Value, BaseValue: pairs.Base,
	}
	first := tails(s.Of(cell, base), class, func(v *trial.Judged) bool { return !v.Trial.Repeat })
	again := tails(s.Of(cell, base), class, func(v *trial.Judged) bool { return v.Trial.Repeat })
	if e, known := compare.Divide(again, first).Estimate(); known {
		b.Bound = max(margin, max(e.Low, 1/e.High, 1)-1)
	}
	return b
}

// tails are the p99 of a class in an arm's valid trials, in µs.
func tails(judged []*trial.Judged, class string, which func(*trial.Judged) bool) *cells.Pool {
	p := &cells.Pool{}
	for _, v := range judged {
		if v.Trial.Status != trial.Valid || v.Trial.Partial() || !which(v) {
			continue
		}
		for _, c := range v.Classes {
			if c.Class == class && c.P99Ns > 0 {
				p.Add(v.Plan.Block, float64(c.P99Ns)/1e3)
			}
		}
	}
	return p
}

// named are the classes of an arm's trials, in their order.
func named(judged []*trial.Judged) (all []string) {
	for _, v := range judged {
		for _, c := range v.Classes {
			if !slices.Contains(all, c.Class) {
				all = append(all, c.Class)
			}
		}
	}
	return all
}

// timesOf is the kind of an arm's times.
func timesOf(judged []*trial.Judged) string {
	for _, v := range judged {
		if v.Trial.Values.At(metric.ResponseP50) > 0 {
			return record.Response
		}
	}
	return record.Service
}

// words are how a verdict is said of a p99.
var words = map[compare.Verdict]string{compare.Better: "lower", compare.Worse: "higher", compare.Equivalent: "the same"}

// differing are the sentences on arms whose classes have different verdicts: p99 is lower
// for one and higher for another, or the same.
func (z *Sizes) differing() (sentences []string) {
	type pair struct{ cell, arm string }
	var order []pair
	by, in := map[pair][]Versus{}, map[string]bool{}
	for _, v := range z.Versus {
		in[v.Cell] = true
		if words[v.Verdict] == "" {
			continue
		}
		at := pair{v.Cell, v.Arm}
		if by[at] == nil {
			order = append(order, at)
		}
		by[at] = append(by[at], v)
	}
	for _, at := range order {
		s := sentence(by[at])
		if label := z.names.Cell(at.cell); s != "" && label != "" && len(in) > 1 {
			s = strings.TrimSuffix(s, ".") + " (" + label + ")."
		}
		if s != "" {
			sentences = append(sentences, s)
		}
	}
	return sentences
}

// sentence says of an arm for which classes its p99 is lower and for which higher; "" where
// all classes that are told have one verdict.
func sentence(all []Versus) string {
	var said []string
	for _, verdict := range []compare.Verdict{compare.Better, compare.Worse, compare.Equivalent} {
		var classes []string
		for _, v := range all {
			if v.Verdict == verdict {
				classes = append(classes, fmt.Sprintf("%s (%s)", v.Class, part.Times(v.Ratio)))
			}
		}
		const most = 3 // named
		if more := len(classes) - most; more > 0 {
			classes = append(classes[:most], fmt.Sprintf("%d more", more))
		}
		if len(classes) > 0 {
			said = append(said, words[verdict]+" for class "+quantity.And(classes))
		}
	}
	if len(said) < 2 {
		return ""
	}
	return fmt.Sprintf("Beside %s, p99 of %s is %s.", all[0].Base, all[0].Arm, quantity.And(said))
}

// alone says between which classes p99 goes, of a run of one arm in one cell whose classes
// are apart; "" of any other run.
func (z *Sizes) alone() string {
	if len(z.Sorts) != 1 || len(z.Sorts[0].Classes) < 2 {
		return ""
	}
	all := slices.DeleteFunc(slices.Clone(z.Sorts[0].Classes), func(s Sort) bool { return s.P99.N == 0 })
	if len(all) < 2 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b Sort) int { return cmp.Compare(a.P99.Value, b.P99.Value) })
	least, most := all[0], all[len(all)-1]
	if least.P99.High >= most.P99.Low {
		return ""
	}
	us := func(s Sort) string { return quantity.FormatDuration(time.Duration(s.P99.Value * 1e3)) }
	return fmt.Sprintf("By class, p99 goes from %s (%s) to %s (%s).", us(least), least.Class, us(most), most.Class)
}

// versusTable has a row of every class and arm.
func versusTable(all []Versus) part.Table {
	t := part.Table{
		Caption: fmt.Sprintf("p99 of each class ÷ that of %s, the geometric mean over blocks with its interval: %s. All classes of the run share one level (Holm).", all[0].Base, part.Label(all[0].Metric)),
		Columns: slices.Concat(part.Titles("class"), part.OfKind(part.Arms, "arm"), part.Figures("p99 ÷ baseline"), part.Titles("verdict")),
	}
	for _, v := range all {
		ratio := part.Missing()
		if cells.Known(v.Blocks, v.Ratio, v.Low, v.High) {
			ratio = part.Value(part.Times(v.Ratio), part.Span(v.Low, v.High))
		}
		t.Rows = append(t.Rows, []part.Datum{part.Word(v.Class), part.Word(v.Arm), ratio, part.Word(verdictText(v))})
	}
	return t
}

func verdictText(v Versus) string {
	if v.Reason != "" {
		return string(v.Verdict) + ": " + v.Reason
	}
	return string(v.Verdict)
}
