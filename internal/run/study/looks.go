package study

import (
	"maps"
	"slices"
	"strings"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

const (
	firstLook    = 8   // blocks after which a comparison is judged; then after each doubling
	ownLooks     = 3   // that a run takes by itself which ends when everything is settled
	further      = 4   // times its blocks to which a comparison goes on when it is told to
	mostInTime   = 128 // blocks of a run that has a time
	precise      = 5   // looks of one arm that is to be known within a share
	firstPrecise = 3   // blocks, from which on an interval may be narrow
	fewPrecise   = 16  // blocks of one arm at most
	mostPrecise  = 32  // of one that has a time
)

// Rest is the time between the turns of arms whose servers run on, in which nothing is due.
const Rest = 40 * time.Millisecond

// EndsAt decides after which blocks a study is judged, of which the compared arms are
// known. There are two ways to end: after the blocks that the study gives, to which those of
// further looks may be added later; or when everything is settled, at the latest when a time
// is over. Looks are declared before the first trial, as each of them has a share of the level
// (specification §6.10). A search and a race end by themselves. Arms that are all the same,
// or one arm, have nothing to go on for: their blocks keep the whole level.
func (s *Study) EndsAt() {
	s.OwnLooks, s.Further = nil, nil
	switch {
	case s.Steered():
	case s.Fixed:
		s.goOn()
	case s.Settle > 0:
		last := fewPrecise
		if s.SettleS > 0 {
			last = s.blocksInTime(mostPrecise)
		}
		s.setOwn(preciseLooks(last))
	case s.SettleS > 0:
		last, looks := s.blocksInTime(mostInTime), doublings(mostInTime)
		if last < 2*firstLook { // so slow that the time may be over before the first that tells anything
			looks = append([]int{2}, looks...)
		}
		looks = slices.DeleteFunc(looks, func(look int) bool { return look >= last || look < s.tailLook() })
		if n := len(looks); n == 0 || 2*last >= 3*looks[n-1] { // else it would take much of the level for little
			looks = append(looks, last)
		}
		s.setOwn(looks)
	default:
		s.setOwn(doublings(firstLook << (ownLooks - 1)))
		s.goOn()
	}
}

// tailLook is the least number of blocks after which a run with a time is judged on a tail,
// which a few requests of a few blocks make: of eight short blocks one in five intervals was
// wrong. 0 of a study that judges none.
func (s *Study) tailLook() int {
	if slices.ContainsFunc(s.Compare.Primary, func(name string) bool { return strings.Contains(name, "_p9") }) {
		return 4 * firstLook
	}
	return 0
}

// goOn gives a study the look to which its run goes on when it is told to. It is one, far
// beyond the run's own: with the small part of the level that it has, fewer blocks would
// tell no more than the run's own did.
func (s *Study) goOn() {
	if !s.differ() {
		return
	}
	if s.Further = []int{max(further*s.Blocks, firstLook)}; s.CheckSize() != nil {
		s.Further = nil
	}
}

// doublings are the numbers of blocks after which comparisons are judged, up to most.
// Why these: docs/decisions.md, "Intervals and verdicts".
func doublings(most int) (looks []int) {
	for look := firstLook; look <= most; look *= 2 {
		looks = append(looks, look)
	}
	return looks
}

// setOwn gives a study the looks that its run takes by itself; one look is a number of
// blocks and no more.
func (s *Study) setOwn(looks []int) {
	s.Blocks = looks[len(looks)-1]
	if len(looks) > 1 {
		s.OwnLooks = looks
	}
}

// differ tells whether any two compared arms may differ.
func (s *Study) differ() bool {
	switch arms := s.Compared().Levels; {
	case s.Mesh || len(arms) < 2:
		return false
	case s.Compare.Factor != ArmFactor || s.sweepsGiveArms():
		return true
	}
	first := s.Arms[0].treatment()
	return slices.ContainsFunc(s.Arms, func(a Arm) bool { return !maps.Equal(a.treatment(), first) })
}

// preciseLooks are those of one arm: sooner and more than those of a comparison, as no
// difference is claimed that chance could bring about.
func preciseLooks(last int) []int {
	first := min(firstPrecise, last)
	var looks []int
	for back := precise - 1; back >= 0; back-- {
		looks = append(looks, last-back*(last-first)/(precise-1))
	}
	return slices.Compact(looks)
}

// blocksInTime is how many blocks, at most most, the time has room for by their windows
// alone, and the first besides.
func (s *Study) blocksInTime(most int) int {
	block, seconds := s.pairs(), 0.0
	standing := !slices.ContainsFunc(block, func(t record.Trial) bool { return t.Levels["opt.server.address"] == "" })
	if s.compares() && !standing {
		block = baselineTwice(block, s.Compare.Baseline)
	}
	for _, t := range block {
		window, _ := quantity.ParseDuration(t.Levels["window"]) // absent of a fixed amount
		seconds += window.Seconds()
	}
	if len(block) > 1 && standing { // loads that alternate rest between blocks
		seconds *= 1.1
	}
	if seconds*float64(most) <= s.SettleS {
		return most
	}
	return min(most, 2+int(s.SettleS/seconds))
}
