package study

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"netdyno/internal/record"
)

// A mesh measures every ordered pair of hosts. Two pairs without a host in common
// do not meet before they reach the switch, so they run at the same time: the
// trials of a block are the rounds of a tournament, and a block takes as many
// rounds as there are hosts, not pairs.

// LeastHosts is how many hosts make a pair.
const LeastHosts = 2

// NeedsHosts tells whether the study is a mesh whose hosts nobody has named yet:
// they are all hosts of the rig.
func (s *Study) NeedsHosts() bool { return s.Mesh && !s.Varies(ServerHost) }

// OnHosts returns the mesh over these hosts, in their order.
func (s *Study) OnHosts(names []string) (*Study, error) {
	out := *s
	out.Vary = slices.Clone(s.Vary)
	for _, factor := range []string{ClientHost, ServerHost} {
		v := Varied{Factor: factor}
		for _, name := range names {
			if err := CheckText(name); err != nil {
				return nil, fmt.Errorf("%s: %w", factor, err)
			}
			v.Levels = append(v.Levels, Level{Text: name})
		}
		out.Vary = append(out.Vary, v)
	}
	if err := out.checkMesh(); err != nil {
		return nil, err
	}
	return &out, out.CheckSize()
}

// checkMesh refuses what is no mesh.
func (s *Study) checkMesh() error {
	if !s.Mesh {
		return nil
	}
	if s.Probes > 0 {
		return Errorf(s.At, "mesh: a mesh has no probes, because a profile of each pair would say nothing of the hosts; run the pair that you suspect by itself: server.host=A client.host=B probes=3")
	}
	if v := FindVaried(s.Vary, s.Compare.Factor); v != nil && len(v.Levels) > 1 {
		return Errorf(v.At, "mesh: %s has %d levels; a mesh compares hosts, so it has one arm", v.Factor, len(v.Levels))
	}
	servers, clients := FindVaried(s.Vary, ServerHost), FindVaried(s.Vary, ClientHost)
	held := func(factor string) bool { _, is := Find(s.Hold, factor); return is }
	switch {
	case held(ServerHost) || held(ClientHost) || (servers == nil) != (clients == nil):
		return Errorf(s.At, "mesh: %s and %s are both ends of every pair; expected the same hosts for both, or neither for all hosts of the rig", ServerHost, ClientHost)
	case servers == nil:
		return nil
	}
	a, b := textsOf(servers.Levels), textsOf(clients.Levels)
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		return Errorf(clients.At, "mesh: %s has other hosts than %s (%s); every host is both ends of its pairs", ClientHost, ServerHost, where(servers.At))
	}
	if len(a) < LeastHosts {
		return Errorf(servers.At, "mesh: found %d host; expected %d or more", len(a), LeastHosts)
	}
	return nil
}

// warnMesh names what the mesh cannot tell.
func (s *Study) warnMesh() []record.Warning {
	var out []record.Warning
	const fewHosts, fewBlocks = 4, 3
	if s.Blocks < fewBlocks {
		out = append(out, record.Warning{
			About: "blocks", Text: fmt.Sprintf("with %d blocks a slow pair cannot be told from a disturbed one, so nobody is named", s.Blocks),
			Advice: fmt.Sprintf("run at least %d blocks", fewBlocks),
		})
	}
	if v := FindVaried(s.Vary, ServerHost); v != nil && len(v.Levels) < fewHosts {
		out = append(out, record.Warning{
			About: "hosts", Text: fmt.Sprintf("with %d hosts a host cannot be told from its partners", len(v.Levels)),
			Advice: "measure at least 4 hosts",
		})
	}
	if m := s.sample(); m != nil {
		hosts := len(m.hosts)
		out = append(out, record.Warning{
			About:  "hosts",
			Text:   fmt.Sprintf("of the %d ways between %d hosts %d are measured, drawn by lot: each host meets %d others, as client and as server; of the other ways nothing is known", hosts*(hosts-1), hosts, len(m.ways), m.partners),
			Advice: "name the hosts of a part, server.host=… client.host=…, for all of its ways",
		})
	}
	return append(out, s.warnKept()...)
}

// ofOneHost tells whether both ends of a cell are on the same host.
func ofOneHost(cell []Setting) bool {
	server, placed := Find(cell, ServerHost)
	client, both := Find(cell, ClientHost)
	return placed && both && server.Text == client.Text
}

// AtOnce tells whether two neighbours of a plan run at the same time.
func AtOnce(a, b record.Trial) bool {
	return a.Round != 0 && a.Round == b.Round && a.Block == b.Block && a.Probe == b.Probe
}

// inRounds orders the trials of a block by rounds, and numbers these from 1: in
// each, no host is in two trials, and all trials have the same load. The hosts draw
// their places in the tournament anew for every block, and the rounds come in
// random order. The rounds that a mesh of many hosts has drawn are those of every block.
func inRounds(block []record.Trial, drawn *sample, random *rand.Rand) []record.Trial {
	rounds := [][]record.Trial{}
	loads := map[string]map[pair]record.Trial{}
	hosts := map[string]bool{}
	for _, t := range block {
		p := pair{t.Levels[ClientHost], t.Levels[ServerHost]}
		load := loadOf(t)
		if loads[load] == nil {
			loads[load] = map[pair]record.Trial{}
		}
		loads[load][p] = t
		hosts[p.client], hosts[p.server] = true, true
	}
	names := slices.Sorted(maps.Keys(hosts))
	if len(names) < LeastHosts { // the rig's own two ends, which nobody has named
		return block
	}
	for _, load := range slices.Sorted(maps.Keys(loads)) {
		for _, pairs := range roundsOf(names, drawn, random) {
			var round []record.Trial
			for _, p := range pairs {
				if t, planned := loads[load][p]; planned {
					round = append(round, t)
				}
			}
			rounds = append(rounds, round)
		}
	}
	random.Shuffle(len(rounds), func(i, j int) { rounds[i], rounds[j] = rounds[j], rounds[i] })
	ordered := make([]record.Trial, 0, len(block))
	for i, round := range rounds {
		for _, t := range round {
			t.Round = i + 1
			ordered = append(ordered, t)
		}
	}
	return ordered
}

// roundsOf returns the rounds of a block: those that the mesh has drawn, else all of a
// tournament, whose names change places.
func roundsOf(names []string, drawn *sample, random *rand.Rand) [][]pair {
	if drawn != nil {
		return drawn.rounds
	}
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return tournament(names, random)
}

// loadOf tells trials apart by all their levels but the hosts.
func loadOf(t record.Trial) string {
	text := ""
	for _, factor := range sortedKeys(t.Levels) {
		if factor != ServerHost && factor != ClientHost {
			text += fmt.Sprintf("%q=%q ", factor, t.Levels[factor])
		}
	}
	return text
}

// pair is an ordered pair of hosts.
type pair struct{ client, server string }

// tournament returns rounds in which every ordered pair of hosts meets once and no
// host is in two pairs: each round of a round-robin tournament twice, the second
// time with the ends of its pairs exchanged. Which end of a pair is the client
// first is drawn by lot. Of an odd number of hosts one rests in each round.
// Source: the circle method; E. Lucas, Récréations mathématiques, vol. 2 (1883), Les jeux de
// demoiselles: one player stays, the others move on by one place.
func tournament(hosts []string, random *rand.Rand) [][]pair {
	places := slices.Clone(hosts)
	if len(places)%2 == 1 {
		places = append(places, "") // who meets it rests
	}
	n := len(places)
	var rounds [][]pair
	for range n - 1 {
		var there, back []pair
		for i := range n / 2 {
			a, b := places[i], places[n-1-i]
			if a == "" || b == "" {
				continue
			}
			if random.IntN(2) == 1 {
				a, b = b, a
			}
			there, back = append(there, pair{a, b}), append(back, pair{b, a})
		}
		rounds = append(rounds, there, back)
		last := places[n-1]
		copy(places[2:], places[1:n-1])
		places[1] = last
	}
	return rounds
}
