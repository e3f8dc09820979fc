package record

// The levels of factor placement: which CPUs the server and the clients of one
// host run on.
const (
	Separate = "separate" // each on CPUs of its own
	Shared   = "shared"   // both on all CPUs of the host
	Free     = "free"     // wherever the scheduler puts them
)
