package record

// Floor is what exchanges take on a path where the server does nothing for them but compute
// for a given time: what is above that are wake-ups, sends and the way itself. Between blocking
// sockets, one exchange at a time, on the link as it is.
type Floor struct {
	Server     string      `json:"server"` // seats
	Client     string      `json:"client"`
	ServerCPUs []int       `json:"server_cpus,omitempty"` // empty: left to the scheduler
	ClientCPUs []int       `json:"client_cpus,omitempty"`
	Steps      []FloorStep `json:"steps"` // by rising work
}

// FloorStep is the exchanges for which the server computed equally long.
type FloorStep struct {
	WorkNs int64  `json:"work_ns"`
	Times  string `json:"times"` // of whole exchanges, ns: a HdrHistogram in its standard encoding
}
