package study

import (
	"maps"
	"slices"

	"netdyno/internal/quantity"
)

// Comparisons are judged after these numbers of blocks, each about 1.6 times the one
// before. Why these: docs/decisions.md, "Intervals and verdicts".
var series = []int{6, 10, 16, 26, 42, 68}

const (
	ownLooks     = 3  // of the series, that a run takes by itself which ends when everything is settled
	lastOfSeries = 5  // and those after them to which it goes on when it is told to
	furtherLooks = 3  // to which a comparison goes on whose blocks are given
	mostInTime   = 32 // blocks of a run that has a time
	precise      = 5  // looks of one arm that is to be known within a share
	firstPrecise = 3  // blocks, from which on an interval may be narrow
)

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
		if s.differ() {
			after := slices.DeleteFunc(slices.Clone(series), func(look int) bool { return look <= s.Blocks })
			s.Further = after[:min(furtherLooks, len(after))]
		}
	case s.Settle > 0:
		s.setOwn(preciseLooks(s.blocksInTime()))
	case s.SettleS > 0:
		last := s.blocksInTime()
		s.setOwn(append(slices.DeleteFunc([]int{2, series[0], series[1]}, func(look int) bool { return look >= last }), last))
	default:
		s.setOwn(slices.Clone(series[:ownLooks]))
		s.Further = slices.Clone(series[ownLooks:lastOfSeries])
	}
	for len(s.Further) > 0 && s.CheckSize() != nil {
		s.Further = s.Further[:len(s.Further)-1]
	}
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

// blocksInTime is how many blocks the time has room for by their windows alone, and the
// first besides; of a run without a time as many as one that is settled late.
func (s *Study) blocksInTime() int {
	if s.SettleS == 0 {
		return series[ownLooks-1]
	}
	block := s.pairs()
	if s.compares() {
		block = baselineTwice(block, s.Compare.Baseline)
	}
	seconds := 0.0
	for _, t := range block {
		window, _ := quantity.ParseDuration(t.Levels["window"]) // absent of a fixed amount
		seconds += window.Seconds()
	}
	if seconds*mostInTime <= s.SettleS {
		return mostInTime
	}
	return min(mostInTime, 2+int(s.SettleS/seconds))
}
