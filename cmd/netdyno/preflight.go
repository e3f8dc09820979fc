package main

import (
	"fmt"
	"slices"

	"netdyno/internal/run/bench"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// preflight asks the doctor whether every host can run every kind of trial,
// and adds the warnings to the plan's.
func (p *plan) preflight() error {
	said := map[string]bool{}
	for _, demand := range p.demands() {
		host := p.facts.Seats[demand.host]
		now := doctor.SampleOf(host)
		if !p.speaksForItsMachine(demand.host) {
			now = doctor.Sample{}
		}
		warnings, err := doctor.Preflight(demand.Needs, host, now)
		if err != nil {
			return fmt.Errorf("preflight of %s: %w", demand.host, err)
		}
		for _, w := range warnings {
			if len(p.hosts) > 1 {
				w.About = demand.host + ": " + w.About
			}
			if !said[w.About+w.Text] {
				said[w.About+w.Text] = true
				p.warnings = append(p.warnings, w)
			}
		}
	}
	if len(p.kinds) > 0 {
		p.warnings = append(p.warnings, doctor.Foresee(p.facts.Calibration, p.study.Compare.Primary, p.study.Blocks, p.kinds[0].Work.Window)...)
	}
	return nil
}

// speaksForItsMachine holds for the first host of each machine: what disturbs
// that is said once.
func (p *plan) speaksForItsMachine(name string) bool {
	at := slices.IndexFunc(p.hosts, func(other rig.Host) bool { return other.Name == name })
	return slices.IndexFunc(p.hosts, func(other rig.Host) bool { return other.BootID == p.hosts[at].BootID }) == at
}

// demand is what one kind of trial needs of one host.
type demand struct {
	host string
	doctor.Needs
}

// demands are the plan's distinct demands on its hosts.
func (p *plan) demands() []demand {
	var all []demand
	seen := map[string]bool{}
	for _, k := range p.kinds {
		work := k.Work
		kind := fmt.Sprint(work.Load.Connections, work.Clients, work.Servers, work.Placement, work.Load.Fresh)
		if !seen[kind] {
			seen[kind] = true
			all = append(all, p.demandsOf(work)...)
		}
	}
	return all
}

func (p *plan) demandsOf(work study.Work) []demand {
	server, clients, err := p.seat(work)
	if err != nil {
		return nil // the trial's record will say so
	}
	var all []demand
	for _, host := range p.hosts {
		d := demand{host.Name, doctor.Needs{
			Connections: work.Load.Connections, Placement: work.Placement, Fresh: work.Load.Fresh, CPUSets: map[string][]int{},
		}}
		if host.Name == server.Name {
			d.Servers, d.CPUSets["server"] = work.Servers, server.CPUs
		}
		there := 0
		for i, c := range clients {
			if c.Name == host.Name {
				d.Clients++
				d.CPUSets["client"] = c.CPUs
				there += work.ClientLoad(i).Connections
			}
		}
		if d.Clients > 0 {
			d.Connections, d.SourceAddresses = (work.Load.Connections+work.Clients-1)/work.Clients, bench.SourcesFor(there)
		}
		if d.Servers+d.Clients > 0 {
			all = append(all, d)
		}
	}
	return all
}
