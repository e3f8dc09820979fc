package mesh

import (
	"math"

	"netdyno/internal/read/stat"
)

// fit is a table of pairs taken apart: pair = middle + from + to + rest.
type fit struct {
	middle   float64
	from, to []float64   // by host; 0 for one without pairs
	rest     [][]float64 // NaN where the table is
}

// polish takes a table apart by medians, which a host that is off with every partner,
// or a pair that is off, does not move for the others, as long as fewer than half of
// a host's partners are off.
//
// Source: J. W. Tukey, Exploratory Data Analysis, 1977, chapter 11 (median polish).
func polish(table [][]float64) fit {
	n := len(table)
	f := fit{from: make([]float64, n), to: make([]float64, n), rest: make([][]float64, n)}
	for i := range table {
		f.rest[i] = append([]float64(nil), table[i]...)
	}
	const (
		sweeps = 20
		enough = 1e-9 // of a logarithm
	)
	for range sweeps {
		moved := f.sweepRows() + f.sweepColumns()
		if moved < enough {
			break
		}
	}
	f.middle += recentre(f.from, f.rest, true) + recentre(f.to, f.rest, false)
	return f
}

func (f *fit) sweepRows() (moved float64) {
	for i, row := range f.rest {
		m := stat.Median(present(row))
		if math.IsNaN(m) {
			continue
		}
		f.from[i] += m
		for j := range row {
			row[j] -= m
		}
		moved += math.Abs(m)
	}
	return moved
}

func (f *fit) sweepColumns() (moved float64) {
	for j := range f.to {
		m := stat.Median(present(column(f.rest, j)))
		if math.IsNaN(m) {
			continue
		}
		f.to[j] += m
		for i := range f.rest {
			f.rest[i][j] -= m
		}
		moved += math.Abs(m)
	}
	return moved
}

func column(table [][]float64, j int) []float64 {
	values := make([]float64, len(table))
	for i := range table {
		values[i] = table[i][j]
	}
	return values
}

// recentre moves the effects of hosts that have pairs to a median of 0 and returns
// by how much.
func recentre(effects []float64, rest [][]float64, rows bool) float64 {
	var there []float64
	for i, e := range effects {
		line := column(rest, i)
		if rows {
			line = rest[i]
		}
		if len(present(line)) > 0 {
			there = append(there, e)
		}
	}
	if len(there) == 0 {
		return 0
	}
	m := stat.Median(there)
	for i := range effects {
		effects[i] -= m
	}
	return m
}
