package record

import (
	"maps"
	"slices"
	"strings"
)

// Rate and RateOf are the factors of an open loop's rate. Rate may be a share, 60%: then it
// is of RateOf, which a run finds where the study does not say it.
const (
	Rate   = "rate"
	RateOf = "rate.of"
)

// flatOut are the levels of a trial flat out: a closed loop, each connection as fast as it
// can.
var flatOut = map[string]string{Rate: "max", "arrival": "constant"}

// OfFlatOut tells whether a trial's rate is a share of what its arm does flat out, as the
// plan has it.
func (t Trial) OfFlatOut() bool {
	return strings.HasSuffix(t.Levels[Rate], "%") && t.Levels[RateOf] == ""
}

// FlatOutLevels are a trial's levels with as many exchanges as its connections can make.
func (t Trial) FlatOutLevels() map[string]string {
	levels := maps.Clone(t.Levels)
	delete(levels, RateOf)
	maps.Copy(levels, flatOut)
	return levels
}

// FlatOutKey is the same of trials that differ only in their rate and its arrivals.
func (t Trial) FlatOutKey() string {
	return t.keyWithout(func(factor string) bool { return flatOut[factor] != "" || factor == RateOf })
}

// HasFlatOut tells whether any of some trials is flat out.
func HasFlatOut(trials []Trial) bool {
	return slices.ContainsFunc(trials, func(t Trial) bool { return t.FlatOut })
}
