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

// tryOut starts each worker once at each host. One that does not run
// everywhere is left out, and what needs it stays empty, with the reason.
func (p *plan) tryOut(ctx context.Context, programs []string) {
	hosts := p.rig.Hosts()
	failures := make([][]error, len(hosts))
	var wait sync.WaitGroup
	for i, host := range hosts {
		failures[i] = make([]error, len(programs))
		wait.Go(func() { // one after the other: a host may allow few sessions at once
			for j, program := range programs {
				failures[i][j] = bench.RunsOn(ctx, host, program)
			}
		})
	}
	wait.Wait()
	var disabled []string
	for j, program := range programs {
		for i, host := range hosts {
			if failures[i][j] != nil {
				disabled = append(disabled, program)
				p.warnings = append(p.warnings, cannotRun(host, failures[i][j]))
			}
		}
	}
	if slices.Sort(disabled); len(disabled) > 0 {
		p.catalog = p.catalog.Without(disabled)
	}
}

func cannotRun(host rig.Host, err error) record.Warning {
	return record.Warning{
		About: host.Name, Text: fmt.Sprintf("a worker does not run there, and cells that need it stay empty: %v", err),
		Advice: "install there what it is linked with (packages.txt), or build it there and name the directory",
	}
}
