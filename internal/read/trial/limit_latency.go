package trial

import (
	"fmt"

	"netdyno/internal/contract"
)

// Latency says that a closed loop waited for replies, and nothing was used up.
const Latency Limit = "latency"

var limitLatency = limitRule{Latency, func(e *audit) (contract.Role, string) {
	if e.open || unmetered(e) != "" || pollingEnds(e) != "" {
		return "", ""
	}
	proof := "no CPU was full; " + busiestWords(e)
	if busy, ok := e.inFlight(); ok {
		proof = fmt.Sprintf("no CPU was full and %.4g of %.4g slots waited for replies; %s", busy, e.slots, busiestWords(e))
	}
	return "", proof
}, meanLatency}

// What its name stands for in netdyno explain.
var meanLatency = Meaning{Means: "a closed loop with idle CPUs: every slot waited for the other end", Cure: "use more connections, or more exchanges in flight, to load the server"}
