package search

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

// shares decides at which rates a block's trials run whose rates are shares of what their
// arms do flat out: of the highest rate of the arm's trials flat out, to three digits, since
// what disturbs a closed loop takes from its rate and adds nothing. A trial whose arm has no
// such rate keeps its share, and the bench refuses it. Before the first block the words say
// the rates.
func shares(s *cells.Dataset, block int) (record.Allocation, string) {
	found := ReadFlatOut(s)
	decided := record.Allocation{Block: block}
	for _, v := range slices.Concat(s.Trials, s.Unloaded, s.Probes) {
		if v.Plan.Block != block || !v.Plan.OfFlatOut() {
			continue
		}
		key := v.Plan.FlatOutKey()
		if i := slices.IndexFunc(found, func(r Reached) bool { return r.key == key }); i >= 0 && found[i].Rate > 0 {
			if decided.Levels == nil {
				decided.Levels = map[string]map[string]string{}
			}
			decided.Levels[v.Plan.ID] = map[string]string{record.RateOf: quantity.RateText(found[i].Rate)}
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
	Cell   string  `json:"cell,omitempty"` // the first of these cells
	Arm    string  `json:"arm"`
	Rate   float64 `json:"rate"`           // 0 where no trial has one
	Low    float64 `json:"low,omitempty"`  // of the trials
	High   float64 `json:"high,omitempty"` // of the trials
	Trials int     `json:"trials"`         // with a rate
	Of     int     `json:"of"`             // that were planned
	Why    string  `json:"why,omitempty"`  // there is no rate

	key, label string
}

// ReadFlatOut reads a run's rates flat out; none where no rate is a share of one.
func ReadFlatOut(s *cells.Dataset) FlatOut {
	var all FlatOut
	for _, v := range s.FlatOut {
		key := v.Plan.FlatOutKey()
		i := slices.IndexFunc(all, func(r Reached) bool { return r.key == key })
		if i < 0 {
			i, all = len(all), append(all, Reached{Cell: v.Plan.Cell, Arm: v.Plan.Arm, key: key, label: s.Names.CellWithout(v.Plan.Cell, record.Rate)})
		}
		r := &all[i]
		r.Of++
		if rate := v.Trial.Values.At(metric.ExchangesPerS); v.Trial.Status == trial.Valid && rate > 0 {
			r.Low, r.High, r.Trials = min(rate, cmp.Or(r.Low, rate)), max(rate, r.High), r.Trials+1
			r.Rate = threeDigits(r.High)
		} else {
			r.Why = cmp.Or(v.Trial.Reason, r.Why)
		}
	}
	for i := range all {
		if all[i].Rate > 0 {
			all[i].Why = ""
		}
	}
	byCell, byArm := cells.Order(s.Cells), cells.Order(s.Arms)
	slices.SortStableFunc(all, func(a, b Reached) int {
		return cmp.Or(byCell(a.Cell, b.Cell), byArm(a.Arm, b.Arm))
	})
	return all
}

// words are what a run says of the rates before its first block.
func (f FlatOut) words() string {
	var parts []string
	for _, r := range f {
		what := "no rate"
		if r.Rate > 0 {
			what = rateText(r.Rate) + "/s"
		}
		parts = append(parts, r.Arm+" "+part.Joined(": ", r.label, what))
	}
	const most = 8
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("%d more", more))
	}
	return "flat out: " + strings.Join(parts, "; ")
}

// Part has a row for each arm with its rate flat out.
func (f FlatOut) Part() part.Part {
	p := part.Part{ID: "flat-out", Title: "Rates flat out"}
	if len(f) == 0 {
		return p
	}
	t := part.Table{Columns: slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles("cell"), part.Figures("flat out, 1/s", "trials"))}
	for _, r := range f {
		reached := part.Datum{Text: part.None, Detail: r.Why}
		if r.Rate > 0 {
			reached = part.Value(rateText(r.Rate), rateText(r.Low)+"–"+rateText(r.High))
		}
		t.Rows = append(t.Rows, []part.Datum{part.Word(r.Arm), part.Word(r.label), reached, part.Value(fmt.Sprintf("%d of %d", r.Trials, r.Of), "")})
	}
	p.Sections = []part.Section{{
		ID: "flat-out-rates", Title: "What each arm does flat out", Tables: []part.Table{part.Bounded(t)},
		Sentences: []string{"A rate such as 60" + part.NoBreak + "% is a share of what the arm did flat out before the first block: a closed loop on the same connections, the quickest of its trials. In brackets are the least and the most of these: where they lie far apart, something disturbed them."},
	}}
	return p
}
