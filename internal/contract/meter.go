package contract

// Meter is what the kernel knows of a worker's process tree and of its host
// at one instant. The meter adds it to ready, to each mark's answer and to
// result. Times are the host's monotonic clock; amounts are cumulative unless
// said otherwise.
type Meter struct {
	AtNs       int64            `json:"at_ns"`                // CLOCK_MONOTONIC, which readings with one BootID share
	BootID     string           `json:"boot_id,omitempty"`    // of the host's kernel since it booted; absent where it does not say
	SkewNs     int64            `json:"skew_ns,omitempty"`    // from the command passing to this reading
	OwnCPUNs   int64            `json:"own_cpu_ns,omitempty"` // the meter's own, which Process leaves out
	Process    Process          `json:"process"`
	Threads    []Thread         `json:"threads,omitempty"` // of the whole tree, at most MaxThreads, busiest kept
	CPUs       []CPU            `json:"cpus,omitempty"`    // the host's, by id
	CPUSet     []int            `json:"cpu_set,omitempty"` // the CPUs that the tree may use
	Interfaces Interfaces       `json:"interfaces,omitempty"`
	Pressure   map[string]int64 `json:"pressure,omitempty"` // PSI "some" totals in ns by resource
	Group      *Group           `json:"group,omitempty"`    // the control group of what is read; absent where nothing of a group is to be seen
	TCP        *TCP             `json:"tcp,omitempty"`      // the kernel's TCP counters of the worker's connections
	UDP        *UDP             `json:"udp,omitempty"`      // the kernel's account of UDP, where the transport is over it
	Attached   *Attached        `json:"attached,omitempty"` // of a worker that stands for a server of this host which it did not start
	Beat       *Beat            `json:"beat,omitempty"`     // with result alone; absent where the kernel does not say how long threads wait for a CPU
	Start      *StartUp         `json:"start,omitempty"`    // with ready alone
	Sampled    *Sampled         `json:"sampled,omitempty"`  // with result alone: the window's stacks, when setup asked for a profile
}

// Group is the account of the control group in which the read processes are, with all
// others there: a container's, a service's. Amounts are cumulative since it began.
type Group struct {
	Name        string           `json:"name"`
	CPUNs       int64            `json:"cpu_ns"`
	MemoryBytes int64            `json:"memory_bytes"`           // now, with the cache of its files
	Quota       *Quota           `json:"quota,omitempty"`        // the tightest of the group and those above it; absent without any
	MemoryLimit *MemoryLimit     `json:"memory_limit,omitempty"` // the same
	Pressure    map[string]int64 `json:"pressure,omitempty"`     // PSI "some" totals of the group in ns by resource; absent of version 1
}

// Quota is the CPU time that a control group may use in each period. When it is used up,
// everything in the group stands still until the next one.
type Quota struct {
	AllowedNs   int64 `json:"allowed_ns"`
	PeriodNs    int64 `json:"period_ns"`
	Periods     int64 `json:"periods"`      // so far, in which anything of the group ran
	Throttled   int64 `json:"throttled"`    // of them, those in which it was used up
	ThrottledNs int64 `json:"throttled_ns"` // for which that held something back, summed over the CPUs
}

// CPUs returns how many CPUs' time the quota is.
func (q Quota) CPUs() float64 { return float64(q.AllowedNs) / float64(q.PeriodNs) }

// MemoryLimit is the memory that a control group may use.
type MemoryLimit struct {
	Bytes     int64 `json:"bytes"`
	UsedBytes int64 `json:"used_bytes"` // now, by the group that has the limit
	Met       int64 `json:"met"`        // how often it was reached so far, and memory had to be taken back
}

// StartUp is how long a worker took to be ready, by its meter's clock. What lies between
// its hello and its setup, in which it waits for the others, is in neither.
type StartUp struct {
	HelloNs int64 `json:"hello_ns"` // from the start of its process
	SetupNs int64 `json:"setup_ns"` // from its setup to ready
}

// WarmingMark is the id of marks that read while a load warms up, many times a second: to
// their answers the meter adds a brief reading.
const WarmingMark = 4

// Beat is what a thread of the meter's saw that wakes at even intervals, from the
// first mark to the result, and of held processes from the opening of the window on.
type Beat struct {
	EveryNs   int64        `json:"every_ns"`
	LongestNs int64        `json:"longest_ns"`      // by which a beat came late, the thread's wait for a CPU not counted
	Stood     []Standstill `json:"stood,omitempty"` // rising, the longest at most MaxStood
}

// Standstill is a time of 10 ms or more in which what a meter reads did not run, by the
// clock of AtNs; it may
// have begun EveryNs later. Waiting for a CPU is none.
type Standstill struct {
	FromNs int64    `json:"from_ns"`
	ToNs   int64    `json:"to_ns"`
	Held   *Stopped `json:"held,omitempty"` // the process of the tree that did not; absent where the meter itself did not, with its host or its control group
}

// MaxStood bounds Beat.Stood.
const MaxStood = 64

// Sampled is a profile of the whole process tree, taken from outside it over the
// window: user and kernel frames together, whatever language the programs are in.
// Pprof is absent where Why says why there is none.
type Sampled struct {
	Source  string `json:"source"`          // what sampled: perf
	Hz      int    `json:"hz"`              // samples for each second of CPU time
	Samples int64  `json:"samples"`         // in Pprof
	Lost    int64  `json:"lost,omitempty"`  // that the kernel dropped
	Pprof   []byte `json:"pprof,omitempty"` // gzipped: samples/count and cpu/nanoseconds, every frame with its name; frames of the kernel have KernelMapping
	Why     string `json:"why,omitempty"`   // one sentence
}

// KernelMapping is the file name of the mapping that holds the kernel's frames.
const KernelMapping = "[kernel.kallsyms]"

// Attached tells whose account a reading holds in Process, Threads and CPUSet: that
// of the processes which hold the server's ends of the clients' connections, or the
// socket that takes connections where these ended, and of their descendants, or, where
// Why says so, still the worker's own. Of a program that the worker started it is absent,
// unless others than the worker's processes serve: then Why says who.
type Attached struct {
	PIDs   []int    `json:"pids,omitempty"`   // those processes, rising, at most MaxAttached
	Names  []string `json:"names,omitempty"`  // of their executables, sorted, each once
	Why    string   `json:"why,omitempty"`    // why none of them is metered
	Lost   int      `json:"lost,omitempty"`   // processes of it so far whose CPU time nobody's account holds any more
	Onward *Onward  `json:"onward,omitempty"` // what moved between the server and others since the first mark
}

// MaxAttached bounds Attached.PIDs.
const MaxAttached = 64

// Onward is what moved on TCP connections that a server's processes made to others, as
// far as they were there at a mark. Amounts are cumulative since the first mark, and
// the least that moved.
type Onward struct {
	Connections int      `json:"connections"`     // on which anything moved
	Begun       int      `json:"begun,omitempty"` // of them, those that were not there at the first mark
	Bytes       int64    `json:"bytes"`           // both ways
	To          []string `json:"to,omitempty"`    // where they lead, sorted, at most MaxOnward
}

// MaxOnward bounds Onward.To.
const MaxOnward = 4

// TCP sums the kernel's tcp_info over the connections between a worker and its
// peers, as sock_diag shows them from outside the worker. Times and amounts are
// cumulative since each connection began, so a difference between two readings
// holds only while Sockets is the same. Source: tcp_info in linux/tcp.h.
type TCP struct {
	Sockets          int      `json:"sockets"`                     // established, counted here
	Congestion       []string `json:"congestion,omitempty"`        // congestion controls in use, sorted
	BusyNs           int64    `json:"busy_ns"`                     // with data to send, over all sockets
	ReceiveWindowNs  int64    `json:"receive_window_ns,omitempty"` // of it, held back by the peer's window
	SendBufferNs     int64    `json:"send_buffer_ns,omitempty"`    // of it, held back by the send buffer
	AckedBytes       int64    `json:"acked_bytes"`                 // sent and confirmed by the peer's kernel
	ReceivedBytes    int64    `json:"received_bytes"`
	SentSegments     int64    `json:"sent_segments"`               // with data
	ReceivedSegments int64    `json:"received_segments,omitempty"` // with data; 0 in records of before that was read
	Retransmits      int64    `json:"retransmits"`                 // segments

	// At this instant: means over the sockets, and their extremes.
	RTTNs                int64 `json:"rtt_ns"` // smoothed
	MaxRTTNs             int64 `json:"max_rtt_ns"`
	MinRTTNs             int64 `json:"min_rtt_ns"`             // the least that any socket has seen
	CongestionWindow     int64 `json:"congestion_window"`      // segments, mean
	DeliveryBytesPerS    int64 `json:"delivery_bytes_per_s"`   // sum of the sockets' latest rates
	SegmentBytes         int64 `json:"segment_bytes"`          // largest segment of any
	ReceiveBufferedBytes int64 `json:"receive_buffered_bytes"` // received and not read by the worker, sum
	SendQueuedBytes      int64 `json:"send_queued_bytes"`      // written by the worker and not acknowledged, sum

	// What the peers' receive windows let be on the way to them, sum; 0 where the kernel does not
	// tell (before Linux 5.4).
	PeerWindowBytes int64 `json:"peer_window_bytes,omitempty"`

	// Each socket by itself, rising by inode; absent when there are more than
	// MaxEach.
	Each []TCPSocket `json:"each,omitempty"`

	// The worker's connections where only Sockets of them were read, a random sample that
	// is the same at every mark; 0 where all were.
	Of int `json:"of,omitempty"`
}

// Whole returns the account of all of the worker's connections: the account itself where
// all were read, else what the sample says of the rest, whose sums are larger by as much as
// the connections are more.
func (t *TCP) Whole() *TCP {
	if t == nil || t.Of <= t.Sockets || t.Sockets <= 0 {
		return t
	}
	all, times := *t, float64(t.Of)/float64(t.Sockets)
	all.Sockets = t.Of
	for _, sum := range []*int64{
		&all.BusyNs, &all.ReceiveWindowNs, &all.SendBufferNs, &all.AckedBytes, &all.ReceivedBytes, &all.SentSegments, &all.ReceivedSegments, &all.Retransmits,
		&all.DeliveryBytesPerS, &all.ReceiveBufferedBytes, &all.SendQueuedBytes, &all.PeerWindowBytes,
	} {
		*sum = int64(times * float64(*sum))
	}
	return &all
}

// TCPSocket holds one connection's own counters, cumulative since it began.
type TCPSocket struct {
	Inode         int64 `json:"inode"` // tells it from the others of its network namespace
	AckedBytes    int64 `json:"acked_bytes"`
	ReceivedBytes int64 `json:"received_bytes"`
}

// UDP is the kernel's account of UDP. Amounts but the last two are cumulative: of the
// network namespace since it began, which on loopback both ends share, and of the
// sockets since each was opened.
type UDP struct {
	In                  int64 `json:"in"`                              // datagrams delivered to sockets of the namespace
	Out                 int64 `json:"out"`                             // its sends; one may hand over several datagrams (UDP_SEGMENT)
	NoPorts             int64 `json:"no_ports,omitempty"`              // its datagrams to ports where nobody listens
	InErrors            int64 `json:"in_errors,omitempty"`             // its datagrams that came and were not delivered
	ReceiveBufferErrors int64 `json:"receive_buffer_errors,omitempty"` // of them, because a socket's receive buffer was full
	SendBufferErrors    int64 `json:"send_buffer_errors,omitempty"`    // its sends that failed because a buffer was full

	// The worker's own sockets. Sockets is 0 where they are more than MaxSockets, or
	// every exchange has its own.
	Sockets              int   `json:"sockets,omitempty"`
	Drops                int64 `json:"drops,omitempty"`                  // datagrams that found a receive buffer of theirs full
	ReceiveBufferedBytes int64 `json:"receive_buffered_bytes,omitempty"` // memory of what was received and not read, sum
	SendQueuedBytes      int64 `json:"send_queued_bytes,omitempty"`      // memory of what was written and not sent, sum
}

// MaxEach bounds TCP.Each: beyond it a record would grow by more than it says.
const MaxEach = 64

// MaxSockets is how many connections' counters a meter reads at each mark whatever that
// takes, and of how many sockets UDP's account is at most. Of more connections it reads as
// many as it can in a small part of the window.
const MaxSockets = 2048

// MaxThreads bounds Meter.Threads.
const MaxThreads = 256

// Process sums a process tree. CPUNs is the kernel's precise clock, UserNs
// and SystemNs its 10 ms split.
type Process struct {
	CPUNs               int64 `json:"cpu_ns"`
	UserNs              int64 `json:"user_ns"`
	SystemNs            int64 `json:"system_ns"`
	RSSBytes            int64 `json:"rss_bytes"`      // now
	PeakRSSBytes        int64 `json:"peak_rss_bytes"` // since the process began
	VoluntarySwitches   int64 `json:"voluntary_switches"`
	InvoluntarySwitches int64 `json:"involuntary_switches"`
	Processes           int   `json:"processes"`
	Threads             int   `json:"threads"`
}

// Thread is the CPU time of one thread: in ns where the kernel keeps schedstat,
// else in 10 ms ticks.
type Thread struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	CPUNs  int64  `json:"cpu_ns"`
	WaitNs int64  `json:"wait_ns,omitempty"` // in which it could run and waited for a CPU; absent where the kernel keeps no schedstat
}

// CPU is one line of /proc/stat (10 ms ticks).
type CPU struct {
	ID        int   `json:"id"`
	UserNs    int64 `json:"user_ns"`
	NiceNs    int64 `json:"nice_ns"`
	SystemNs  int64 `json:"system_ns"`
	IdleNs    int64 `json:"idle_ns"`
	IOWaitNs  int64 `json:"iowait_ns"`
	IRQNs     int64 `json:"irq_ns"`
	SoftIRQNs int64 `json:"softirq_ns"`
	StealNs   int64 `json:"steal_ns"`
}

// Interface holds a network interface's counters.
type Interface struct {
	ReceivedBytes   int64 `json:"received_bytes"`
	ReceivedPackets int64 `json:"received_packets"`
	SentBytes       int64 `json:"sent_bytes"`
	SentPackets     int64 `json:"sent_packets"`
	Drops           int64 `json:"drops"`

	Queue *Queue `json:"queue,omitempty"` // of its queueing disciplines; absent where it has none
}

// Queue is what the queueing disciplines of an interface count of what leaves
// through it. Source: tc_stats in linux/gen_stats.h; tc-tbf(8).
type Queue struct {
	SentBytes    int64 `json:"sent_bytes"`    // with the headers of every packet, also where the interface counts several as one
	WaitingBytes int64 `json:"waiting_bytes"` // at this instant
	Drops        int64 `json:"drops"`         // packets that found it full
	Waits        int64 `json:"waits"`         // times when what waited might not leave yet, because a rate allowed no more
}

// Exit is the meter's last line: how the worker ended.
type Exit struct {
	Code   int    `json:"code"` // exit status; 128 + n for signal n
	Signal string `json:"signal,omitempty"`
	Reason string `json:"reason,omitempty"` // why the meter killed it (package meter names the reasons); empty when it ended by itself
	CPUNs  int64  `json:"cpu_ns"`

	// What the kernel's counters say of kills for lack of memory while the worker
	// ran; empty when it counted none.
	OutOfMemory string `json:"out_of_memory,omitempty"`
}

// Lease lets a meter's worker live for a while longer. From the first one on the meter
// ends its worker when no other comes in time: the end of stdin, by which a worker is
// ended as a rule, does not arrive where the way to the host is cut. It is not passed on
// to the worker.
type Lease struct {
	ForNs int64 `json:"for_ns"` // from its arrival
}

// Examine asks a meter what the kernel shows of its worker now: what an answer
// that does not come is waiting for. It is not passed on to the worker.
type Examine struct{}

// Examined is the meter's answer, at any time and as of then.
type Examined struct {
	Stopped     []Stopped   `json:"stopped,omitempty"`      // processes of the worker's tree that do not run because a signal or a debugger holds them
	Exhausted   []Exhausted `json:"exhausted,omitempty"`    // processes of the tree that may open no further file
	UnreadBytes int64       `json:"unread_bytes,omitempty"` // of commands that the worker has not read
	Ended       bool        `json:"ended,omitempty"`        // the worker itself has ended, or is about to
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
