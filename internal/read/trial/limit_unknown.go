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

// unmetered says whose meter readings are missing; "" when all are there.
func unmetered(e *audit) string {
	metered := 0
	for _, c := range e.groups {
		metered += len(c.spans)
	}
	switch {
	case e.away() != "":
		return "the server at " + e.away() + " was not metered; " + busiestWords(e)
	case e.why() != "":
		return "the server was not metered: " + e.why() + "; " + busiestWords(e)
	case e.elsewhere():
		return "the server runs elsewhere and was not metered; " + busiestWords(e)
	case metered < len(e.window.Record.Workers) || metered == 0:
		return "a worker's meter readings are missing"
	}
	return ""
}

// busiestWords says how busy the busiest thread of all workers was.
func busiestWords(e *audit) string {
	return fmt.Sprintf("the busiest thread used %.0f %% of a CPU", 100*e.busiestThread(func(workerGroup) float64 { return 1 }))
}

// busiestThread returns the largest share of the window that a thread used, times what
// scale gives for its group.
func (e *audit) busiestThread(scale func(workerGroup) float64) float64 {
	top := 0.0
	for _, c := range e.groups {
		share, _, _ := busiest(c)
		top = max(top, share*scale(c))
	}
	return top
}
