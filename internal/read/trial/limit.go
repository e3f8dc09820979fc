package trial

import "netdyno/internal/contract"

// limitRule proves one limit, of the end whose resource it was; of is "" where
// it is neither's alone. An empty proof is none.
type limitRule struct {
	limit Limit
	prove func(*audit) (of contract.Role, proof string)
}
