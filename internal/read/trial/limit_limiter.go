package trial

import (
	"cmp"
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
)

// Limiter says that the server refused what was too much for it, or for what it grants.
const Limiter Limit = "limiter"

const (
	refusedLeast = 0.01 // of all exchanges that the server refused, for the refusals to count
	refusedMost  = 0.5  // from which a status that may have other causes is a refusal
)

// limitLimiter stands before the CPUs: refusals come at once, so that a client which gets
// nothing else keeps CPUs busy with them.
var limitLimiter = limitRule{Limiter, func(e *audit) (contract.Role, string) {
	share, clause := refused(e)
	status, _, _ := busiestReason(e)
	if share < refusedMost && !saysTooMany(status) {
		return "", ""
	}
	return contract.Server, clause
}, meanLimiter}

// refused returns the share of all exchanges that the server refused for being too many,
// and says so in a clause; "" where the share is too small to count.
func refused(e *audit) (share float64, clause string) {
	status, n, all := busiestReason(e)
	if n < plateauLeast || float64(n) < refusedLeast*float64(all) {
		return 0, ""
	}
	share = float64(n) / float64(all)
	return share, fmt.Sprintf("it answers %s/s and refuses the rest, %s of all, by %s", quantity.FormatFigure(e.values[metric.ExchangesPerS]), quantity.FormatShare(share), status)
}

// busiestReason returns the refusal that is most frequent, how often it and others like it
// came, and of how many exchanges.
func busiestReason(e *audit) (status string, n, all int64) {
	for _, r := range e.reasonsOf() {
		if refusal := strings.HasPrefix(r.Text, "503 ") || saysTooMany(r.Text); refusal && r.Kind == contract.Invalid {
			status, n = cmp.Or(status, r.Text), n+r.Count
		}
	}
	all = failed(e)
	for _, g := range e.generators {
		if g.Result != nil {
			all += g.Result.Counts.Exchanges
		}
	}
	return status, n, all
}

// saysTooMany tells whether a reason has no other meaning than that requests were too many.
// Sources: RFC 6585, section 4; grpc/codes, ResourceExhausted.
func saysTooMany(reason string) bool {
	return strings.HasPrefix(reason, "429 ") || strings.HasPrefix(reason, "ResourceExhausted")
}

// What its name stands for in netdyno explain.
var meanLimiter = Meaning{
	Called: "the server's limiter",
	Means:  "the server refused exchanges as too many: at least 1 % by 429 or ResourceExhausted, or half by 503 too",
	Cure:   "raise the limiter's rate, or measure below it: netdyno capacity URL --objective 'error_share <= 1%' finds where it begins", Says: true,
}
