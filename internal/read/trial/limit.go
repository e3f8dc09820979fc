package trial

import "netdyno/internal/contract"

// limitRule proves one limit, of the end whose resource it was; of is "" where
// it is neither's alone. An empty proof is none.
type limitRule struct {
	limit Limit
	prove func(*audit) (of contract.Role, proof string)
	means Meaning
}

// Meaning is what a word of a report stands for, and what to do about it.
type Meaning struct {
	Called string // in a sentence; "" for the word itself
	Means  string // a clause without a full stop
	Cure   string // what to do; "" for nothing
}
