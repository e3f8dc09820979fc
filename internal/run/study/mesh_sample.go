package study

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A mesh of many hosts measures some of its ways, the same in every block: whole days of
// a tournament, drawn by lot, so that each host meets as many others as any, as client and
// as server, and a block takes as many rounds as they are, however many hosts there are.
// Days beside each other would make a ring of near neighbours, in which what a host adds
// could hardly be told from what its neighbours add; days drawn by lot join every host
// with every other over few steps.

const (
	// wholeWays is up to how many ways a mesh measures all of them: those of 128 hosts.
	// Larger ones measure about as many.
	wholeWays = 128 * 128
	// LeastPartners is with how many others a host is measured at least: a host that is
	// 7 % worse is named then with a probability of 95 %, of 1,024 hosts with a noise of
	// 5 % in three blocks (docs/mesh.md).
	LeastPartners = 16
)

// partners returns with how many others each of so many hosts is measured; 0 for all.
func partners(hosts int) int {
	wanted := max(LeastPartners, wholeWays/max(hosts, 1))
	if wanted >= hosts-1 {
		return 0
	}
	return wanted
}

// sample is the ways that a mesh measures, by round; nil for all of them.
type sample struct {
	hosts    []string // of which it was drawn,
	partners int      // in this way
	seed     uint64
	rounds   [][]pair
	ways     map[pair]bool
}

// has tells whether the way between a cell's two hosts is measured.
func (m *sample) has(cell []Setting) bool {
	if m == nil {
		return true
	}
	server, _ := Find(cell, ServerHost)
	client, _ := Find(cell, ClientHost)
	return m.ways[pair{client.Text, server.Text}]
}

// sample draws the ways of a mesh, once.
func (s *Study) sample() *sample {
	v := FindVaried(s.Vary, ServerHost)
	if !s.Mesh || v == nil {
		return nil
	}
	hosts := textsOf(v.Levels)
	partners := partners(len(hosts))
	if partners == 0 {
		return nil
	}
	if d := s.drawn; d != nil && d.partners == partners && d.seed == s.Seed && slices.Equal(d.hosts, hosts) {
		return d
	}
	random := rand.New(rand.NewPCG(s.Seed, math.MaxUint64/2)) // no block's, whose numbers are small
	names := slices.Clone(hosts)
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	all := tournament(names, random)
	days := random.Perm(len(all) / 2)[:partners]
	slices.Sort(days)
	m := &sample{hosts: hosts, partners: partners, seed: s.Seed, ways: map[pair]bool{}}
	for _, day := range days {
		for _, round := range all[2*day : 2*day+2] {
			m.rounds = append(m.rounds, round)
			for _, p := range round {
				m.ways[p] = true
			}
		}
	}
	s.drawn = m
	return m
}

// partnersDrawn is with how many others each host is measured; 0 for all of them.
func (s *Study) partnersDrawn() int {
	if m := s.sample(); m != nil {
		return m.partners
	}
	return 0
}
