package trial

import "fmt"

// Backlog says that an open loop worked off in its window what had fallen due before it.
const Backlog = "backlog"

// How much more than fell due in its window an open loop may complete there: what falls
// due in a share of the window, or while a busy host is late (specification §2.4).
const (
	backlogShare   = 0.02
	backlogSeconds = 0.02
)

var flagBacklog = Flag{
	Name:    Backlog,
	Changes: "rates, costs and times from the send are left out",
	Warning: "began the window with a backlog and worked it off there",
	Advice:  "lengthen the warm-up (warmup=2s), or offer less, until the server keeps up from the start",
	raise:   backlog,
}

func backlog(e *audit) (why string) {
	if e.amount() {
		return ""
	}
	for _, g := range e.generators {
		if g.Setup == nil || g.Result == nil || !(g.Setup.Load.Rate > 0) {
			continue
		}
		window := windowOf(g)
		if done := float64(g.Result.Counts.Exchanges); done > fallsDue(g, window+max(backlogShare*window, backlogSeconds)) {
			return fmt.Sprintf("%s completed %.0f exchanges in its window, in which %.0f fell due: it began with a backlog",
				g.Name, done, g.Setup.Load.Rate*window)
		}
	}
	return ""
}
