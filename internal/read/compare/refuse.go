package compare

import (
	"cmp"
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
)

// refuse returns why two arms may not be judged on a metric whatever the
// figures say, "" when they may.
func refuse(s *cells.Dataset, b *Pending) string {
	for _, arm := range []string{b.Arm, b.Base} {
		judged := s.Of(b.Cell, arm)
		if n := cells.Flagged(judged, trial.Overloaded); n > 0 && IsLatency(b.Metric) {
			return fmt.Sprintf("%s was overloaded in %d of %d trials; its times measure a growing queue", arm, n, len(judged))
		}
		if reason := refuseBound(s, b, arm); reason != "" {
			return reason
		}
	}
	if reason := cmp.Or(refuseReflection(s, b), RefuseBesideOthers(s, b)); reason != "" {
		return reason
	}
	if !onlyServersDiffer(s, b) || !pacedByClient(s, b) {
		return ""
	}
	for _, arm := range []string{b.Arm, b.Base} {
		if limit, of := cells.LimitedBy(s.Of(b.Cell, arm)); of == contract.Client {
			return fmt.Sprintf("the client limited %s (%s), so its rate says nothing about the server", arm, limit)
		}
	}
	return ""
}

// refuseBound says in how many trials an arm's figure is only a lower bound; "" in none.
func refuseBound(s *cells.Dataset, b *Pending, arm string) string {
	n := trial.Bounds(s.TrialsOf(b.Cell, arm), b.Metric)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("in %d of %d trials of %s unfinished exchanges would raise it; what was measured is a lower bound", n, len(s.Of(b.Cell, arm)), arm)
}

// IsLatency tells whether a metric is a mean or a percentile of service or response times.
func IsLatency(metric string) bool {
	return strings.HasPrefix(metric, "service_") || strings.HasPrefix(metric, "response_")
}

// pacedByClient tells whether a slow client alone would move the metric: the
// rates, the time for a fixed work, and in a closed loop the service times,
// which are slots ÷ rate.
func pacedByClient(s *cells.Dataset, b *Pending) bool {
	switch {
	case b.Metric == metric.ExchangesPerS || b.Metric == metric.Goodput || b.Metric == metric.WorkS:
		return true
	case !strings.HasPrefix(b.Metric, "service_"):
		return false
	}
	for _, v := range s.Of(b.Cell, b.Arm) {
		if _, open := v.Trial.Values.Of(metric.OfferedShare); open {
			return false
		}
	}
	return true
}

// onlyServersDiffer tells whether the two arms have the same client, so that
// a difference would be read as one of servers.
func onlyServersDiffer(s *cells.Dataset, b *Pending) bool {
	arm, base := s.Of(b.Cell, b.Arm), s.Of(b.Cell, b.Base)
	if len(arm) == 0 || len(base) == 0 {
		return false
	}
	a, c := arm[0].Plan.Levels, base[0].Plan.Levels
	differ := 0
	for _, levels := range []map[string]string{a, c} {
		for factor := range levels {
			if a[factor] == c[factor] || factor == s.Compare.Factor && factor != "server" {
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
