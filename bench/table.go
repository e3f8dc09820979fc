package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"netdyno/internal/read/stat"
)

// row is a line of the table of all wires: a client of ours beside one of somebody
// else's, or why there is none.
type row struct {
	wire, work, way  string
	peer, ours       string
	theirs, ourValue string // with units
	ratio            string // ours ÷ theirs, with its interval
	blocks           string
	asked            string
}

const tableHead = `| wire | work | what | asked | netdyno | its | peer | its | netdyno ÷ peer (95 %) | blocks |
|---|---|---|---|---|--:|---|--:|---|--:|`

// below returns the row as a line under another one: what it would repeat is empty.
func (r row) below(above row) string {
	if r.wire == above.wire && r.work == above.work && r.way == above.way {
		if r.ours == above.ours && r.ourValue == above.ourValue {
			r.ourValue = ""
		}
		if r.ours == above.ours {
			r.ours = ""
		}
		r.way, r.asked = "", ""
	}
	if r.wire == above.wire && r.work == above.work {
		r.work = ""
	}
	if r.wire == above.wire {
		r.wire = ""
	}
	line := "|"
	for _, cell := range []string{r.wire, r.work, r.way, r.asked, r.ours, r.ourValue, r.peer, r.theirs, r.ratio, r.blocks} {
		if cell != "" {
			line += " " + cell + " "
		}
		line += "|"
	}
	return line
}

// wires prints the table, work by work.
func (b *bed) wires(ctx context.Context, blocks int, asked func(name string) bool) error {
	headed, above := false, row{}
	for _, w := range b.works() {
		if !asked(w.wire + " " + w.name) {
			continue
		}
		if !headed {
			fmt.Printf("\n%s\n", tableHead)
			headed = true
		}
		rows, err := b.rowsOf(ctx, w, blocks)
		if err != nil {
			return fmt.Errorf("%s %s: %w", w.wire, w.name, err)
		}
		for _, r := range rows {
			fmt.Println(r.below(above))
			above = r
		}
	}
	return nil
}

func (b *bed) rowsOf(ctx context.Context, w work, blocks int) ([]row, error) {
	here, missing := w.present(b.unoffered)
	var rows []row
	if len(here.peers) > 0 && len(here.ours) > 0 {
		m, err := here.measure(ctx, blocks)
		if err != nil {
			return nil, err
		}
		rows = here.rows(m)
	} else if len(here.ours) == 0 {
		rows = append(rows, row{wire: w.wire, work: w.name, ours: "no worker of this wire is in bin/"})
	}
	for _, c := range missing {
		rows = append(rows, row{wire: w.wire, work: w.name, peer: c.name, theirs: "not here: " + c.get})
	}
	return rows, nil
}

// rows puts the fastest of ours beside each peer, and then the cheapest at an equal
// rate.
func (w work) rows(m measured) []row {
	all := append(slices.Clone(w.peers), w.ours...)
	unit, cost := cmp.Or(w.unit, "/s"), cmp.Or(w.cost, "µs")
	fastest, cheapest := best(m.free, len(w.peers), false), best(m.paced, len(w.peers), true)
	var rate, cpu []row
	for i, peer := range w.peers {
		r := row{wire: w.wire, work: w.name, peer: peer.name}
		r.way, r.asked, r.ours = "rate, from "+w.server, w.fast, all[fastest].name
		r.fill(values(m.free[i]), values(m.free[fastest]), unit)
		if busy := each(m.free[i], func(f figure) float64 { return f.busy }); busy[0] > 0 {
			r.theirs += fmt.Sprintf(", server %.0f %%", 100*stat.Mean(busy))
			r.ourValue += fmt.Sprintf(", server %.0f %%", 100*stat.Mean(each(m.free[fastest], func(f figure) float64 { return f.busy })))
		}
		rate = append(rate, r)

		theirs, ours, of := m.free[i], m.chasing[i], 0
		r.way = "CPU at the peer's rate"
		if peer.paced && cheapest >= 0 {
			theirs, ours, of = m.paced[i], m.paced[cheapest], cheapest-len(w.peers)
			r.way = fmt.Sprintf("CPU at %.4g%s", w.rate, unit)
		}
		if len(ours) == 0 {
			continue
		}
		r.asked, r.ours = w.cheap, w.ours[of].name
		at, then := same(theirs, ours)
		r.fill(costs(at), costs(then), " "+cost)
		if len(at) < len(theirs) {
			r.blocks = fmt.Sprintf("%d of %d", len(at), len(theirs))
		}
		cpu = append(cpu, r)
	}
	return append(rate, cpu...)
}

// same returns the blocks in which two clients had the same rate.
func same(theirs, ours []figure) (at, then []figure) {
	for b := range theirs {
		if math.Abs(ours[b].value/theirs[b].value-1) <= equal {
			at, then = append(at, theirs[b]), append(then, ours[b])
		}
	}
	return at, then
}

// fill enters figures and their ratio, block by block.
func (r *row) fill(theirs, ours []float64, unit string) {
	r.blocks = fmt.Sprint(len(ours))
	if len(ours) == 0 {
		r.theirs, r.ourValue, r.ratio = "", "", "undecided"
		return
	}
	r.theirs, r.ourValue = fmt.Sprintf("%.4g%s", mean(theirs), unit), fmt.Sprintf("%.4g%s", mean(ours), unit)
	ratios := make([]float64, len(ours))
	for b := range ours {
		ratios[b] = ours[b] / theirs[b]
	}
	if e, ok := stat.GeometricMean(ratios); ok {
		r.ratio = fmt.Sprintf("%.3g× (%.3g–%.3g)", e.Point, e.Low, e.High)
		return
	}
	r.ratio = fmt.Sprintf("%.3g× (one block)", mean(ratios))
}
