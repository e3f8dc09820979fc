package contract

// Sent is how many requests a client sent from its setup to its end, so that the log of
// its server can be held to it. Each is counted once, where its exchange ended; what
// never went out, because no connection was there, is not counted.
type Sent struct {
	Verify int64 `json:"verify,omitempty"` // before ready
	Before int64 `json:"before,omitempty"` // ended before the window, completed or failed
	Window int64 `json:"window,omitempty"` // in it
	Drain  int64 `json:"drain,omitempty"`  // after it, or never
	Again  int64 `json:"again,omitempty"`  // went out once more, and again for each further time
}

// All is how many requests went out.
func (s Sent) All() int64 { return s.Verify + s.Before + s.Window + s.Drain + s.Again }

// Plus is the sum of two clients' requests.
func (s Sent) Plus(other Sent) Sent {
	return Sent{
		Verify: s.Verify + other.Verify, Before: s.Before + other.Before, Window: s.Window + other.Window,
		Drain: s.Drain + other.Drain, Again: s.Again + other.Again,
	}
}
