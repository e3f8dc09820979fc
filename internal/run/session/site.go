package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"netdyno/internal/input"
	"netdyno/internal/printable"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/doctor"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/study"
)

// site is a rig that was built, with what is known of its hosts.
type site struct {
	program string // path of netdyno-host
	rig     rig.Rig
	hosts   []rig.Host             // of the rig, completed by their facts
	facts   map[string]record.Host // by host
	watch   *doctor.Watched        // of this host, the only one; nil to ask hosts
}

// build builds a rig. Whoever has a site closes it.
func build(ctx context.Context, choice arrange.Choice) (*site, error) {
	program, err := hostProgram()
	if err != nil {
		return nil, err
	}
	built, err := choice.Build(ctx)
	if err != nil {
		return nil, err
	}
	return &site{program: program, rig: built}, nil
}

func (s *site) close() error { return s.rig.Close() }

// deploy brings the program of hosts and others to the hosts, if the rig has to.
func (s *site) deploy(ctx context.Context, programs ...string) (deployed bool, err error) {
	d, ok := s.rig.(rig.Deployer)
	if !ok {
		return false, nil
	}
	return true, d.Deploy(ctx, append(programs, s.program))
}

// network has the rig put hosts on every network that trials name.
func (s *site) network(kinds []Kind) error {
	var names []string
	for _, k := range kinds {
		if name := k.Hosts.Network; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	networked, able := s.rig.(rig.Networked)
	if !able {
		return rig.OneNetwork(s.rig)
	}
	return networked.On(names)
}

// survey asks the hosts for their facts. More arguments ask for more than the
// usual ones.
func (s *site) survey(ctx context.Context, more ...string) (err error) {
	if s.watch != nil {
		s.facts = s.ownFacts()
		now, err := s.watch.End(ctx, doctor.SampleFor)
		if err != nil {
			return err
		}
		here := s.rig.Hosts()[0]
		now.AddTo(s.facts[here.Name])
		s.hosts = []rig.Host{here.Known(s.facts[here.Name])}
		s.inform(s.facts)
		return nil
	}
	s.hosts, s.facts, err = rig.Survey(ctx, s.rig.Hosts(), s.program, more...)
	s.inform(s.facts)
	return err
}

// ownFacts are those of this host, which is the rig's only one.
func (s *site) ownFacts() map[string]record.Host {
	here, facts := s.rig.Hosts()[0], rig.Here()
	facts.Values[record.AddressFact] = here.Address
	return map[string]record.Host{here.Name: facts}
}

// surveyAfter asks the hosts what they are like after a run. Where a host does not answer, the
// facts of the others come with the error.
func (s *site) surveyAfter(ctx context.Context) (after map[string]record.Host, err error) {
	if s.watch != nil {
		after = s.ownFacts()
	} else {
		_, after, err = rig.Survey(ctx, s.hosts, s.program, "--load=false")
	}
	s.inform(after)
	return after, err
}

// inform adds to facts of hosts what the rig alone knows.
func (s *site) inform(facts map[string]record.Host) {
	informed, is := s.rig.(rig.Informed)
	if !is {
		return
	}
	for name, more := range informed.Facts() {
		if host := facts[name]; host.Values != nil {
			maps.Copy(host.Values, more)
		}
	}
}

// enterLeaves adds to the facts what the rig's file says of its switches.
func (s *site) enterLeaves(described []rig.Described) {
	for _, d := range described {
		if host, known := s.facts[d.Title()]; known && d.Leaf != "" {
			host.Values[record.LeafFact] = printable.Text(d.Leaf)
		}
	}
}

// external reports whether the servers stand already, so that the rig has hosts
// for clients only.
func (s *site) external() bool {
	_, ok := s.rig.(rig.External)
	return ok
}

// seat places the workers of a trial. The server's seat is empty where the
// server stands already.
func (s *site) seat(w study.Work) (server rig.Seat, clients []rig.Seat, err error) {
	if s.external() {
		clients, err = rig.ClientSeats(s.hosts, w.Placement, w.Clients)
		return rig.Seat{}, clients, err
	}
	return bench.Seats(s.hosts, w)
}

// speaksForItsHost holds for the first place of each physical host: what
// disturbs the host is said once.
func (s *site) speaksForItsHost(name string) bool {
	at := slices.IndexFunc(s.hosts, func(other rig.Host) bool { return other.Name == name })
	return slices.IndexFunc(s.hosts, func(other rig.Host) bool { return other.BootID == s.hosts[at].BootID }) == at
}

// check refuses hosts that the rig does not have, links that it cannot shape, and
// encrypted trials whose clients do not know the certificate of a server that stands
// already.
func (s *site) check(ctx context.Context, kinds []Kind) error {
	shaper, shapes := s.rig.(rig.Shaper)
	external, isExternal := s.rig.(rig.External)
	for _, k := range kinds {
		if _, err := rig.Ends(k.Hosts).Choose(s.hosts); err != nil {
			return err
		}
		if isExternal && k.Hosts.Server != "" {
			return fmt.Errorf("server.host=%s: the server stands already, where rig %s says", k.Hosts.Server, s.rig.Name())
		}
		if !shapes && k.Link != (record.Link{}) {
			return rig.Unshaped(s.rig)
		}
		if k.Link.Delay > 0 || k.Link.LossShare > 0 { // which not every kernel can
			if err := shaper.Shape(ctx, k.Link); err != nil {
				return fmt.Errorf("rig %s: %w", s.rig.Name(), err)
			}
		}
		if isExternal {
			if err := bench.Trusts(k.Work, external); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryOut starts each program once at each host. It returns the programs that do
// not run everywhere, with a warning for each host.
func (s *site) tryOut(ctx context.Context, programs []string) (disabled []string, warnings []record.Warning) {
	hosts := s.rig.Hosts()
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
	for j, program := range programs {
		for i, host := range hosts {
			if failures[i][j] != nil {
				disabled = append(disabled, program)
				warnings = append(warnings, cannotRun(host, failures[i][j]))
			}
		}
	}
	slices.Sort(disabled)
	return disabled, warnings
}

func cannotRun(host rig.Host, err error) record.Warning {
	return record.Warning{
		About: "absent", Text: fmt.Sprintf("a worker does not run at %s, and cells that need it stay empty: %v", host.Name, err),
		Advice: "install there what it is linked with (packages.txt), or build it there and name the directory",
	}
}

// CheckRig tells what is wrong with the text of a rig, before anything is measured for it.
func CheckRig(ctx context.Context, rigText string) error {
	_, err := arrange.Parse(rigText, input.Within(ctx, arrange.MaxFile))
	return err
}

// Survey asks the hosts of a rig for their facts, and gives the rig back. More
// arguments ask for more than the usual facts. hold is called before anything is
// made that must be given back.
func Survey(ctx context.Context, rigText string, hold func(), more ...string) (hosts []doctor.Named, err error) {
	choice, err := arrange.Parse(rigText, input.Within(ctx, arrange.MaxFile))
	if err != nil {
		return nil, err
	}
	hold()
	s, err := build(ctx, choice)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if _, err := s.deploy(ctx); err != nil {
		return nil, err
	}
	err = s.survey(ctx, more...)
	for _, h := range s.hosts {
		hosts = append(hosts, doctor.Named{Name: h.Name, Facts: s.facts[h.Name]})
	}
	return hosts, err
}
