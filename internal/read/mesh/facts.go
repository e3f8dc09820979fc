package mesh

import (
	"fmt"
	"maps"
	"slices"

	"netdyno/internal/record"
)

// maxFacts bounds the facts named of one outlier.
const maxFacts = 4

// unlike names facts in which the hosts of an outlier are unlike all others that are
// not named, which agree: they may be the reason, and nothing proves it.
func unlike(facts record.Facts, o Outlier, off []string) []string {
	if o.Kind == OfPair {
		return nil
	}
	var usual *record.Host
	var others []record.Host
	for _, name := range slices.Sorted(maps.Keys(facts.Seats)) {
		if !slices.Contains(off, name) {
			host := facts.Seats[name]
			if usual == nil {
				usual = &host
			}
			others = append(others, host)
		}
	}
	if usual == nil {
		return nil
	}
	agreed := func(key string) bool {
		return !slices.ContainsFunc(others, func(h record.Host) bool { return h.Values[key] != usual.Values[key] })
	}
	var all []string
	for key, values := range differing(facts, o.Hosts, *usual) {
		if agreed(key) && len(values) == 1 {
			all = append(all, fmt.Sprintf("%s is %q, at the others %q", key, values[0], usual.Values[key]))
		}
	}
	slices.Sort(all)
	if more := len(all) - maxFacts; more > 0 {
		all = append(all[:maxFacts], fmt.Sprintf("%d more facts differ", more))
	}
	return all
}

// differing returns by key the values that all of some hosts have and the usual one
// does not.
func differing(facts record.Facts, hosts []string, usual record.Host) map[string][]string {
	out := map[string][]string{}
	for _, name := range hosts {
		for _, key := range record.Unlike(usual, facts.Seats[name]) {
			if value := facts.Seats[name].Values[key]; value != "" && usual.Values[key] != "" && !slices.Contains(out[key], value) {
				out[key] = append(out[key], value)
			}
		}
	}
	return out
}
