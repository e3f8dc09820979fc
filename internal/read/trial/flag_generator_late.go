package trial

import "fmt"

// GeneratorLate says that a closed loop left slots empty, so the generator and not the
// server set the pace.
const GeneratorLate = "generator-late"

var flagGeneratorLate = Flag{
	Name:    GeneratorLate,
	Changes: "rates are the generator's own, which set the pace",
	Warning: "left more than 5 % of their slots empty",
	Advice:  "give the clients more CPUs or processes (clients=2)",
	raise:   generatorLate,
}

// generatorLate skips a fixed amount of work, in which slots are empty once
// their share is done.
func generatorLate(e *audit) (why string) {
	busy, ok := e.inFlight()
	least := e.slots - queued(e)
	if !ok || e.open || e.thinking || e.amount() || busy >= least*(1-littleSlack) {
		return ""
	}
	return fmt.Sprintf("the generator kept only %.4g of %.4g slots busy", busy, least)
}

// queued counts the slots whose exchange may be waiting for another one's bytes
// on the same connection: where exchanges stream, all but one per connection.
// Such a wait is not part of the service time.
func queued(e *audit) float64 {
	sum := 0.0
	for _, g := range e.generators {
		if g.Setup != nil && g.Setup.Exchange.Stream != "" {
			one := g.Setup.Load
			one.InFlight = 1
			sum += g.Setup.Load.Slots() - one.Slots()
		}
	}
	return sum
}
