package capacity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Shares decides at which rates a block's trials run whose rates are shares of what their
// arms do flat out: of the highest rate of the arm's trials flat out, to three digits, since
// what disturbs a closed loop takes from its rate and adds nothing. A trial whose arm has no such rate keeps its share, and the bench refuses it. Before the first
// block the words say the rates.
func Shares(s *cells.Dataset, block int) (record.Allocation, string) {
	found := ReadFlatOut(s)
	decided := record.Allocation{Block: block}
	for _, v := range slices.Concat(s.Trials, s.Unloaded, s.Probes) {
		if v.Plan.Block != block || !v.Plan.OfFlatOut() {
			continue
		}
		if of := found.at(v.Plan); of != nil && of.Rate > 0 {
			if decided.Levels == nil {
				decided.Levels = map[string]map[string]string{}
			}
			decided.Levels[v.Plan.ID] = map[string]string{record.RateOf: quantity.RateText(of.Rate)}
		}
	}
	if block != 1 {
		return decided, ""
	}
	return decided, found.words()
}

// FlatOut are the rates that arms reached flat out, of which other rates are shares; in the
// study's order.
type FlatOut []Reached

// Reached is the rate of one arm in the cells that differ only in their share of it.
type Reached struct {
	Cell   string             `json:"cell,omitempty"` // the first of these cells
	Arm    string             `json:"arm"`
	Rate   float64            `json:"rate"`             // 0 where no trial has one
	Low    float64            `json:"low,omitempty"`    // of the trials
	High   float64            `json:"high,omitempty"`   // of the trials
	Trials int                `json:"trials"`           // with a rate
	Of     int                `json:"of"`               // that were planned
	Shares map[string]float64 `json:"shares,omitempty"` // rates offered, by the level of rate
	Why    string             `json:"why,omitempty"`    // there is no rate

	key, label, name string
	order            []string // of Shares
}

// ReadFlatOut reads a run's rates flat out; none where no rate is a share of one.
func ReadFlatOut(s *cells.Dataset) FlatOut {
	var all FlatOut
	rates := map[string][]float64{}
	for _, v := range s.FlatOut {
		key := v.Plan.FlatOutKey()
		i := slices.IndexFunc(all, func(r Reached) bool { return r.key == key })
		if i < 0 {
			i, all = len(all), append(all, Reached{
				Cell: v.Plan.Cell, Arm: v.Plan.Arm, key: key, name: cells.ArmLabel(s.Header.Study, v.Plan.Arm),
				label: cells.CellLabelWithout(s.Header.Study, v.Plan.Cell, record.Rate),
			})
		}
		all[i].Of++
		if rate := v.Trial.Values.At(metric.ExchangesPerS); v.Trial.Status == trial.Valid && rate > 0 {
			rates[key] = append(rates[key], rate)
		} else {
			all[i].Why = cmp.Or(v.Trial.Reason, all[i].Why)
		}
	}
	for i := range all {
		if known := rates[all[i].key]; len(known) > 0 {
			all[i].Rate, all[i].Why = threeDigits(slices.Max(known)), ""
			all[i].Low, all[i].High, all[i].Trials = slices.Min(known), slices.Max(known), len(known)
		}
	}
	all.share(s)
	byCell, byArm := cells.Order(s.Cells), cells.Order(s.Arms)
	slices.SortStableFunc(all, func(a, b Reached) int {
		return cmp.Or(byCell(a.Cell, b.Cell), byArm(a.Arm, b.Arm))
	})
	return all
}

// share fills in the rates that are offered.
func (f FlatOut) share(s *cells.Dataset) {
	for _, v := range s.Trials {
		level := v.Plan.Levels[record.Rate]
		share, err := quantity.ParseShare(level)
		of := f.at(v.Plan)
		if err != nil || !strings.HasSuffix(level, "%") || of == nil || of.Rate == 0 || of.Shares[level] > 0 {
			continue
		}
		if of.Shares == nil {
			of.Shares = map[string]float64{}
		}
		of.Shares[level] = share * of.Rate
	}
	for i := range f {
		for level := range f[i].Shares {
			f[i].order = append(f[i].order, level)
		}
		slices.SortFunc(f[i].order, func(a, b string) int { return cmp.Compare(f[i].Shares[a], f[i].Shares[b]) })
	}
}

// at is the rate of which a trial's is a share; nil where it is of none.
func (f FlatOut) at(t record.Trial) *Reached {
	key := t.FlatOutKey()
	if i := slices.IndexFunc(f, func(r Reached) bool { return r.key == key }); i >= 0 {
		return &f[i]
	}
	return nil
}

// words are what a run says of the rates before its first block.
func (f FlatOut) words() string {
	var parts []string
	for _, r := range f {
		what := "no rate"
		if r.Rate > 0 {
			what = quantity.FormatFigure(r.Rate) + "/s"
		}
		if r.label != "" {
			what = r.label + ": " + what
		}
		parts = append(parts, r.Arm+" "+what)
	}
	const most = 8
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("%d more", more))
	}
	return "flat out: " + strings.Join(parts, "; ")
}

// disturbed is by how much an arm's trials flat out may differ before that is said.
const disturbed = 1.25

// apart says whose trials flat out differ by more than they should; "" for none.
func (f FlatOut) apart() string {
	n, most, of := 0, disturbed, Reached{}
	for _, r := range f {
		if r.Rate == 0 || r.High <= disturbed*r.Low {
			continue
		}
		n++
		if times := r.High / r.Low; times > most {
			most, of = times, r
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("In %d of %s the trials flat out differ by more than a quarter, most those of %s%s by %s×: something disturbed them, and shares may be of less than an arm can do.",
		n, quantity.Plural(len(f), "row"), of.name, within(of.label), quantity.FormatFigure(most))
}

// within names the cell of an arm.
func within(label string) string {
	if label == "" {
		return ""
	}
	return ", " + label + ","
}

// Part has a row for each arm: its rate flat out and what its shares are.
func (f FlatOut) Part() part.Part {
	p := part.Part{ID: "flat-out", Title: "Rates flat out"}
	if len(f) == 0 {
		return p
	}
	labelled := slices.ContainsFunc(f, func(r Reached) bool { return r.label != "" })
	t := part.Table{Columns: part.OfKind(part.Arms, "arm")}
	if labelled {
		t.Columns = append(t.Columns, part.Titles("cell")...)
	}
	t.Columns = append(t.Columns, part.Figures("flat out, 1/s", "trials")...)
	var shares []string
	for _, r := range f {
		for _, level := range r.order {
			if !slices.Contains(shares, level) {
				shares = append(shares, level)
			}
		}
	}
	for _, level := range shares {
		t.Columns = append(t.Columns, part.Figures(strings.TrimSuffix(level, "%")+part.NoBreak+"%, 1/s")...)
	}
	var notes []string
	for _, r := range f {
		row := []part.Datum{part.Word(r.Arm)}
		if labelled {
			row = append(row, part.Word(r.label))
		}
		reached := part.Missing()
		if r.Rate > 0 {
			reached = part.Value(quantity.FormatFigure(r.Rate), quantity.FormatFigure(r.Low)+"–"+quantity.FormatFigure(r.High))
		}
		row = append(row, reached, part.Value(fmt.Sprintf("%d of %d", r.Trials, r.Of), ""))
		for _, level := range shares {
			if rate := r.Shares[level]; rate > 0 {
				row = append(row, part.Value(quantity.FormatFigure(rate), ""))
			} else {
				row = append(row, part.Missing())
			}
		}
		t.Rows = append(t.Rows, row)
		if r.Why != "" {
			notes = append(notes, part.Sentence(fmt.Sprintf("%s%s has no rate flat out: %s", r.name, within(r.label), r.Why)))
		}
	}
	if said := f.apart(); said != "" {
		notes = append(notes, said)
	}
	p.Sections = []part.Section{{
		ID: "flat-out-rates", Title: "What each arm does flat out", Tables: []part.Table{part.Bounded(t)}, Notes: notes,
		Sentences: []string{"A rate such as 60" + part.NoBreak + "% is a share of what the arm did flat out before the first block: a closed loop on the same connections, the quickest of its trials. In brackets are the least and the most of these."},
	}}
	return p
}
