package trial

// Stalled says that nothing was completed for a while inside the window, so a figure
// that is divided by the window's length says nothing about an arm.
const Stalled = "stalled"

var flagStalled = Flag{
	Name:    Stalled,
	Changes: "rates, costs and times from the send are left out",
	Warning: "stood still inside the window",
	Advice:  "look at the series, and at what the ends and the machine did then (netdyno doctor)",
	raise: func(e *audit) string {
		found := stalls(e)
		if len(found) == 0 {
			return ""
		}
		return stallWords(found)
	},
}
