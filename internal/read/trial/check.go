package trial

// Check compares what several sides counted of the same work (specification §2.2).
type Check struct {
	Name string // as the specification has it, in lower case
	Asks string // what must hold, a sentence

	find func(*audit) string // why the counters contradict each other; "" when they agree
}

// checks are in the order in which they are made. The first demands the results that
// the others read.
var checks = []Check{
	{"results", "Every client left a result with exchanges in its window, and no worker reported a fatal error.", checkResults},
	{"errors", "No more exchanges failed in the arm's trials together than the study allows (factor max_errors), and no connection was lost.", checkErrors},
	{"verification", "Every connection of every client was verified.", checkVerified},
	{"clocks", "All clocks that timed the window agree with its declared length, and no worker came late to a mark.", checkClocks},
	{"schedule", "An open loop completed no more than was due.", checkDue},
	{"sizes", "The bytes that each client moved are its exchanges times their size.", checkClientBytes},
	{"both ends", "The server counted what the clients' exchanges require.", checkServerCounts},
	{"interface", "The interfaces saw what the clients received.", checkInterfaces},
	{"kernel", "The kernel's TCP counters carried what the workers say they moved.", checkKernelCounts},
	{"hops", "What the clients exchanged went through every hop of the path.", checkHops},
	{"times", "There is one service time for each exchange.", checkHistograms},
	{"Little's law", "The service times fit into the slots.", checkSlots},
}

// Checks returns all checks in their order. The caller owns the slice.
func Checks() []Check { return append([]Check(nil), checks...) }

// inconsistency returns the first contradiction of a trial's counters, "" when they
// agree, and how many checks passed before it.
func inconsistency(e *audit) (passed int, reason string) {
	for i, check := range checks {
		if reason := check.find(e); reason != "" {
			return i, reason
		}
	}
	return len(checks), ""
}
