package trial

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
