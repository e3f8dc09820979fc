package trial

import (
	"fmt"

	"netdyno/internal/quantity"
)

// Throttled says that a control group (a container) held an end back in its window, as it had
// used up its quota of CPU time.
const Throttled = "throttled"

// throttledShare is the share of the window from which that is told: by as much a rate is
// lowered, and the margin of most studies is as wide.
const throttledShare = 0.02

var flagThrottled = Flag{
	Name:    Throttled,
	Changes: "times hold pauses of the quota of CPU time, and rates are lower for them",
	Warning: "were held back by the CPU quota of a control group for 2 % of the window or more",
	Advice:  "give the container whole CPUs (--cpuset-cpus, or the static CPU manager of Kubernetes) instead of a quota, or a larger one",
	raise: func(e *audit) string {
		for w := range e.workers() {
			s, ok := e.window.Span(w)
			if !ok {
				continue
			}
			if held, length := s.HeldBack(); length > 0 && held >= throttledShare*length {
				return fmt.Sprintf("the control group of %s had used up its quota of CPU time, and held it back for up to %s of the window", w.Name, quantity.FormatShare(min(held/length, 1)))
			}
		}
		return ""
	},
}
