package trial

import (
	"fmt"

	"netdyno/internal/contract"
)

// Unknown says that no rule found a limit, or the readings that it needs are missing.
const Unknown Limit = "unknown"

var limitUnknown = limitRule{Unknown, func(e *audit) (contract.Role, string) {
	if why := unmetered(e); why != "" {
		return "", why
	}
	return "", fmt.Sprintf("the open loop reached %.3g %% of its offered rate, yet no CPU was full; %s", 100*e.values["offered_share"], busiestWords(e))
}, meanUnknown}

// What its name stands for in netdyno explain.
var meanUnknown = Meaning{Means: "a reading is missing, or an open loop fell short although no CPU was full", Cure: "look at the trial's records; meter both ends"}
