package trial

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
)

// Schedule says that an open loop reached its offered rate, so nothing else was the limit.
const Schedule Limit = "schedule"

var limitSchedule = limitRule{Schedule, func(e *audit) (contract.Role, string) {
	share, offered := e.values[metric.OfferedShare]
	if !offered || overloaded(e) != "" {
		return "", ""
	}
	return "", fmt.Sprintf("the open loop reached %.3g %% of its offered rate", 100*share)
}, meanSchedule}

// What its name stands for in netdyno explain.
var meanSchedule = Meaning{Called: "the offered rate", Means: "the open loop reached the rate that was offered: nothing was the limit", Cure: "raise the rate to find the limit"}
