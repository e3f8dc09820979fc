package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/peers/result"
)

// keep enters a run's ratios into the files of results.
func keep(ctx context.Context, dir string) error {
	trials, err := record.ReadTrials(filepath.Join(dir, "trials.jsonl"))
	if err != nil {
		return err
	}
	contents, err := record.Read(filepath.Join(dir, "records.jsonl"))
	if err != nil {
		return err
	}
	read, err := cells.Read(contents.Header, trials, contents.Records)
	if err != nil {
		return err
	}
	s := measured{read, contents.Header.Study}
	origin, err := result.Here(ctx, root, machine(contents.Header))
	if err != nil {
		return err
	}
	rows := rowsOf(s)
	for i := range rows {
		rows[i].Origin = origin
	}
	fmt.Printf("%s: %d ratios\n", dir, len(rows))
	return result.Keep(kept, rows)
}

// measured is a run with the study's own words.
type measured struct {
	*cells.Dataset
	study record.Study
}

// machine names what a run was made on: "2 CPUs, Intel Xeon, Linux 6.1".
func machine(h record.Header) string {
	for _, seat := range h.Facts.Seats {
		v := seat.Values
		return result.Machine(v["cpu.count"], v["cpu.model"], v["kernel.release"])
	}
	return ""
}

// rowsOf divides, in every cell and by every primary metric, the best arm of ours by each
// arm of others, block by block, and each arm of ours of which something is asked. A rate
// that is given is no figure.
func rowsOf(s measured) []result.Row {
	var rows []result.Row
	add := func(c compared, peers []string) {
		for _, peer := range peers {
			if r, ok := row(s, c, peer); ok {
				rows = append(rows, r)
			}
		}
	}
	study := strings.TrimPrefix(s.study.Name, "peers-")
	for _, cell := range s.Cells {
		ours, peers := armsIn(s, cell)
		work := cmp.Or(s.study.Labels.Cells[cell].Label, cell)
		for _, name := range s.study.Compare.Primary {
			if name != metric.ExchangesPerS || !atRate(s, cell) {
				add(compared{study, work, cell, name, "", ours}, peers)
			}
		}
		for _, a := range asksOf(study, work) {
			if beside := []string{a.peer}; slices.Contains(ours, a.ours) {
				if a.peer == "" {
					beside = peers
				}
				add(compared{study, work, cell, a.metric, a.ours, []string{a.ours}}, beside)
			}
		}
	}
	return rows
}

// compared is what a row is about, but for its peer.
type compared struct {
	study, work, cell, metric string
	asked                     string   // the arm of ours that is asked of; "" is the best
	ours                      []string // the arms that may be the best
}

// atRate tells whether a cell's rate is given.
func atRate(s measured, cell string) bool {
	for _, arm := range s.Arms {
		if of := s.Of(cell, arm); len(of) > 0 {
			return of[0].Plan.Levels["rate"] != "max"
		}
	}
	return false
}

// armsIn returns the arms of a cell: those of ours, whose labels say so, and the others.
func armsIn(s measured, cell string) (ours, peers []string) {
	for _, arm := range s.Arms {
		switch {
		case len(s.Of(cell, arm)) == 0:
		case strings.HasPrefix(label(s, arm), "netdyno"):
			ours = append(ours, arm)
		default:
			peers = append(peers, arm)
		}
	}
	return ours, peers
}

func label(s measured, arm string) string {
	return cmp.Or(s.study.Labels.Levels[s.study.Compare.Factor][arm], arm)
}

// row is one ratio. Where a peer counts no exchanges, bytes tell the rate.
func row(s measured, c compared, peer string) (result.Row, bool) {
	cell, name := c.cell, c.metric
	figures := byBlock(s, cell, peer, name)
	if len(figures) == 0 && name == metric.ExchangesPerS {
		name = metric.Goodput
		figures = byBlock(s, cell, peer, name)
	}
	m, err := metric.Named(name)
	best, own := "", map[int]float64{}
	for _, arm := range c.ours {
		one := byBlock(s, cell, arm, name)
		if len(one) > 0 && (best == "" || better(m, mean(one), mean(own))) {
			best, own = arm, one
		}
	}
	if err != nil || best == "" || len(figures) == 0 {
		return result.Row{}, false
	}
	var ratios []float64
	for block, x := range own {
		if y, both := figures[block]; both {
			ratios = append(ratios, x/y)
		}
	}
	if len(ratios) == 0 {
		return result.Row{}, false
	}
	scale := m.Scale(max(mean(own), mean(figures)))
	r := result.Row{
		Study: c.study, Work: c.work, What: m.Label, Asked: askedOf(c.study, c.work, name, c.asked, peer), Of: c.asked,
		Ours: strings.TrimPrefix(label(s, best), "netdyno, "), OursValue: scale.Format(mean(own)) + " " + scale.Unit,
		Peer: label(s, peer), PeerValue: scale.Format(mean(figures)) + " " + scale.Unit,
		Ratio: mean(figured(ratios)), Blocks: len(ratios), Code: codeOf(s, cell, best),
	}
	if e, ok := stat.GeometricMean(ratios); ok {
		r.Ratio, r.Low, r.High = e.Point, e.Low, e.High
	}
	return r, true
}

// byBlock returns an arm's figures of valid trials, by block, without the baseline's
// repeats.
func byBlock(s measured, cell, arm, name string) map[int]float64 {
	all := map[int]float64{}
	for _, v := range s.Of(cell, arm) {
		if x, has := v.Trial.Values.Of(name); has && v.Trial.Status == trial.Valid && !v.Plan.Repeat && cells.Usable(x) {
			all[v.Plan.Block] = x
		}
	}
	return all
}

func figured(xs []float64) map[int]float64 {
	all := map[int]float64{}
	for i, x := range xs {
		all[i] = x
	}
	return all
}

// mean is geometric, as the ratios' is.
func mean(figures map[int]float64) float64 {
	var xs []float64
	for _, x := range figures {
		xs = append(xs, x)
	}
	slices.Sort(xs)
	if e, ok := stat.GeometricMean(xs); ok {
		return e.Point
	}
	return stat.Mean(xs)
}

func better(m metric.Metric, a, b float64) bool {
	if m.Better == metric.Lower {
		return a < b
	}
	return a > b
}

// codeOf returns the code of an arm's ends.
func codeOf(s measured, cell, arm string) []string {
	levels := s.Of(cell, arm)[0].Plan.Levels
	var lists [][]string
	for _, end := range []string{"transport", "server", "client"} {
		if name := levels[end]; name != "" && name != "exec" {
			lists = append(lists, result.Code(root, name))
		}
	}
	return result.Union(lists...)
}
