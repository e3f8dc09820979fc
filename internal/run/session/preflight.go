package session

import (
	"errors"
	"fmt"
	"slices"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/study"
)

// preflight asks the doctor whether every host can run every kind of trial, and
// adds the doctor's warnings to the plan's.
func (p *Plan) preflight(s *site, c *record.Calibration) error {
	needs := map[string][]doctor.Needs{}
	for _, d := range p.demands(s) {
		needs[d.host] = append(needs[d.host], d.Needs)
	}
	said := map[string]bool{}
	var refusals []error
	for _, h := range s.hosts {
		if needs[h.Name] == nil {
			continue
		}
		host := s.facts[h.Name]
		now := doctor.SampleOf(host)
		if !s.speaksForItsHost(h.Name) {
			now = doctor.Sample{}
		}
		warnings, err := doctor.Preflight(needs[h.Name], host, now)
		if err != nil {
			refusals = append(refusals, fmt.Errorf("preflight of %s: %w", h.Name, err))
		}
		for _, w := range warnings {
			if len(s.hosts) > 1 {
				w.Text = h.Name + ": " + w.Text
			}
			if !said[w.About+w.Text] {
				said[w.About+w.Text] = true
				p.Warnings = append(p.Warnings, w)
			}
		}
	}
	if len(refusals) > 0 {
		return errors.Join(refusals...)
	}
	if len(p.Kinds) > 0 {
		p.Warnings = append(p.Warnings, doctor.Undetectable(c, p.Study.Compare.Primary, p.Study.Blocks, p.Kinds[0].Window)...)
	}
	return nil
}

// demand is what one kind of trial needs of one host.
type demand struct {
	host string
	doctor.Needs
}

// demands are the plan's distinct demands on its hosts.
func (p *Plan) demands(s *site) []demand {
	var all []demand
	seen := map[string]bool{}
	for _, k := range p.Kinds {
		work := k.Work
		kind := fmt.Sprint(work.Load.Connections, work.Clients, work.Servers, work.Listeners, work.Placement, work.Load.Fresh, work.Hosts, work.Path)
		if !seen[kind] {
			seen[kind] = true
			all = append(all, demandsOf(s, work)...)
		}
	}
	return all
}

func demandsOf(s *site, work study.Work) []demand {
	server, clients, err := s.seat(work)
	if err != nil {
		return nil // the trial's record will say so
	}
	var all []demand
	for _, host := range s.hosts {
		d := demand{host.Name, doctor.Needs{
			Connections: work.Load.Connections, Placement: work.Placement, Fresh: work.Load.Fresh, CPUSets: map[string][]int{},
		}}
		if host.Name == server.Name && work.ServerOptions["address"] == "" { // what runs already has limits of its own
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
			d.Connections, d.SourceAddresses = (work.Load.Connections+work.Clients-1)/work.Clients, bench.SourcesFor(work, there)
			d.Ways = bench.Ways(d.SourceAddresses, bench.Listeners(work))
		}
		if d.Servers+d.Clients > 0 {
			all = append(all, d)
		}
	}
	return all
}

// leaveProbesOut takes the probes out of a built-in study that were not asked for, where
// perf does not see into the kernel, and says so: what they would show is less than half
// of what an exchange costs. A run that goes on keeps its plan.
func (s *Session) leaveProbesOut() {
	if s.Study.Probes == 0 || s.request.Continue || !s.request.builtIn() || s.request.sets("probes") {
		return
	}
	for _, h := range s.site.hosts {
		facts := s.site.facts[h.Name]
		why := doctor.PerfRefusal(facts)
		if facts.Values["perf.path"] == "none" {
			why = "perf is not installed (Debian: linux-perf)"
		}
		if why == "" {
			continue
		}
		isProbe := func(t record.Trial) bool { return t.Probe }
		s.Study.Probes = 0
		s.All, s.Trials = slices.DeleteFunc(slices.Clone(s.All), isProbe), slices.DeleteFunc(slices.Clone(s.Trials), isProbe)
		s.Warnings = append(s.Warnings, record.Warning{
			About: "profile", Text: "no profiles on " + h.Name + ": " + why,
			Advice: fmt.Sprintf("probes=%d profiles all the same, as far as the programs see themselves", studiedProbes),
		})
		return
	}
}

// studiedProbes are as many as tell in what two arms differ.
const studiedProbes = 3
