package contract

// Examine asks a meter what the kernel shows of its worker now: what an answer
// that does not come is waiting for. It is not passed on to the worker.
type Examine struct{}

// Examined is the meter's answer, at any time and as of then.
type Examined struct {
	Stopped     []Stopped   `json:"stopped,omitempty"`      // processes of the worker's tree that do not run because a signal or a debugger holds them
	Exhausted   []Exhausted `json:"exhausted,omitempty"`    // processes of the tree that may open no further file
	UnreadBytes int64       `json:"unread_bytes,omitempty"` // of commands that the worker has not read
	Reached     *Reached    `json:"reached,omitempty"`      // a client's connections to its peers; absent where they cannot be told
}

// Stopped is a process that is held.
type Stopped struct {
	PID    int    `json:"pid"`
	Name   string `json:"name"`             // of its executable
	Traced bool   `json:"traced,omitempty"` // by a debugger, not by a signal
}

// Exhausted is a process that has as many descriptors open as it may have.
type Exhausted struct {
	PID         int    `json:"pid"`
	Name        string `json:"name"`
	Descriptors int    `json:"descriptors"` // its limit, RLIMIT_NOFILE
}

// Reached sums a client's established connections to its peers.
type Reached struct {
	Connections   int   `json:"connections"`
	Silent        int   `json:"silent"` // of them, nothing has come on yet
	ReceivedBytes int64 `json:"received_bytes"`
}
