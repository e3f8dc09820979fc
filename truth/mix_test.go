package main

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
)

func TestKolmogorovTellsDistributionsApart(t *testing.T) {
	table := contract.Table{{1 << 31, 10, 10}, {contract.TableEnd, 100, 1099}}
	d := draw.NewDrawer(table, 1, draw.Up)
	var same, other []float64
	for n := range uint64(100_000) {
		x := float64(d.Draw(n))
		same = append(same, x)
		if x > 10 {
			x += 100
		}
		other = append(other, x)
	}
	if got := kolmogorov(same, table, 1); got > 0.01 {
		t.Errorf("draws lie %v from their table", got)
	}
	if got := kolmogorov(other, table, 1); got < 0.045 || got > 0.055 {
		t.Errorf("draws moved by a tenth of half of them lie %v from the table, want 0.05", got)
	}
}

// Of one queue with two connections: the second waits for the first, and its connection's
// next for it.
func TestSimulatedQueue(t *testing.T) {
	const ms = 1_000_000
	setup := contract.Setup{Load: contract.Load{
		Connections: 2, Rate: 1000, Amount: 2, Gaps: contract.Table{{contract.TableEnd, draw.GapUnit, draw.GapUnit}},
		Classes: []contract.Class{{Name: "all", End: contract.TableEnd}},
	}}
	work := contract.Table{{contract.TableEnd, 3 * ms, 3 * ms}}
	const most = 9 * ms // due 1, 2, 3, 4 ms; done 4, 7, 10, 13
	h, err := simulated(setup, work)
	if err != nil || h[0].Count() != 4 {
		t.Fatal(h, err)
	}
	if got := h[0].MaxNs(); got < most*99/100 || got > most*101/100 {
		t.Errorf("the longest takes %d ns, want %d", got, most)
	}
}
