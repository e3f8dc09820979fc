package session

import (
	"context"
	"fmt"
	"net"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/floor"
	"netdyno/internal/run/rig"
)

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
		f, err := floor.Measure(ctx, s.site.self, path)
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
	stands := []string{k.ServerOptions["address"]}
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
