package trial

// Flag is a remark on a trial: what a reader must know before using its
// figures. A flag of its own does not make a trial invalid.
type Flag struct {
	Name    string
	Warning string // completes "3 of 40 trials …"; "" where no warning counts the trials that carry it
	Advice  string // what to do about it

	raise func(*audit) (why string) // "" when the trial does not carry the flag
}
