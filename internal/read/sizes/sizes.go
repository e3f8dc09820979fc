// Package sizes tells the times of a run's exchanges by class and by size, and what a
// slowdown leaves out.
package sizes

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Sorts are an arm's exchanges of one cell by class and by size.
type Sorts struct {
	Cell    string `json:"cell"`
	Arm     string `json:"arm"`
	Open    bool   `json:"open,omitempty"` // times are response times; else service times
	Classes []Sort `json:"classes,omitempty"`
	Sizes   []Sort `json:"sizes,omitempty"`
}

// Sort is one class or one size of exchanges. Times are in µs; a figure without trials is
// not known.
type Sort struct {
	Class     string       `json:"class,omitempty"`
	FromBytes int64        `json:"from_bytes"`
	ToBytes   int64        `json:"to_bytes,omitempty"` // exclusive
	Share     float64      `json:"share"`              // of the exchanges
	Rate      cells.Figure `json:"exchanges_per_s"`
	Bytes     cells.Figure `json:"bytes_per_s"` // of payload, both directions together; of a class
	P50       cells.Figure `json:"p50"`
	P99       cells.Figure `json:"p99"`
	Slowdown  cells.Figure `json:"slowdown_p99"`
}

// Name is a class's, or the bounds of a size.
func (s Sort) Name() string {
	bytes := func(n int64) string { return quantity.WithSpace(quantity.BytesText(n)) }
	switch {
	case s.Class != "":
		return s.Class
	case s.FromBytes == 0:
		return "below " + bytes(s.ToBytes)
	case s.ToBytes == s.FromBytes+1:
		return bytes(s.FromBytes)
	}
	return bytes(s.FromBytes) + " to " + bytes(s.ToBytes)
}

// Sizes are those of a run whose exchanges have several classes or sizes; of other runs
// the zero value.
type Sizes struct {
	Sorts  []Sorts  `json:"sorts,omitempty"`
	Versus []Versus `json:"classes,omitempty"` // every class beside the baseline's

	study    record.Study
	warnings []record.Warning
}

// Read gathers the times of valid trials.
func Read(s *cells.Dataset) *Sizes {
	all := &Sizes{study: s.Header.Study}
	for at, judged := range s.Places() {
		one := Sorts{Cell: at.Cell, Arm: at.Arm}
		for _, v := range judged {
			one.Open = one.Open || v.Trial.Values.At(metric.ResponseP50) > 0
		}
		one.Classes = over(judged, func(v *trial.Judged) []trial.Sort { return v.Classes })
		one.Sizes = over(judged, func(v *trial.Judged) []trial.Sort { return v.Sizes })
		if len(one.Classes)+len(one.Sizes) > 0 {
			all.Sorts = append(all.Sorts, one)
		}
	}
	all.Versus, all.warnings = classes(s), leftOut(s)
	if len(all.Sorts)+len(all.warnings) == 0 {
		return nil
	}
	return all
}

// over gathers one kind of sorts over the trials of an arm in a cell.
func over(judged []*trial.Judged, of func(*trial.Judged) []trial.Sort) []Sort {
	type pools struct {
		sort                            trial.Sort
		rate, bytes, p50, p99, slowdown cells.Pool
		exchanges                       int64
	}
	byName := map[trial.Sort]*pools{}
	var order []*pools
	whole := int64(0)
	for _, v := range judged {
		if v.Trial.Status != trial.Valid || v.Trial.Partial() {
			continue
		}
		for _, s := range of(v) {
			key := trial.Sort{Class: s.Class, FromBytes: s.FromBytes, ToBytes: s.ToBytes}
			p := byName[key]
			if p == nil {
				p = &pools{sort: key}
				byName[key] = p
				order = append(order, p)
			}
			p.exchanges, whole = p.exchanges+s.Exchanges, whole+s.Exchanges
			for _, x := range []struct {
				to    *cells.Pool
				value float64
			}{{&p.rate, s.ExchangesPerS}, {&p.bytes, s.BytesPerS}, {&p.p50, float64(s.P50Ns) / 1e3}, {&p.p99, float64(s.P99Ns) / 1e3}, {&p.slowdown, s.Slowdown}} {
				if x.value > 0 {
					x.to.Add(v.Plan.Block, x.value)
				}
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *pools) int { return cmp.Compare(a.sort.FromBytes, b.sort.FromBytes) })
	var all []Sort
	for _, p := range order {
		one := Sort{Class: p.sort.Class, FromBytes: p.sort.FromBytes, ToBytes: p.sort.ToBytes, Share: float64(p.exchanges) / float64(max(1, whole))}
		one.Rate, _ = p.rate.Figure()
		one.Bytes, _ = p.bytes.Figure()
		one.P50, _ = p.p50.Figure()
		one.P99, _ = p.p99.Figure()
		one.Slowdown, _ = p.slowdown.Figure()
		all = append(all, one)
	}
	return all
}

// leftOut warns of exchanges that a slowdown lacks.
func leftOut(s *cells.Dataset) []record.Warning {
	if len(s.Unloaded) == 0 {
		return nil
	}
	const said = 1e-4 // share from which it is worth a word
	most, refused, none, of := 0.0, 0, 0, 0
	for _, v := range s.Trials {
		if v.Trial.Status != trial.Valid {
			continue
		}
		of++
		_, known := v.Trial.Values.Of(metric.SlowdownP50)
		switch {
		case v.Left > metric.MostLeft:
			refused++
		case !known:
			none++
		}
		most = max(most, v.Left)
	}
	var all []record.Warning
	warn := func(format string, args ...any) {
		all = append(all, record.Warning{About: "slowdown", Text: fmt.Sprintf(format, args...), Advice: "lengthen the window, so that large sizes come often enough"})
	}
	if refused > 0 {
		warn("%d of %d trials have no slowdown: up to %s of their exchanges are of sizes for which their arm has no time without load", refused, of, quantity.FormatShare(most))
	} else if most > said {
		warn("slowdowns leave out up to %s of the exchanges: of sizes for which their arm has no time without load", quantity.FormatShare(most))
	}
	if none > 0 {
		warn("%d of %d trials have no slowdown: their clients tell no times by size, or their arms have no valid trial without load", none, of)
	}
	return all
}
