package mesh

import (
	"math"

	"netdyno/internal/read/stat"
)

// Grid holds the logarithms of one metric for every ordered pair of hosts in every
// block. What was not measured is NaN.
type Grid struct {
	Hosts, Blocks int
	cells         []float64
}

// NewGrid returns a grid without values. Both numbers are at least 1.
func NewGrid(hosts, blocks int) *Grid {
	g := &Grid{Hosts: hosts, Blocks: blocks, cells: make([]float64, hosts*hosts*blocks)}
	for i := range g.cells {
		g.cells[i] = math.NaN()
	}
	return g
}

func (g *Grid) index(from, to, block int) int { return (block*g.Hosts+from)*g.Hosts + to }

// Set enters a logarithm; block counts from 0.
func (g *Grid) Set(from, to, block int, x float64) { g.cells[g.index(from, to, block)] = x }

// At returns a logarithm, or NaN.
func (g *Grid) At(from, to, block int) float64 { return g.cells[g.index(from, to, block)] }

// centred returns the grid with every block moved to the same median: a machine, or
// a fabric, is slower on some days than on others for all pairs alike.
func (g *Grid) centred() *Grid {
	out := NewGrid(g.Hosts, g.Blocks)
	whole := stat.Median(present(g.cells))
	size := g.Hosts * g.Hosts
	for b := range g.Blocks {
		block := g.cells[b*size : (b+1)*size]
		shift := whole - stat.Median(present(block))
		for i, x := range block {
			out.cells[b*size+i] = x + shift
		}
	}
	return out
}

// blocksOf returns a pair's values in the blocks that have one.
func (g *Grid) blocksOf(from, to int) []float64 {
	values := make([]float64, 0, g.Blocks)
	for b := range g.Blocks {
		if x := g.At(from, to, b); !math.IsNaN(x) {
			values = append(values, x)
		}
	}
	return values
}

// medians returns each pair's median over blocks, by sender and receiver.
func (g *Grid) medians() [][]float64 {
	table := make([][]float64, g.Hosts)
	for i := range table {
		table[i] = make([]float64, g.Hosts)
		for j := range table[i] {
			table[i][j] = stat.Median(g.blocksOf(i, j)) // NaN of none
		}
	}
	return table
}

// present returns the values that are there.
func present(values []float64) []float64 {
	out := make([]float64, 0, len(values))
	for _, x := range values {
		if !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}
