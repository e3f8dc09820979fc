package cells

import (
	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
)

// LimitOf returns the limit of most valid trials, the earlier in the specification's
// order when two are as frequent, with the proof of the first such trial.
func LimitOf(judged []*trial.Judged) (trial.Limit, string) {
	count, proof := map[trial.Limit]int{}, map[trial.Limit]string{}
	for _, v := range judged {
		if v.Trial.Status != trial.Valid {
			continue
		}
		if count[v.Trial.Limit]++; count[v.Trial.Limit] == 1 && v.Trial.LimitProof != "" {
			proof[v.Trial.Limit] = v.Plan.ID + ": " + v.Trial.LimitProof // its figures are of that trial alone
		}
	}
	best := trial.Unknown
	for _, l := range trial.Limits() {
		if count[l] > count[best] {
			best = l
		}
	}
	return best, proof[best]
}

// LimitedBy returns the limit of most valid trials, and the end whose resource was the
// limit in most of these trials; "" where the limit was neither end's alone, or either's
// as often.
func LimitedBy(judged []*trial.Judged) (trial.Limit, contract.Role) {
	limit, _ := LimitOf(judged)
	count, all := map[contract.Role]int{}, 0
	for _, v := range judged {
		if v.Trial.Status == trial.Valid && v.Trial.Limit == limit {
			count[v.LimitOf]++
			all++
		}
	}
	for _, end := range []contract.Role{contract.Server, contract.Client} {
		if 2*count[end] > all {
			return limit, end
		}
	}
	return limit, ""
}

// Flagged counts the trials that carry a flag.
func Flagged(judged []*trial.Judged, flag string) int {
	n := 0
	for _, v := range judged {
		for _, f := range v.Trial.Flags {
			if f == flag {
				n++
			}
		}
	}
	return n
}
