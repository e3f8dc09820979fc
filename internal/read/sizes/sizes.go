// Package sizes tells the times of a run's exchanges by class and by size, and what a
// slowdown leaves out.
package sizes

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/hist"
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
	Paths   []Sort `json:"paths,omitempty"` // that the client asks for in turn
	Steps   []Sort `json:"steps,omitempty"` // of a rate that changes, in their order
	Sizes   []Sort `json:"sizes,omitempty"`
}

// Sort is one class, path, step or size of exchanges. Times are in µs; a figure without trials is
// not known.
type Sort struct {
	Class     string       `json:"class,omitempty"` // or path, or the rates of the step
	FromBytes int64        `json:"from_bytes"`
	ToBytes   int64        `json:"to_bytes,omitempty"` // exclusive
	Share     float64      `json:"share"`              // of the exchanges
	Requests  int64        `json:"requests"`           // answered, those that drained included
	Errors    int64        `json:"errors"`             // but of a size
	TimeS     float64      `json:"time_s"`             // that they took together
	Offered   float64      `json:"offered,omitempty"`  // of a step, per second
	Rate      cells.Figure `json:"exchanges_per_s"`    // of a step: that completed while it lasted
	Bytes     cells.Figure `json:"bytes_per_s"`        // of payload, both directions together; of a class
	P50       cells.Figure `json:"p50"`
	P95       cells.Figure `json:"p95"`
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

	names    cells.Names
	warnings []record.Warning
}

// Read gathers the times of valid trials.
func Read(s *cells.Dataset) *Sizes {
	all := &Sizes{names: s.Names}
	for at, judged := range s.Places() {
		one := Sorts{Cell: at.Cell, Arm: at.Arm}
		for _, v := range judged {
			one.Open = one.Open || v.Trial.Values.At(metric.ResponseP50) > 0
		}
		one.Classes = over(judged, func(v *trial.Judged) []trial.Sort { return v.Classes })
		one.Paths = over(judged, func(v *trial.Judged) []trial.Sort { return v.Paths })
		one.Steps = over(judged, func(v *trial.Judged) []trial.Sort { return v.Steps })
		one.Sizes = over(judged, func(v *trial.Judged) []trial.Sort { return v.Sizes })
		if len(one.Classes)+len(one.Paths)+len(one.Steps)+len(one.Sizes) > 0 {
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
		sort                  Sort
		rate, bytes, slowdown cells.Pool
		blocks                []int
		times                 []hist.Packed
		done, lasted          map[int]float64 // by block, of turns
	}
	type name struct {
		class    string
		from, to int64
	}
	byName := map[name]*pools{}
	var order []*pools
	whole := int64(0)
	for _, v := range judged {
		if v.Trial.Status != trial.Valid || v.Trial.Partial() {
			continue
		}
		for _, s := range of(v) {
			key := name{s.Class, s.FromBytes, s.ToBytes}
			p := byName[key]
			if p == nil {
				p = &pools{
					sort: Sort{Class: s.Class, FromBytes: s.FromBytes, ToBytes: s.ToBytes, Offered: s.OfferedPerS},
					done: map[int]float64{}, lasted: map[int]float64{},
				}
				byName[key] = p
				order = append(order, p)
			}
			p.sort.Requests, p.sort.Errors, whole = p.sort.Requests+s.Exchanges, p.sort.Errors+s.Errors, whole+s.Exchanges
			p.sort.TimeS += s.TimeNs / 1e9
			p.done[v.Plan.Block] += s.ExchangesPerS * v.Trial.TurnS
			p.lasted[v.Plan.Block] += v.Trial.TurnS
			p.blocks, p.times = append(p.blocks, v.Plan.Block), append(p.times, s.Times)
			for _, x := range []struct {
				to    *cells.Pool
				value float64
			}{{&p.rate, s.ExchangesPerS}, {&p.bytes, s.BytesPerS}, {&p.slowdown, s.Slowdown}} {
				if x.value > 0 {
					x.to.Add(v.Plan.Block, x.value)
				}
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *pools) int { return cmp.Compare(a.sort.FromBytes, b.sort.FromBytes) })
	var all []Sort
	for _, p := range order {
		one := p.sort
		one.Share = float64(one.Requests) / float64(max(1, whole))
		p.rate.Total(p.done, p.lasted)
		one.Rate, _ = p.rate.Figure()
		one.Bytes, _ = p.bytes.Figure()
		at := cells.Percentiles(p.blocks, p.times, []float64{0.5, 0.95, 0.99})
		one.P50, one.P95, one.P99 = at[0], at[1], at[2]
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
