package session

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/input"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/floor"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// before returns what the bench asks before each block: of a steered study what of the
// block runs; of one with several looks whether what was measured settles it; at which rates
// trials run that are shares of what their arms do flat out. Nil for any other.
func (r *Run) before(say func(string)) bench.BeforeBlock {
	say = orSilent(say)
	s, shares := r.session.Study, record.HasFlatOut(r.session.All)
	if !s.Steered() && len(s.OwnLooks) == 0 && !shares {
		return nil
	}
	return func(block int, planned []record.Trial) ([]record.Trial, bool, error) {
		switch first := planned[0]; {
		case first.FlatOut, first.Probe && !shares:
			return planned, false, nil
		case !first.Probe && len(s.OwnLooks) > 0:
			settled, err := r.look(block-1, say)
			if err != nil {
				return nil, false, fmt.Errorf("look after block %d: %w", block-1, err)
			}
			if settled {
				return nil, true, nil
			}
		}
		if s.Steered() || shares {
			return r.allocate(block, planned, say)
		}
		return planned, false, nil
	}
}

// look asks, after every look that the run takes by itself but the last, whether the records settle the
// study. If they do, the run's file gets a line that the run stopped there.
func (r *Run) look(blocks int, say func(string)) (settled bool, err error) {
	looks := r.session.Study.OwnLooks
	look := slices.Index(looks, blocks) + 1
	if look == 0 || look == len(looks) {
		return false, nil
	}
	contents, err := r.soFar()
	if err != nil {
		return false, err
	}
	settled, words, err := r.session.request.Judge.Look(contents.Header, r.session.All, contents.Records, look)
	if err != nil {
		return false, err
	}
	say(words)
	if !settled {
		return false, nil
	}
	return true, r.file.Stop(record.Stop{Look: look, Blocks: blocks})
}

// allocate asks what of a block runs and writes that down, unless it was decided before
// the run was stopped: then the planned trials are those already.
func (r *Run) allocate(block int, planned []record.Trial, say func(string)) (run []record.Trial, ended bool, err error) {
	contents, err := r.soFar()
	if err != nil {
		return nil, false, err
	}
	decided := contents.Header.Allocations
	if slices.ContainsFunc(decided, func(a record.Allocation) bool { return a.Block == block }) {
		return planned, false, nil
	}
	a, words, err := r.session.request.Judge.Allocate(contents.Header, record.Allocated(r.session.All, decided), contents.Records, block)
	if err != nil {
		return nil, false, err
	}
	a.Block = block
	if err := r.file.Allocate(a); err != nil {
		return nil, false, err
	}
	if words != "" {
		say(words)
	}
	return record.Allocated(planned, []record.Allocation{a}), a.Ended, nil
}

// soFar returns what was measured and decided: what it read when it was called last,
// and what has been appended since.
func (r *Run) soFar() (record.Contents, error) {
	f, err := input.OpenKept(r.Dir.Records())
	if err != nil {
		return record.Contents{}, err
	}
	defer f.Close()
	held, err := f.Stat()
	if err == nil {
		err = r.tail.Read(f, held.Size())
	}
	if err != nil {
		return record.Contents{}, fmt.Errorf("read %s: %w", r.Dir.Records(), err)
	}
	contents := r.tail.Contents
	contents.Header.Directory, contents.Records = string(r.Dir), slices.Clone(contents.Records)
	return contents, nil
}

// maxFloors bounds the ways that are measured before a run.
const maxFloors = 4

// measureFloors measures the ways between the seats of the plan's trials. What cannot be
// measured is a warning: trials do without.
func (s *Session) measureFloors(ctx context.Context) []record.Floor {
	if s.request.DryRun || s.request.Resume || s.request.Continue || s.Study.Mesh {
		return nil
	}
	var all []record.Floor
	seen := map[string]bool{}
	for _, k := range s.Kinds {
		path, has := s.path(k)
		key := fmt.Sprint(path.Server.Name, path.Server.CPUs, path.Client.Name, path.Client.CPUs)
		if !has || seen[key] || len(seen) == maxFloors {
			continue
		}
		seen[key] = true
		boot := "" // of a path that is not within this host
		if s.site.watch != nil {
			boot = path.Client.BootID
		}
		f, err := floor.Kept(ctx, s.site.program, boot, path)
		if err != nil {
			s.Warnings = append(s.Warnings, record.Warning{
				About: "floor", Text: fmt.Sprintf("what an empty exchange takes from %s to %s was not measured: %v", path.Client.Name, path.Server.Name, err),
			})
			continue
		}
		all = append(all, f)
	}
	return all
}

// path returns where a server and a client of a kind of trial sit; none where a library
// starts both ends, or where the server stands on a machine that is not a host of the rig.
func (s *Session) path(k Kind) (floor.Path, bool) {
	for _, end := range s.catalog.Ends(k.Work) {
		if end.Has(contract.Pair) {
			return floor.Path{}, false
		}
	}
	server, clients, err := s.site.seat(k.Work)
	if err != nil || len(clients) == 0 {
		return floor.Path{}, false
	}
	stands := strings.Split(k.ServerOptions["address"], study.Joined)
	if external, is := s.site.rig.(rig.External); is {
		stands, server = external.Peers(), rig.Seat{Host: clients[0].Host} // where the scheduler puts it
	}
	for _, address := range stands {
		if host, _, err := net.SplitHostPort(address); err == nil && host != server.Address {
			return floor.Path{}, false
		}
	}
	return floor.Path{Server: server, Client: clients[0]}, true
}
