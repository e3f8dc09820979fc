package trial

import (
	"fmt"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
)

// Latency says that a closed loop waited for replies, and nothing was used up.
const Latency Limit = "latency"

var limitLatency = limitRule{Latency, func(e *audit) (contract.Role, string) {
	proof, untold := cpusLeft(e)
	if e.open || unmetered(e) != "" || pollingEnds(e) != "" || untold != "" {
		return "", ""
	}
	if busy, ok := e.inFlight(); ok {
		proof += fmt.Sprintf(" and %.4g of %.4g slots waited for replies", busy, e.slots)
	}
	return "", proof + "; " + busiestWords(e) + waitsInside(e)
}, meanLatency}

// waitsInside says that exchanges wait in the server, where the way takes little of their
// time and the server's CPUs as little; "" where that does not show.
func waitsInside(e *audit) string {
	s := servedIn(e)
	if s.trip == 0 || s.mean < float64(poolLeast) || s.trip > poolNearby*s.mean || s.cores > poolNearby*s.inFlight {
		return ""
	}
	return fmt.Sprintf("; exchanges wait inside the server: the way took %s of their %s, and no CPU is full", quantity.FormatDuration(time.Duration(s.trip)), quantity.FormatDuration(time.Duration(s.mean)))
}

// cpusLeft says that no CPU was full, or how little the ends waited for CPUs that other
// processes filled. Where the waiting was not recorded, untold says so.
func cpusLeft(e *audit) (proof, untold string) {
	full := fullCPUs(e)
	if len(full) == 0 {
		return "no CPU was full", ""
	}
	waited, known := e.waitedForCPU(full[0].host)
	if !known {
		return "", full[0].words + ", and whether the ends waited for a CPU was not recorded"
	}
	return full[0].words + fmt.Sprintf(", but the trial's exchanges waited for a CPU for only %s of their time", quantity.FormatShare(waited)), ""
}

// What its name stands for in netdyno explain.
var meanLatency = Meaning{Called: "waiting for replies", Means: "a closed loop with idle CPUs: every slot waited for the other end", Cure: "use more connections, or more exchanges in flight, to load the server"}
