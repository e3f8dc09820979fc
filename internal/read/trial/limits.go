package trial

import (
	"cmp"
	"slices"
	"strings"

	"netdyno/internal/contract"
)

// limitRules are in the order in which they are tried (specification §5). The
// first proof names the limit; the last rules always give one. A full link stands
// before all of them: only the facts of the hosts and all trials of a run show what it can
// carry, see LimitByLink.
var limitRules = []limitRule{
	limitLimiter, limitThrottle, limitMemory, limitServerCore, limitClientCore, limitServerCPU, limitClientCPU, limitHopCPU, limitHostCPU,
	limitReceiveWindow, limitSendBuffer, limitPacedWindow, limitFlowControl,
	limitHeadOfLine, limitSchedule, limitDelayedACK, limitLinkQueue, limitPool, limitLatency, limitUnknown,
}

// limits are all limits in the order of their rules.
var limits = func() []Limit {
	order := []Limit{Link}
	for _, r := range limitRules {
		if !slices.Contains(order, r.limit) {
			order = append(order, r.limit)
		}
	}
	return order
}()

// Limits returns all limits in the order in which they are tried; of two that
// are as frequent the earlier is named. The caller owns the slice.
func Limits() []Limit { return slices.Clone(limits) }

// limitOf names what bounded a trial, the end whose it was, and the proof.
func limitOf(e *audit) (limit Limit, of contract.Role, proof string) {
	for _, r := range limitRules {
		if of, proof := r.prove(e); proof != "" {
			return r.limit, of, proof
		}
	}
	return Unknown, "", ""
}

// Means returns what a limit stands for.
func (l Limit) Means() Meaning {
	if l == Link {
		return meanLink
	}
	for _, r := range limitRules {
		if r.limit == l {
			return r.means
		}
	}
	return Meaning{}
}

// Called is what a sentence calls the limit: "the server's CPUs".
func (l Limit) Called() string { return cmp.Or(l.Means().Called, string(l)) }

// limitRule proves one limit, of the end whose resource it was; of is "" where
// it is neither's alone. An empty proof is none.
type limitRule struct {
	limit Limit
	prove func(*audit) (of contract.Role, proof string)
	means Meaning
}

// Meaning is what a word of a report stands for, and what to do about it.
type Meaning struct {
	Called string // in a sentence; "" for the word itself
	Means  string // a clause without a full stop
	Cure   string // what to do; "" for nothing
	Says   bool   // the proof begins with a clause for the reader of an answer
}

// Finding is what the proof of a limit, with the name of its trial before it, says to the
// reader of an answer: its first clause where the limit's word alone does not tell it; else "".
func (l Limit) Finding(proof string) string {
	if !l.Means().Says {
		return ""
	}
	_, proof, _ = strings.Cut(proof, ": ")
	clause, _, _ := strings.Cut(proof, "; ")
	return clause
}
