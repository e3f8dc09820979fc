package record

// Segment is one time in which a server that stood by itself (netdyno listen)
// was driven, as that server saw it alone: no clock and no count of another
// host is in it. Its record holds the server's worker with the edges Open, the
// last reading before anything was connected, and Close, the first after it
// with nothing connected and nothing moving, so that all that was exchanged
// lies between them.
type Segment struct {
	Number      int    `json:"number"`              // from 1, in the order seen
	First       Edge   `json:"first"`               // the first reading under load, to Last without a pause
	Last        Edge   `json:"last"`                // the last such; the same one when the load was too short for two
	Connections int64  `json:"connections"`         // the most that a reading found open
	CutShort    string `json:"cut_short,omitempty"` // why it does not end idle; empty when it does
}
