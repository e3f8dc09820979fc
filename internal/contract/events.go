package contract

// Events say when parts of replies came, in a window and draining, each counted in the stretch
// in which it came. An event is a part that can be used by itself: a stream's message, a
// server-sent event, a line. The texts are histograms as those of Result.
type Events struct {
	Count   int64  `json:"count"`             // events in the window
	First   string `json:"first,omitempty"`   // end of a reply's first event − due
	Gaps    string `json:"gaps,omitempty"`    // an event − the one before it in its reply
	Waiting string `json:"waiting,omitempty"` // ages since due of exchanges that ended, by the end of the draining or at their deadline, without any event
}

// Stages say how long stages of exchanges took, in a window and draining, each counted in the
// stretch in which it ended. The texts are histograms as those of Result.
type Stages struct {
	Connect   string `json:"connect,omitempty"`    // of new connections, by the transport: the connection is there − it was begun
	Handshake string `json:"handshake,omitempty"`  // … TLS is there − the connection was; with QUIC − it was begun
	Resumed   int64  `json:"resumed,omitempty"`    // … of these handshakes, those that resumed a session
	FirstByte string `json:"first_byte,omitempty"` // a reply's first byte − due
	Waiting   string `json:"waiting,omitempty"`    // ages since due of exchanges that ended, by the end of the draining or at their deadline, without a first byte
}
