package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// work is the same work for clients of others' and for ours. It is asked two ways: how
// fast they are, and what an exchange costs them in CPU time at the same rate.
type work struct {
	wire, name string
	unit, cost string // of a rate and of a cost; "": exchanges/s and client CPU µs/exchange
	server     string // in words
	serve      func(context.Context) (*peer, error)
	rate       float64 // that is offered to peers that keep one; 0: costs are not asked
	halved     bool    // clients have half of their CPU, so that the server is not the limit
	standing   bool    // one server for all blocks, driven for a while before: one that compiles while it runs is slow at first, and each run of it differs
	peers      []client
	ours       []client

	fast, cheap string // what is asked of the two ratios; "" for nothing
}

// client is one of the programs that do a work.
type client struct {
	name    string
	program string                                                               // of somebody else's, looked for on PATH; "" for ours
	get     string                                                               // how to get it
	paced   bool                                                                 // it keeps a rate that it is told
	own     bool                                                                 // it brings its own server
	drive   func(ctx context.Context, port string, rate float64) (figure, error) // nil of one that nobody here can get
}

// equal is how far the rates of two clients may be apart that are called the same.
const equal = 0.01

// measured are the figures of a work, by client and block. Those of ours come after
// those of peers.
type measured struct {
	free    [][]figure // as fast as it goes
	paced   [][]figure // at the work's rate; none of a client that keeps none
	chasing [][]figure // by peer that keeps no rate: ours at the rate that it had in this block
}

// measure measures every client once in each block, in random order. Ours follows a
// peer that keeps no rate at once, at the rate that it had.
func (w work) measure(ctx context.Context, blocks int) (measured, error) {
	all := append(slices.Clone(w.peers), w.ours...)
	m := measured{make([][]figure, len(all)), make([][]figure, len(all)), make([][]figure, len(w.peers))}
	if w.standing {
		server, err := w.stand(ctx, all)
		if err != nil {
			return m, err
		}
		defer server.end()
		w.serve = func(context.Context) (*peer, error) { return server, nil }
	}
	once := func(into *[]figure, c client, rate float64) (figure, error) {
		f, err := w.once(ctx, c, rate)
		if err != nil {
			return f, fmt.Errorf("%s: %w", c.name, err)
		}
		*into = append(*into, f)
		return f, nil
	}
	for b := range blocks {
		random := rand.New(rand.NewPCG(2, uint64(b)))
		for _, i := range random.Perm(len(all)) {
			f, err := once(&m.free[i], all[i], 0)
			if err != nil {
				return m, err
			}
			if i < len(w.peers) && !all[i].paced && w.rate > 0 {
				if _, err := once(&m.chasing[i], w.ours[0], f.value); err != nil {
					return m, err
				}
			}
		}
		for _, i := range random.Perm(len(all)) {
			if all[i].paced && w.rate > 0 {
				if _, err := once(&m.paced[i], all[i], w.rate); err != nil {
					return m, err
				}
			}
		}
	}
	return m, nil
}

// stand starts the server that all blocks ask, and lets every client drive it once.
func (w work) stand(ctx context.Context, clients []client) (*peer, error) {
	server, err := w.serve(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range clients {
		if _, err := c.drive(ctx, server.port, 0); err != nil {
			server.end()
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return server, nil
}

// once runs a client against a fresh server, or against the one that stands.
func (w work) once(ctx context.Context, c client, rate float64) (figure, error) {
	if w.halved {
		end, err := compute(ctx)
		if err != nil {
			return figure{}, err
		}
		defer end()
	}
	if c.own {
		return c.drive(ctx, "", rate)
	}
	server, err := w.serve(ctx)
	if err != nil {
		return figure{}, err
	}
	if !w.standing {
		defer server.end()
	}
	began, before := time.Now(), server.cpu()
	f, err := c.drive(ctx, server.port, rate)
	if err != nil {
		return f, err
	}
	f.busy = (server.cpu() - before).Seconds() / time.Since(began).Seconds()
	return f, nil
}

// present returns the work with those of its clients that are here, and the peers that
// are not.
func (w work) present(unoffered func([]string) []string) (here work, missing []client) {
	here = w
	here.peers, here.ours = nil, nil
	for _, c := range w.peers {
		if c.drive == nil || c.program != "" && len(absent([]string{c.program})) > 0 {
			missing = append(missing, c)
			continue
		}
		here.peers = append(here.peers, c)
	}
	for _, c := range w.ours {
		if len(unoffered([]string{transportOf(c.name)})) == 0 {
			here.ours = append(here.ours, c)
		}
	}
	return here, missing
}

// best returns which of some clients' figures is best: the highest rate, or the lowest
// cost. Without any it is -1.
func best(of [][]figure, from int, cheapest bool) int {
	at, most := -1, math.Inf(-1)
	for i := from; i < len(of); i++ {
		if len(of[i]) == 0 {
			continue
		}
		score := mean(values(of[i]))
		if cheapest {
			score = -mean(costs(of[i]))
		}
		if score > most {
			at, most = i, score
		}
	}
	return at
}

func values(of []figure) []float64 { return each(of, func(f figure) float64 { return f.value }) }
func costs(of []figure) []float64  { return each(of, func(f figure) float64 { return f.cost }) }

func each(of []figure, what func(figure) float64) []float64 {
	all := make([]float64, len(of))
	for i, f := range of {
		all[i] = what(f)
	}
	return all
}
