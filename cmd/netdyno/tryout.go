package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
)

// tryOut starts each worker once at each place. One that does not run
// everywhere is left out, and what needs it stays empty, with the reason.
func (p *plan) tryOut(ctx context.Context, programs []string) {
	places := p.rig.Places()
	failures := make([][]error, len(places))
	var wait sync.WaitGroup
	for i, place := range places {
		failures[i] = make([]error, len(programs))
		wait.Go(func() { // one after the other: a place may allow few sessions at once
			for j, program := range programs {
				failures[i][j] = bench.RunsAt(ctx, place, program)
			}
		})
	}
	wait.Wait()
	var lame []string
	for j, program := range programs {
		for i, place := range places {
			if failures[i][j] != nil {
				lame = append(lame, program)
				p.warnings = append(p.warnings, cannotRun(place, failures[i][j]))
			}
		}
	}
	if slices.Sort(lame); len(lame) > 0 {
		p.catalog = p.catalog.Without(lame)
	}
}

func cannotRun(place rig.Place, err error) record.Warning {
	return record.Warning{
		About: place.Name, Text: fmt.Sprintf("a worker does not run there, and cells that need it stay empty: %v", err),
		Advice: "install there what it is linked with (packages.txt), or build it there and name the directory",
	}
}
