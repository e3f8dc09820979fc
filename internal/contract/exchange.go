package contract

// Exchange is the unit of work: up goes a message, down comes one.
type Exchange struct {
	UpBytes    int64      `json:"up_bytes"` // the largest, where UpSizes has several
	DownBytes  int64      `json:"down_bytes"`
	Codec      string     `json:"codec,omitempty"`       // empty means bytes
	Stream     Stream     `json:"stream,omitempty"`      // directions that travel in chunks
	ChunkBytes int64      `json:"chunk_bytes,omitempty"` // size of a stream's messages, the last one shorter
	EveryNs    int64      `json:"every_ns,omitempty"`    // stream down: message k leaves the server k times that after the first, or at once where that is past
	Message    *Structure `json:"message,omitempty"`     // what a codec other than bytes encodes

	// Sizes that vary are drawn from these tables; absent where all messages of a
	// direction are of one size. A record has the means alone.
	UpSizes       Table   `json:"up_sizes,omitempty"`
	DownSizes     Table   `json:"down_sizes,omitempty"`
	UpMeanBytes   float64 `json:"up_mean_bytes,omitempty"` // of UpSizes
	DownMeanBytes float64 `json:"down_mean_bytes,omitempty"`
}

// Varies reports whether the sizes of either direction are drawn; also of an exchange of
// a record.
func (x Exchange) Varies() bool {
	return len(x.UpSizes) > 0 || len(x.DownSizes) > 0 || x.UpMeanBytes > 0 || x.DownMeanBytes > 0
}

// Stream says which directions of an exchange are streams of messages.
type Stream string

// The directions; empty is one message each way.
const (
	StreamUp   Stream = "up"
	StreamDown Stream = "down"
	StreamBoth Stream = "both"
)

// Streamed returns the sizes of the messages that stream, 0 for a direction that
// does not: what asks for a stream or confirms it is left out. Of an exchange
// without a stream it returns both sizes.
func (x Exchange) Streamed() (upBytes, downBytes int64) {
	switch x.Stream {
	case StreamUp:
		return x.UpBytes, 0
	case StreamDown:
		return 0, x.DownBytes
	}
	return x.UpBytes, x.DownBytes
}

// Structure is the structured content of an exchange. Descriptors describe
// the user's own types; the built-in ones need none.
type Structure struct {
	Name        string  `json:"name"`                  // level of factor message
	Descriptors []byte  `json:"descriptors,omitempty"` // a serialized google.protobuf.FileDescriptorSet
	Up          Content `json:"up"`
	Down        Content `json:"down"`
}

// Content is one message: its type and its values.
type Content struct {
	Type string `json:"type"` // full name: "netdyno.v1.Text"
	JSON string `json:"json"` // by the protobuf JSON mapping
}

// Arrival is the process that an open loop's schedule follows.
type Arrival string

// The arrival processes. Those of Drawn have the gaps of Load.Gaps.
const (
	Constant Arrival = "constant"
	Poisson  Arrival = "poisson"
	Drawn    Arrival = "drawn"
	Recorded Arrival = "recorded" // as Load.Trace has them
)

// Load says how much work a client offers and in what pattern. Rate 0 is the
// closed loop; Amount 0 is unbounded (until stop).
type Load struct {
	Connections int     `json:"connections"`
	InFlight    int     `json:"in_flight,omitempty"`    // per connection; 0 means 1
	Rate        float64 `json:"rate,omitempty"`         // exchanges per second over all connections of this client
	Arrival     Arrival `json:"arrival,omitempty"`      // open loop only; empty means constant
	ThinkNs     int64   `json:"think_ns,omitempty"`     // closed loop: pause between completion and next start
	ActiveShare float64 `json:"active_share,omitempty"` // share of connections that carry load; 0 means 1
	Fresh       bool    `json:"fresh,omitempty"`        // a new connection for every exchange
	Amount      int64   `json:"amount,omitempty"`       // exchanges per active connection, then the client's own result
	DrainNs     int64   `json:"drain_ns,omitempty"`     // how long stop waits for exchanges in flight; 0 means 2 s

	// A client with feature deadline: an exchange without a reply for so long after its send has
	// failed, and so has a connection that is not made for so long; 0 is without.
	DeadlineNs int64 `json:"deadline_ns,omitempty"`
	ConnectNs  int64 `json:"connect_ns,omitempty"`
	// GatherNs is how long an exchange that is due may wait in an open loop, so that it is sent
	// with others, of a client with feature gather; 0 sends each when it is due.
	GatherNs int64 `json:"gather_ns,omitempty"`
	// MaxErrors is the share of exchanges that may fail: a first exchange with another's server
	// that fails is made again as often as that share makes likely.
	MaxErrors float64 `json:"max_errors,omitempty"`

	Gaps   Table   `json:"gaps,omitempty"`    // arrival drawn: gaps in 2⁻²⁰ of the mean gap; not in a record
	GapsCV float64 `json:"gaps_cv,omitempty"` // … their coefficient of variation, for readers of records
	Phases []Phase `json:"phases,omitempty"`  // a rate that changes, from the start on; Rate is their mean
	Repeat bool    `json:"repeat,omitempty"`  // after the last phase the first follows; else its last rate goes on

	// Turns are the stretches of the load's time, in ns since its start, in which exchanges
	// fall due, rising and apart; absent: always. A schedule runs on their time, put end to end.
	Turns [][2]int64 `json:"turns,omitempty"`

	Classes []Class `json:"classes,omitempty"` // exchanges of several kinds
	Keys    Table   `json:"keys,omitempty"`    // numbers that stand for {key} in paths of classes; not in a record
	Trace   *Trace  `json:"trace,omitempty"`   // arrival recorded: when exchanges are due, and what each is
}

// ForeignErrors is the share of exchanges that may fail where nobody said another and the
// server is not netdyno's.
const ForeignErrors = 0.01

// Tries is how often an exchange that may fail by a share is asked for before a run of
// failures is more than chance: in one of a million cases, of 32 tries at most.
func Tries(share float64) int {
	const most, unlikely = 32, 1e-6
	tries := 1
	for left := share; left > unlikely && tries < most; left *= share {
		tries++
	}
	return tries
}

// Phase is a stretch of a load's time in which its rate goes evenly from one to another:
// its length in ns, and the rates at its beginning and at its end in exchanges per second
// over all connections of this client.
type Phase [3]float64

// Holds returns how many exchanges a phase holds. The conversions keep compilers from
// fusing two operations (contract/DRAWS.md).
func (p Phase) Holds() float64 { return float64((p[1]+p[2])/2) * float64(p[0]/1e9) }

// Sent is how many requests a client sent from its setup to its end: the number that
// the log of its server should show. Each is counted once, where its exchange ended;
// what never went out, because no connection was there, is not counted.
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
