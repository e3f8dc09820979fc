package load

import "netdyno/internal/contract"

// ResultSource counts a client's exchanges. *Load is one, for every transport that
// pulls its work from it. Only the worker's control goroutine calls Start, Open,
// Close and End; any goroutine may call the others.
type ResultSource interface {
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
	// Snapshot returns the sums since ready as they were when the window last
	// opened or closed.
	Snapshot() contract.Counts
	// Counts returns the sums since ready.
	Counts() contract.Counts
	// Result returns what the window holds. Call it when Run has returned.
	Result() (contract.Result, error)
	// Sent returns the requests that its slots sent since ready; nil where it does not
	// know. Call it as Result.
	Sent() *contract.Sent
}

// CountingClient is a client that counts by itself, because a program that
// somebody else wrote drives the load and no slot carries its exchanges. Its Load
// is nil.
type CountingClient interface {
	Client
	Results() ResultSource
}

// ResultSourceOf returns what counts a client's exchanges.
func ResultSourceOf(c Client) ResultSource {
	if a, ok := c.(CountingClient); ok {
		return a.Results()
	}
	return c.Load()
}
