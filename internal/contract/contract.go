// Package contract is the interface of RUN and WORK: the messages that pass
// between the bench and a worker, as JSON lines on the worker's stdin and stdout.
//
// One line is one JSON object with one message key ("hello", "setup", …).
// Lines that come from a worker reach the bench through the meter, which adds
// a second key, "meter", to those that cross a window edge. contract/CONTRACT.md
// is the specification for people; this package is the same thing for Go.
package contract

// Version is the contract's integer version. It changes when a worker written
// for the earlier version would misunderstand or be misunderstood.
const Version = 1

// Message is one line in either direction. Exactly one of the message keys is
// set; Meter may accompany ready, mark and result.
type Message struct {
	Hello  *Hello  `json:"hello,omitempty"`
	Setup  *Setup  `json:"setup,omitempty"`
	Ready  *Ready  `json:"ready,omitempty"`
	Start  *Start  `json:"start,omitempty"`
	Mark   *Mark   `json:"mark,omitempty"`
	Tick   *Tick   `json:"tick,omitempty"`
	Stop   *Stop   `json:"stop,omitempty"`
	Part   *Part   `json:"part,omitempty"`
	Result *Result `json:"result,omitempty"`
	Error  *Error  `json:"error,omitempty"`
	Exit   *Exit   `json:"exit,omitempty"`

	// Between the bench and the meter alone.
	Examine  *Examine  `json:"examine,omitempty"`
	Examined *Examined `json:"examined,omitempty"`
	Lease    *Lease    `json:"lease,omitempty"`

	Meter *Meter `json:"meter,omitempty"`
}

// Role is the end of the wire that a worker plays.
type Role string

// The roles. A pair is both ends in one process (null, MPI). A hop stands between them: it
// takes the clients' connections and passes on what comes to a server, or the next hop.
const (
	Server Role = "server"
	Client Role = "client"
	Pair   Role = "pair"
	Hop    Role = "hop"
)

// Serves tells whether others connect to a worker of the role, which is never told to start.
func (r Role) Serves() bool { return r == Server || r == Hop }

// End is the role under whose name what a worker uses is told: what a pair uses is
// told as the client's.
func (r Role) End() Role {
	if r == Pair {
		return Client
	}
	return r
}

// Delivery says how received content reaches the application.
type Delivery string

// Delivery as specification §1.2 defines it: DeliveryMessage hands over the whole
// message contiguous in memory, DeliveryChunks piece by piece.
const (
	DeliveryMessage Delivery = "message"
	DeliveryChunks  Delivery = "chunks"
)

// Hello introduces a worker; it is sent at once, unasked.
type Hello struct {
	Contract   int         `json:"contract"`
	Worker     string      `json:"worker"`
	Version    string      `json:"version"`
	Libraries  []Library   `json:"libraries,omitempty"`
	Transports []Transport `json:"transports"`
	Source     string      `json:"source,omitempty"` // the Go package of the program, when it was built from what it writes on SourcesArgument
}

// SourcesArgument is the one argument with which a worker that names its
// Source in hello writes its sources to stdout, as a tar archive.
const SourcesArgument = "sources"

// Library is one library a worker links, by name and version.
type Library struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Transport describes one named implementation that a worker offers.
type Transport struct {
	Name     string    `json:"name"`
	Doc      string    `json:"doc"`
	Wire     string    `json:"wire"`
	Roles    []Role    `json:"roles"`
	Delivery Delivery  `json:"delivery"`
	Codecs   []string  `json:"codecs,omitempty"`   // levels of factor codec; empty: bytes alone
	Features []Feature `json:"features,omitempty"` // what it can do beyond whole messages on kept, plain connections
	Options  []Option  `json:"options,omitempty"`

	Encrypted bool `json:"encrypted,omitempty"` // always: it refuses a setup without tls
	UDP       bool `json:"udp,omitempty"`       // its connections are over UDP, and the rest are over TCP
}

// OptionType is the type of an option's value on the wire.
type OptionType string

// Option types. Bytes travel as integers, durations as integer nanoseconds.
const (
	TypeInt      OptionType = "int"
	TypeFloat    OptionType = "float"
	TypeBool     OptionType = "bool"
	TypeBytes    OptionType = "bytes"
	TypeDuration OptionType = "duration"
	TypeChoice   OptionType = "choice"
	TypeText     OptionType = "text"
)

// Option declares an option of a transport. Default has the type that Type
// names; Min and Max bound numbers; Choices lists the levels of a choice.
type Option struct {
	Name    string     `json:"name"`
	Type    OptionType `json:"type"`
	Unit    string     `json:"unit,omitempty"`
	Default any        `json:"default"`
	Min     *float64   `json:"min,omitempty"`
	Max     *float64   `json:"max,omitempty"`
	Choices []string   `json:"choices,omitempty"`
	Roles   []Role     `json:"roles,omitempty"` // empty: every role of the transport
	Doc     string     `json:"doc"`

	// Grid is of an option that makes a transport faster, slower or leaner, and changes
	// nothing else: the values that are worth trying, as a study writes them. An option
	// without one is tried only where a user names it.
	Grid []string `json:"grid,omitempty"`
	// As is how the option is set outside of netdyno, by role, with {value} in the place
	// of the value: "grpc.ReadBufferSize({value})".
	As map[Role]string `json:"as,omitempty"`
	// FileMax is of a text that may name a file on the worker's host: "@FILE" stands
	// for what the regular file holds, of at most so many bytes, and "@@TEXT" for a
	// text that begins with @. 0: the text is as it is.
	FileMax int64 `json:"file_max,omitempty"`
}

// Setup gives a worker its trial. It is sent once.
type Setup struct {
	Trial     string         `json:"trial"`
	Transport string         `json:"transport"`
	Role      Role           `json:"role"`
	Seed      uint64         `json:"seed"`
	Listen    string         `json:"listen,omitempty"`    // server, hop: address to bind, host:port, port 0 for any
	Listeners int            `json:"listeners,omitempty"` // server: ports to open; 0 means 1
	Allow     []string       `json:"allow,omitempty"`     // server: client addresses to accept; empty accepts any
	Peers     []string       `json:"peers,omitempty"`     // client: addresses to connect to, round robin; hop: where it passes on what comes, in turn
	Sources   []string       `json:"sources,omitempty"`   // client: local addresses to connect from, round robin
	Threads   int            `json:"threads,omitempty"`   // loops or threads; 0 means one per usable CPU
	Exchange  Exchange       `json:"exchange"`
	Load      Load           `json:"load"`
	Work      *Work          `json:"work,omitempty"`      // server: what it does for each exchange beyond answering; nil is nothing
	TLS       *TLS           `json:"tls,omitempty"`       // encrypt; nil is plain text
	WindowNs  int64          `json:"window_ns,omitempty"` // how long the window will be, where that is known; no worker needs it that measures by itself
	WarmupNs  int64          `json:"warmup_ns,omitempty"` // … and the warm-up before it
	Profile   bool           `json:"profile,omitempty"`   // profile the window into result.profile and result.profiles; the meter samples it too
	Timeline  bool           `json:"timeline,omitempty"`  // tell more in ticks: Tick.Times
	Events    bool           `json:"events,omitempty"`    // client: tell when parts of replies came: Result.Events
	Stages    bool           `json:"stages,omitempty"`    // client: tell how long stages of exchanges took: Result.Stages
	Options   map[string]any `json:"options,omitempty"`
}

// TLS is what the ends of an encrypted trial need, as PEM text.
type TLS struct {
	Authorities string `json:"authorities"`           // certificates that a client trusts
	Certificate string `json:"certificate,omitempty"` // the server's own
	Key         string `json:"key,omitempty"`         // its private key; never recorded
	Resume      bool   `json:"resume,omitempty"`      // client: connections resume sessions of earlier ones where the server allows it; else every handshake is a full one
}

// Ready says that the worker can begin: a server listens, a client has every
// connection open and has verified one message on each.
type Ready struct {
	Addresses   []string       `json:"addresses,omitempty"`
	Connections int            `json:"connections,omitempty"`
	Verified    int            `json:"verified,omitempty"`  // connections whose echoed content matched by CRC-32C
	Repeated    int            `json:"repeated,omitempty"`  // first exchanges that were sent again before they were answered
	Options     map[string]any `json:"options,omitempty"`   // effective, after defaults
	Threads     int            `json:"threads,omitempty"`   // effective
	Foreign     bool           `json:"foreign,omitempty"`   // a program that does not speak the contract: a server's Reading.Counts says nothing, a client's was not verified
	Elsewhere   bool           `json:"elsewhere,omitempty"` // the server is no process of this worker's: what the meter reads is not the server's
	UpBytes     int64          `json:"up_bytes,omitempty"`  // encoded size of an exchange's messages, where a codec decides it
	DownBytes   int64          `json:"down_bytes,omitempty"`
	Generated   bool           `json:"generated,omitempty"` // a message of the user's own is encoded by code generated for it, not by reflection
	Delivery    Delivery       `json:"delivery,omitempty"`  // of this trial, where it is another than the transport's
	Path        *Path          `json:"path,omitempty"`      // of messages that need not take the connections to the server's addresses
	Polls       bool           `json:"polls,omitempty"`     // its threads are busy when there is nothing to do
	Nodes       []int          `json:"nodes,omitempty"`     // NUMA node that each of its threads is kept to, in their order
}

// Path is the way that the messages of a library take that chooses it. A server
// leaves both fields out: its clients know.
type Path struct {
	Over string `json:"over,omitempty"` // as counters of the kernel and of network cards tell: PathTCP, PathShm, PathRDMA, PathUnknown
	By   string `json:"by,omitempty"`   // in the library's own words
}

// What Path.Over may say.
const (
	PathTCP     = "tcp"
	PathShm     = "shm" // memory that both ends share, or copies within one kernel
	PathRDMA    = "rdma"
	PathUnknown = "unknown"
)

// Start makes a client begin its load.
type Start struct{}

// Stop makes a worker end its load, drain and answer with its result.
type Stop struct{}

// Mark asks for a reading; the answer repeats ID, Reset, Keep and Part and carries
// Reading. Reset opens the window; a later mark closes it and ends the load, unless it is
// one with Keep, which only reads, or with Part, which closes the window and opens the next
// at the same instant.
type Mark struct {
	ID      int      `json:"id"`
	Reset   bool     `json:"reset,omitempty"`
	Keep    bool     `json:"keep,omitempty"`
	Part    bool     `json:"part,omitempty"`
	Reading *Reading `json:"reading,omitempty"`
}

// Part is what a client counted in a window that a mark with Part closed, and ID is that
// mark's. It is said once no completion of the window can still be under way to its counts.
type Part struct {
	ID     int    `json:"id"`
	Result Result `json:"result"`
}

// Reading is what a worker has counted up to one instant of its own clock.
type Reading struct {
	AtNs    int64    `json:"at_ns"`  // monotonic
	CPUNs   int64    `json:"cpu_ns"` // CPU clock of the worker's own process
	Counts  Counts   `json:"counts"` // since ready
	Runtime *Runtime `json:"runtime,omitempty"`
}

// Counts are cumulative sums. Bytes are payload bytes at this end; a server
// that cannot see exchange boundaries reports Exchanges as received/up_bytes.
type Counts struct {
	Exchanges     int64               `json:"exchanges"`
	SentBytes     int64               `json:"sent_bytes"`
	ReceivedBytes int64               `json:"received_bytes"`
	Connections   int64               `json:"connections,omitempty"` // open now
	Redialled     int64               `json:"redialled,omitempty"`   // by a client, in place of connections that ended between exchanges
	Errors        map[ErrorKind]int64 `json:"errors,omitempty"`
	Strangers     *Strangers          `json:"strangers,omitempty"` // a server's: connections that it refused by setup.allow; nil for none
}

// Strangers are connections from addresses that are none of the trial's clients'.
type Strangers struct {
	Connections int64  `json:"connections"`
	First       string `json:"first"` // the address of the first of them, without its port; printable
}

// Runtime is what a managed runtime says of itself: the amounts up to
// AllocObjects are cumulative, the others are of now. Left out are those that a
// runtime does not tell.
type Runtime struct {
	GCCycles     int64 `json:"gc_cycles"`
	GCPauseNs    int64 `json:"gc_pause_ns"`
	GCCPUNs      int64 `json:"gc_cpu_ns"`
	AllocBytes   int64 `json:"alloc_bytes"`
	AllocObjects int64 `json:"alloc_objects"`
	HeapBytes    int64 `json:"heap_bytes"`
	Goroutines   int64 `json:"goroutines"`

	HeapSysBytes  int64 `json:"heap_sys_bytes,omitempty"`  // address space that the heap has from the system, unused parts included
	StackSysBytes int64 `json:"stack_sys_bytes,omitempty"` // the same of stacks
}

// Tick is the progress of a running worker, cumulative, every 200 ms.
type Tick struct {
	AtNs          int64 `json:"at_ns"`
	Exchanges     int64 `json:"exchanges"`
	ReceivedBytes int64 `json:"received_bytes"`
	Errors        int64 `json:"errors,omitempty"`

	// A client's, when setup asked for a timeline, and where it can tell: what completed
	// since the tick before, in the window or draining.
	Times *TickTimes `json:"times,omitempty"`
}

// TickTimes reduces the times of the exchanges between two ticks: response times in
// an open loop, else service times, in ns to three digits. A percentile is left out
// where fewer than ten values lie beyond it.
type TickTimes struct {
	Count int64 `json:"count"`
	P50Ns int64 `json:"p50_ns,omitempty"`
	P99Ns int64 `json:"p99_ns,omitempty"`
	MaxNs int64 `json:"max_ns"`
}

// Result is what the worker counted in the window. Histograms are HdrHistogram
// V2 compressed, base64, in nanoseconds; a client that ran a closed loop has
// no Response and, without think time, no Lag.
type Result struct {
	FromNs     int64    `json:"from_ns"`
	ToNs       int64    `json:"to_ns"`
	Counts     Counts   `json:"counts"` // a client's: completed inside the window; a server's: since ready
	Drained    int64    `json:"drained,omitempty"`
	Unfinished int64    `json:"unfinished,omitempty"`
	Sent       *Sent    `json:"sent,omitempty"`    // a client's requests in all; absent: it does not tell
	Ages       string   `json:"ages,omitempty"`    // histogram: ages of the unfinished when draining ended
	Late       string   `json:"late,omitempty"`    // histogram: ages since due of the exchanges that failed by kind timeout, as they did; window and drained
	Service    string   `json:"service,omitempty"` // completion − actual send; window and drained
	Response   string   `json:"response,omitempty"`
	Lag        string   `json:"lag,omitempty"`
	Lengths    string   `json:"lengths,omitempty"`  // histogram in bytes: what came down in each exchange of Service; absent where all were as long as setup said
	OverMax    int64    `json:"over_max,omitempty"` // values above the histogram's range, counted there as its maximum
	Runtime    *Runtime `json:"runtime,omitempty"`
	Profile    []byte   `json:"profile,omitempty"` // CPU profile of the window, gzipped pprof, when setup asked for one

	Profiles       map[string][]byte `json:"profiles,omitempty"`        // further profiles of the window by kind (ProfileAllocations, …), gzipped pprof, each its growth inside the window
	ProfilesBefore map[string][]byte `json:"profiles_before,omitempty"` // what a profile of Profiles held already as the window opened, to be subtracted from it; absent where that was done

	Classes  []ClassResult      `json:"classes,omitempty"`  // of a load that mixes classes, in their order
	Paths    []ClassResult      `json:"paths,omitempty"`    // of a client that asks for several paths in turn
	Steps    []ClassResult      `json:"steps,omitempty"`    // of a load whose phases come once, in their order
	Bins     []SizeBin          `json:"bins,omitempty"`     // of a client whose sizes vary, rising
	Reasons  []Reason           `json:"reasons,omitempty"`  // why exchanges of the window failed, the most frequent first
	Inside   *Inside            `json:"inside,omitempty"`   // a client's work inside the window; absent: counts.exchanges are all that is known
	Arrivals *Arrivals          `json:"arrivals,omitempty"` // open loop: the gaps between its sends
	Events   *Events            `json:"events,omitempty"`   // when parts of replies came, when setup asked for that
	Stages   *Stages            `json:"stages,omitempty"`   // how long stages of exchanges took, when setup asked for that
	Own      map[string]float64 `json:"own,omitempty"`      // what a foreign program says of itself, by metric and unit, over its whole run
}

// Reason is why exchanges failed, in words that are the same for the same cause.
type Reason struct {
	Kind  ErrorKind `json:"kind,omitempty"` // absent of OtherReasons
	Text  string    `json:"text"`           // printable
	Count int64     `json:"count"`
}

// Bounds of Result.Reasons. What comes after the most frequent ones is counted
// together under OtherReasons.
const (
	MostReasons    = 16
	MostReasonText = 120 // bytes
	OtherReasons   = "others"
)

// ProfileAllocations is the kind of Result.Profiles that is known: objects and bytes
// allocated.
const ProfileAllocations = "allocations"

// Inside is how much work fell inside the window, exchanges that span one of its
// edges counted by the share of their time in it. For constant times it has no
// error, where a count of completions is off by up to one exchange for each slot.
type Inside struct {
	Exchanges float64 `json:"exchanges"`         // by the time from the actual send to the completion: what cost something
	Cycles    float64 `json:"cycles"`            // by the time from the slot's completion before: what makes a rate
	IdleNs    int64   `json:"idle_ns,omitempty"` // closed loop: from the completion before to the send, over the exchanges of service
	Due       float64 `json:"due,omitempty"`     // open loop: exchanges that fell due
}

// Arrivals sums up the gaps between consecutive actual sends of one client, over
// all its slots, in a stretch that begins with the window. Exchanges that never
// completed are not among them.
type Arrivals struct {
	Gaps          int64   `json:"gaps"`
	SumNs         int64   `json:"sum_ns"`          // first to last send
	SumSquaresNs2 float64 `json:"sum_squares_ns2"` // of the gaps
	StretchNs     int64   `json:"stretch_ns"`
}

// ErrorKind classifies what went wrong.
type ErrorKind string

// The error kinds. Unsupported makes an empty cell with its reason, not a failure.
const (
	Unsupported ErrorKind = "unsupported"
	SetupFailed ErrorKind = "setup"
	Peer        ErrorKind = "peer"
	Timeout     ErrorKind = "timeout"
	Invalid     ErrorKind = "invalid"
	Bug         ErrorKind = "bug"
)

// Error reports a failure of the worker itself, at any time. A fatal one is
// the worker's last message but exit.
type Error struct {
	Kind  ErrorKind `json:"kind"`
	Text  string    `json:"text"`
	Fatal bool      `json:"fatal,omitempty"`
	Sent  *Sent     `json:"sent,omitempty"` // of a client's fatal error: its requests until then, in place of the result's
}

// Error makes the message usable as a Go error.
func (e *Error) Error() string { return string(e.Kind) + ": " + e.Text }
