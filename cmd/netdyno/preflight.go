package main

import (
	"context"
	"fmt"
	"time"

	"netdyno/internal/run/bench"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/study"
)

// preflight asks the doctor whether this host can run every kind of trial, and
// adds its warnings to the plan's.
func (p *plan) preflight(ctx context.Context) error {
	now, err := doctor.Observe(ctx, 200*time.Millisecond)
	if err != nil {
		return err
	}
	host := p.facts.Seats["local"]
	said := map[string]bool{}
	for _, needs := range p.needs() {
		warnings, err := doctor.Preflight(needs, host, now)
		if err != nil {
			return fmt.Errorf("preflight: %w", err)
		}
		for _, w := range warnings {
			if !said[w.Text] {
				said[w.Text] = true
				p.warnings = append(p.warnings, w)
			}
		}
	}
	return nil
}

// needs are the plan's distinct demands on the one host of the loopback rig.
func (p *plan) needs() []doctor.Needs {
	var all []doctor.Needs
	seen := map[string]bool{}
	for _, t := range p.trials {
		work, err := study.Decode(t.Levels)
		if err != nil {
			continue // checkEnds has refused it
		}
		kind := fmt.Sprint(work.Load.Connections, work.Clients, work.Servers, work.Placement, work.Load.Fresh)
		if seen[kind] {
			continue
		}
		seen[kind] = true
		all = append(all, doctor.Needs{
			Connections: (work.Load.Connections + work.Clients - 1) / work.Clients, Clients: work.Clients, Servers: work.Servers,
			SourceAddresses: bench.SourcesOf(work), Placement: work.Placement, Fresh: work.Load.Fresh,
		})
	}
	return all
}
