package load

import "netdyno/internal/contract"

// Account is what the worker asks of a client's counting. *Load is one, for
// every transport that pulls its work from it. Start, Open, Close and End belong
// to the worker's control goroutine; every goroutine may call the others.
type Account interface {
	// Plan returns the load with its defaults filled in.
	Plan() contract.Load
	// Start says that the load begins.
	Start()
	// Open begins the window.
	Open(now int64)
	// Close ends an open window and reports whether there was one.
	Close(now int64) bool
	// End ends the window and the load. Only the first call has an effect.
	End(now int64)
	// Edge returns the sums since ready as they were at the window's last edge.
	Edge() contract.Counts
	// Counts returns the sums since ready.
	Counts() contract.Counts
	// Result gives the account of the window, when Run has returned.
	Result() (contract.Result, error)
}

// Accountant is a client that keeps its own account because no slot carries its
// exchanges: a program that somebody else wrote drives the load. Its Load is
// nil.
type Accountant interface {
	Client
	Account() Account
}

// AccountOf returns the account of a client.
func AccountOf(c Client) Account {
	if a, ok := c.(Accountant); ok {
		return a.Account()
	}
	return c.Load()
}
