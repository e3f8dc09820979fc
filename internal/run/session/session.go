// Package session is a run's life: a study is planned, its workers are found
// and checked, the rig is built and surveyed, a directory is made or found again,
// the trials are run, and the rig is given back. It prints nothing and judges no
// figure: whoever calls it passes functions for both.
//
//	s, err := session.Prepare(ctx, request)   // nothing is measured yet
//	defer s.Close()
//	r, err := s.Open()                        // the run's directory, new or to go on with
//	err = r.Measure(ctx, observer)            // one record for each trial that is left
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/input"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/study"
)

// Session is a study made ready: planned, checked against what is here, on a
// rig that stands. One goroutine uses it.
type Session struct {
	Plan
	Facts   record.Facts
	request Request
	catalog *bench.Catalog
	site    *site
	texts   texts
	guard   *rig.Held // of servers that others started and that run on the plan's CPUs meanwhile; nil where none do
	apart   bool      // no process serves two arms, as far as is known
	inTurns bool      // trials are turns of loads that go on: nothing decides before a block which of its trials run
}

// Prepare makes a study ready. It fails, with nothing left behind, when the study
// cannot be run here. A session is closed by its caller.
func Prepare(ctx context.Context, r Request) (*Session, error) {
	if !r.Resume && !r.Continue && !r.DryRun { // said before anything is built
		if err := r.Out.Vacant(); err != nil {
			return nil, err
		}
	}
	r.Say = orSilent(r.Say)
	choice, err := arrange.Parse(r.Rig, input.Within(ctx, arrange.MaxFile))
	if err != nil {
		return nil, err
	}
	s := &Session{request: r}
	if err := s.texts.name(r); err != nil {
		return nil, err
	}
	chosen, err := readStudy(ctx, r, choice)
	if err != nil {
		return nil, err
	}
	if err := s.texts.takeTexts(ctx, chosen, r.directory(), r.begunBy); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, chosen, choice); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// orSilent is what is told of a session's progress; of nil what tells nobody.
func orSilent(say func(text string)) func(text string) {
	if say == nil {
		return func(string) {}
	}
	return say
}

// prepare plans the study, finds its workers and builds the rig. Of a mesh over all
// hosts of its rig the rig comes first: only it knows them.
func (s *Session) prepare(ctx context.Context, chosen *study.Study, choice arrange.Choice) error {
	if chosen.NeedsHosts() {
		if err := s.build(ctx, choice); err != nil {
			return err
		}
		var err error
		if chosen, err = overHosts(chosen, s.site); err != nil {
			return err
		}
	}
	plan, err := newPlan(ctx, chosen, &workloads{texts: &s.texts, made: cmp.Or(s.request.Recordings, new(Recordings)), say: s.request.Say})
	if err != nil {
		return err
	}
	s.Plan = *plan
	if err := s.findWorkers(ctx, choice.External()); err != nil {
		return err
	}
	if err := s.build(ctx, choice); err != nil {
		return err
	}
	return s.prepareHosts(ctx, choice.Hosts)
}

// build builds the rig, once.
func (s *Session) build(ctx context.Context, choice arrange.Choice) (err error) {
	if s.site != nil {
		return nil
	}
	if s.request.Hold != nil {
		s.request.Hold()
	}
	if s.site, err = build(ctx, choice); err != nil {
		return err
	}
	if _, here := s.site.rig.(rig.Loopback); here {
		s.site.watch = s.request.Watch
	}
	return nil
}

// overHosts returns a mesh over all hosts of a rig.
func overHosts(s *study.Study, on *site) (*study.Study, error) {
	hosts := on.rig.Hosts()
	if len(hosts) < study.LeastHosts {
		return nil, fmt.Errorf("rig %s has 1 host; a mesh measures pairs of hosts, so name a rig of %d or more, such as --rig netns:4, ssh:HOST,HOST or slurm:8", on.rig.Name(), study.LeastHosts)
	}
	names := each.Of(hosts, func(h rig.Host) string { return h.Name })
	return s.OnHosts(names)
}

// findWorkers finds the plan's workers, checks that they can run the plan, and builds the
// workers that need generated code for the message.
func (s *Session) findWorkers(ctx context.Context, external bool) error {
	if err := s.ownLimits(); err != nil {
		return err
	}
	var err error
	if s.catalog, err = cmp.Or(s.request.Workers, new(Workers)).Catalog(ctx, s.Trials); err != nil {
		return err
	}
	s.inTurns = !s.Study.Steered() && !record.HasFlatOut(s.All) && s.catalog.TakesTurns(s.Trials, s.workloads.enter)
	if s.inTurns { // turns are noise enough to each other, and none shall follow itself more often
		s.apart, s.All, s.Trials = apart(s.Trials), once(s.All), once(s.Trials)
	}
	if external {
		leaveServerOut(s.Study)
	}
	if err := s.checkTransports(s.catalog, s.request.builtIn(), external); err != nil {
		return err
	}
	return s.compile(ctx, s.catalog, s.request.Say, s.request.DryRun)
}

// prepareHosts brings the programs to the hosts and finds out what the hosts are
// and whether they can run the plan.
func (s *Session) prepareHosts(ctx context.Context, described []rig.Described) error {
	if err := s.site.network(s.Kinds); err != nil {
		return err
	}
	programs := s.programs(s.catalog)
	deployed, err := s.deploy(ctx, programs)
	if err != nil {
		return err
	}
	if deployed {
		disabled, warnings := s.site.tryOut(ctx, programs)
		s.Warnings = append(s.Warnings, warnings...)
		if len(disabled) > 0 {
			s.catalog = s.catalog.Without(disabled)
		}
	}
	tools, err := s.tools(s.catalog)
	if err != nil {
		return err
	}
	if err := s.site.survey(ctx); err != nil {
		return err
	}
	s.site.enterLeaves(described)
	if err := s.shareCPUs(); err != nil {
		return err
	}
	s.leaveProbesOut()
	if err := s.site.check(ctx, s.Kinds); err != nil {
		return err
	}
	absent, err := s.site.checkCommands(ctx, s.Kinds, s.request.builtIn())
	if err != nil {
		return err
	}
	s.Warnings = append(s.Warnings, absent...)
	s.Facts = record.Facts{Rig: s.site.rig.Name(), Tools: tools, Seats: s.site.facts, Floors: s.measureFloors(ctx)}
	if s.request.Judge.Calibration != nil {
		if s.Facts.Calibration, err = s.request.Judge.Calibration(s.Facts); err != nil {
			s.Warnings = append(s.Warnings, record.Warning{About: "calibration", Text: err.Error()})
		}
	}
	if err := s.preflight(s.site, s.Facts.Calibration); err != nil {
		return err
	}
	return s.meetServers(ctx)
}

// deploy brings the programs, and what requests carry, to the hosts, if the rig has to.
func (s *Session) deploy(ctx context.Context, programs []string) (deployed bool, err error) {
	files := slices.Clone(programs)
	if _, brings := s.site.rig.(rig.Deployer); brings {
		staged, err := s.texts.stage()
		if err != nil {
			return false, err
		}
		files = append(append(files, staged...), s.workloads.files()...)
	}
	return s.site.deploy(ctx, files...)
}

// Close gives the rig back, where there is one yet, and servers that are not ours their CPUs,
// and removes what was secret.
func (s *Session) Close() error {
	err := errors.Join(s.release(), s.texts.remove())
	if s.workloads != nil {
		err = errors.Join(err, s.workloads.close())
	}
	if s.site == nil {
		return err
	}
	return errors.Join(err, s.site.close())
}

// Placement says where the workers of some kinds of trial run.
type Placement struct {
	Kind    string     // the level of factor placement
	Server  rig.Seat   // empty where the servers stand already
	Peers   []string   // the addresses of servers that stand already
	Clients []rig.Seat // at least one
}

// Placements returns where workers run, for each kind of trial that can be
// placed.
func (s *Session) Placements() []Placement {
	var peers []string
	if external, ok := s.site.rig.(rig.External); ok {
		peers = external.Peers()
	}
	var all []Placement
	for _, k := range s.Kinds {
		server, clients, err := s.site.seat(k.Work)
		at := peers
		if address := k.Work.ServerOptions["address"]; address != "" && len(at) == 0 { // it runs already
			at = strings.Split(address, study.Joined)
		}
		if err == nil && len(clients) > 0 {
			all = append(all, Placement{k.Placement, server, at, clients})
		}
	}
	return all
}

// Hosts returns how many hosts the rig has.
func (s *Session) Hosts() int { return len(s.site.hosts) }
