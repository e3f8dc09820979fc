package main

import (
	"context"
	"strings"
	"testing"
)

// A peer that keeps a rate is held to the cheapest of ours at that rate, another to
// ours at the rate that it had, and only in blocks in which the rates are equal.
func TestRowsOfAWork(t *testing.T) {
	none := func(context.Context, string, float64) (figure, error) { return figure{}, nil }
	w := work{
		wire: "echo", name: "small", server: "a server", rate: 100, fast: "≥ 1", cheap: "≤ 1",
		peers: []client{{name: "keeps", paced: true, drive: none}, {name: "runs", drive: none}},
		ours:  []client{{name: "first", paced: true, drive: none}, {name: "second", paced: true, drive: none}},
	}
	twice := func(value, cost float64) []figure {
		return []figure{{value: value, cost: cost}, {value: value, cost: cost}}
	}
	m := measured{
		free:    [][]figure{twice(1000, 4), twice(2000, 3), twice(3000, 2), twice(4000, 5)},
		paced:   [][]figure{twice(100, 10), nil, twice(100.5, 5), twice(100.5, 20)},
		chasing: [][]figure{nil, {{value: 2000, cost: 1.5}, {value: 1900, cost: 1}}},
	}
	var got []string
	for _, r := range w.rows(m) {
		got = append(got, strings.Join([]string{r.way, r.peer, r.theirs, r.ours, r.ourValue, r.ratio, r.blocks, r.asked}, "; "))
	}
	want := []string{
		"rate, from a server; keeps; 1000/s; second; 4000/s; 4× (4–4); 2; ≥ 1",
		"rate, from a server; runs; 2000/s; second; 4000/s; 2× (2–2); 2; ≥ 1",
		"CPU at 100/s; keeps; 10 µs; first; 5 µs; 0.5× (0.5–0.5); 2; ≤ 1",
		"CPU at the peer's rate; runs; 3 µs; first; 1.5 µs; 0.5× (one block); 1 of 2; ≤ 1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	m.chasing[1] = twice(1000, 1)
	if last := w.rows(m)[3]; last.ratio != "undecided" || last.theirs != "" || last.blocks != "0 of 2" {
		t.Errorf("at other rates the row is %v", last)
	}
}

// A row repeats nothing that the one above it says of both.
func TestARowBelowAnother(t *testing.T) {
	first := row{wire: "echo", work: "small", way: "rate", asked: "≥ 1", ours: "uring", ourValue: "5/s", peer: "a", theirs: "4/s", ratio: "1.25×", blocks: "4"}
	alike, slower, cost := first, first, first
	alike.peer, slower.ourValue, cost.way, cost.asked = "b", "3/s", "CPU", ""
	for _, c := range []struct {
		above, row row
		want       string
	}{
		{row{}, first, "| echo | small | rate | ≥ 1 | uring | 5/s | a | 4/s | 1.25× | 4 |"},
		{first, alike, "||||||| b | 4/s | 1.25× | 4 |"},
		{first, slower, "|||||| 3/s | a | 4/s | 1.25× | 4 |"},
		{first, cost, "||| CPU || uring | 5/s | a | 4/s | 1.25× | 4 |"},
	} {
		if got := c.row.below(c.above); got != c.want {
			t.Errorf("the row is %s, want %s", got, c.want)
		}
	}
}

// Every row of a work has as many columns as the head, and a peer that is not here says
// how it is to be had.
func TestAMissingPeerIsARow(t *testing.T) {
	b := &bed{}
	for _, w := range without {
		rows, err := b.rowsOf(t.Context(), w, 1)
		if err != nil || len(rows) == 0 {
			t.Fatalf("%s: %v, %v", w.wire, rows, err)
		}
		last := rows[len(rows)-1].below(row{})
		if strings.Count(last, "|") != strings.Count(strings.Split(tableHead, "\n")[0], "|") || !strings.Contains(last, "not here: "+w.peers[0].get) {
			t.Errorf("the row is %s", last)
		}
	}
}
