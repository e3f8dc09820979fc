package trial

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
)

// Unknown says that no rule found a limit, or the readings that it needs are missing.
const Unknown Limit = "unknown"

var limitUnknown = limitRule{Unknown, func(e *audit) (contract.Role, string) {
	if why := unmetered(e); why != "" {
		return "", why
	}
	if ends := pollingEnds(e); ends != "" {
		return "", ends + ", so that it is busy whether or not there is work: what its CPU could not do cannot be told"
	}
	left, untold := cpusLeft(e)
	if untold != "" {
		return "", untold
	}
	return "", fmt.Sprintf("the open loop reached %.3g %% of its offered rate, yet %s; %s", 100*e.values[metric.OfferedShare], left, busiestWords(e))
}, meanUnknown}

// What its name stands for in netdyno explain.
var meanUnknown = Meaning{Means: "a reading is missing, an end polls, or an open loop fell short although no CPU was full", Cure: "look at the trial's records; meter both ends; let the library wait for events (opt.wait=event) where it can"}

// pollingEnds names the ends that poll: "the server polls", "each end polls"; "" for
// none.
func pollingEnds(e *audit) string {
	var server, client bool
	for _, c := range e.groups {
		server = server || c.polls() && c.role == contract.Server
		client = client || c.polls() && c.role == contract.Client
	}
	switch {
	case server && client:
		return "each end polls"
	case server:
		return "the server polls"
	case client:
		return "the client polls"
	}
	return ""
}
