package trial

// flags are in the order in which a trial names them and a report warns of
// them (specification §2.3). The last two take figures away: see withoutRates.
var flags = []Flag{
	flagUnsteady, flagOverloaded, flagLateCounters, flagGeneratorLate, flagBusyMachine,
	flagReconnected, flagUnverified, flagBursty, flagTooRegular, flagUnfinished, flagReflected, flagOnward, flagReceiveQueue,
	flagPlateauTimer, flagPlateauDelayedACK, flagPlateauRetransmit,
	flagStalled, flagBacklog,
}

// Flags returns all flags in their order. The caller owns the slice.
func Flags() []Flag { return append([]Flag(nil), flags...) }

// raised returns the flags that a trial carries, and why, in their order.
func raised(e *audit) (names, why []string) {
	for _, f := range flags {
		if f.Name == Backlog && len(names) > 0 && names[len(names)-1] == Stalled {
			continue // what stood still has a backlog: one of the two is enough
		}
		if text := f.raise(e); text != "" {
			names, why = append(names, f.Name), append(why, text)
		}
	}
	return names, why
}
