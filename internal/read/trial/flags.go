package trial

// flags are in the order in which a trial names them and a report warns of
// them (specification §2.3). The last takes figures away: see withoutRates.
var flags = []Flag{
	flagWarming, flagUnsteady, flagOverloaded, flagLateCounters, flagGeneratorLate, flagBusyMachine, flagThrottled,
	flagReconnected, flagStrangers, flagUnverified, flagBacklog, flagUnfinished, flagReflected, flagOnward, flagReceiveQueue,
	flagPlateauTimer, flagPlateauDelayedACK, flagPlateauRetransmit,
	flagStalled,
}

// Flags returns all flags in their order. The caller owns the slice.
func Flags() []Flag { return append([]Flag(nil), flags...) }

// raised returns the flags that a trial carries, and why, in their order.
func raised(e *audit) (names, why []string) {
	for _, f := range flags {
		if text := f.raise(e); text != "" {
			names, why = append(names, f.Name), append(why, text)
		}
	}
	return names, why
}

// Flag is a remark on a trial: what a reader must know before using its
// figures. A flag of its own does not make a trial invalid. Every text is there: a
// remark that changes no conclusion, or about which nobody can do anything, is none.
type Flag struct {
	Name    string
	Changes string // completes "in 3 of 40 trials …": what a reader must read otherwise
	Warning string // completes "they …": what happened
	Advice  string // what the reader can do about it

	raise func(*audit) (why string) // "" when the trial does not carry the flag
}
