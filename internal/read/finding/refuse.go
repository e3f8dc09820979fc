package finding

import (
	"fmt"
	"strings"

	"netdyno/internal/contract"
)

// refuse returns why two arms may not be judged on a metric whatever the
// figures say, "" when they may.
func (s *dataset) refuse(b *pending) string {
	for _, arm := range []string{b.Arm, b.Base} {
		views := s.of(b.Cell, arm)
		if n := flagged(views, Overloaded); n > 0 && isLatency(b.Metric) {
			return fmt.Sprintf("%s was overloaded in %d of %d trials; its times are those of a growing queue", arm, n, len(views))
		}
		if n := MovedIn(trialsOf(views), b.Metric); n > 0 {
			return fmt.Sprintf("%s left exchanges unfinished that would raise it in %d of %d trials; what was measured is a lower bound", arm, n, len(views))
		}
	}
	if reason := s.refuseReflection(b); reason != "" {
		return reason
	}
	if !s.onlyServersDiffer(b) || !s.pacedByClient(b) {
		return ""
	}
	for _, arm := range []string{b.Arm, b.Base} {
		if limit, of := limitedBy(s.of(b.Cell, arm)); of == contract.Client {
			return fmt.Sprintf("the client was the limit of %s (%s): its rate says nothing about servers", arm, limit)
		}
	}
	return ""
}

// limitedBy returns the limit of most valid trials, and the end whose it was in
// most of those; "" when it was neither's alone, or either's as often.
func limitedBy(views []*view) (Limit, contract.Role) {
	limit, _ := limitOf(views)
	count, all := map[contract.Role]int{}, 0
	for _, v := range views {
		if v.trial.Status == Valid && v.trial.Limit == limit {
			count[v.limitOf]++
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

func isLatency(metric string) bool {
	return strings.HasPrefix(metric, "service_") || strings.HasPrefix(metric, "response_")
}

// pacedByClient tells whether a slow client alone would move the metric: the
// rates, the time for a fixed work, and in a closed loop the service times,
// which are slots ÷ rate.
func (s *dataset) pacedByClient(b *pending) bool {
	switch {
	case b.Metric == "exchanges_per_s" || b.Metric == "goodput_bytes_per_s" || b.Metric == "work_s":
		return true
	case !strings.HasPrefix(b.Metric, "service_"):
		return false
	}
	for _, v := range s.of(b.Cell, b.Arm) {
		if _, open := v.trial.Values["offered_share"]; open {
			return false
		}
	}
	return true
}

// onlyServersDiffer tells whether the two arms have the same client, so that
// a difference would be read as one of servers.
func (s *dataset) onlyServersDiffer(b *pending) bool {
	arm, base := s.of(b.Cell, b.Arm), s.of(b.Cell, b.Base)
	if len(arm) == 0 || len(base) == 0 {
		return false
	}
	a, c := arm[0].plan.Levels, base[0].plan.Levels
	differ := 0
	for _, levels := range []map[string]string{a, c} {
		for factor := range levels {
			if a[factor] == c[factor] || factor == s.header.Study.Compare.Factor && factor != "server" {
				continue
			}
			if factor != "server" && !strings.HasPrefix(factor, "opt.server.") {
				return false
			}
			differ++
		}
	}
	return differ > 0
}

func flagged(views []*view, flag string) int {
	n := 0
	for _, v := range views {
		for _, f := range v.trial.Flags {
			if f == flag {
				n++
			}
		}
	}
	return n
}
