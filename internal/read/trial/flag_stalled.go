package trial

// Stalled says that a worker did not run for a while, so a figure that is divided by the
// window's length says nothing about an arm.
const Stalled = "stalled"

var flagStalled = Flag{
	Name:    Stalled,
	Changes: "costs, times from the send and, unless the load went on, rates are left out",
	Warning: "did not run for a while: a worker, or the machine, stood still",
	Advice:  "look at the series, and at what the ends and the machine did then (netdyno doctor)",
	raise: func(e *audit) string {
		found := stalls(e)
		if len(found) == 0 {
			return ""
		}
		return stallWords(found)
	},
}
