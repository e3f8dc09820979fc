package goconnect

import (
	"netdyno/internal/contract"
	"netdyno/internal/work/wire/rpc"
)

// proceduresOf returns what carries the whole messages of a trial. A message of
// the user's own has no Talk. The error is of kind setup.
func proceduresOf(setup contract.Setup) (rpc.Methods, error) {
	p := rpc.MethodsOf(setup.Exchange)
	if p.Unary != rpc.Own {
		return p, nil
	}
	own, _, err := rpc.Given(setup.Options)
	return rpc.Methods{Unary: own}, err
}
