package trial

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Judged is one planned trial with its record and what was found of it.
type Judged struct {
	Plan   record.Trial
	Record *record.Record // nil when there is none yet
	Trial  Trial
	Passed int      // checks, before the first that found a contradiction
	Why    []string // by flag of Trial

	CostError float64 // share by which its costs may be off, as counters were read late; see flag LateCounters

	LimitOf contract.Role // the end whose resource was the limit; "" when it was neither's alone
	Traffic LinkTraffic

	Service, Response Curve
	Counted           Counted
}

// LinkTraffic is what a trial sent across its link. The zero value is of a trial
// over loopback, or of an unknown link: there, nothing is said of links.
type LinkTraffic struct {
	link     string          // its interfaces, and the levels that shape it
	Through  string          // its interfaces alone: "client1/eth0 client2/eth0"
	bulk     contract.Stream // directions in which the trial streamed
	arriving map[contract.Role]float64
}
