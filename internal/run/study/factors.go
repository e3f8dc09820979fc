package study

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/pattern"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// Kind is the type of a factor's levels.
type Kind string

// The kinds. A level is written and compared as text in its kind's canonical
// form.
const (
	Bytes     Kind = "bytes"
	Sizes     Kind = "bytes, or how they are distributed"
	Arrival   Kind = "arrivals"
	Times     Kind = "duration, or how durations are distributed"
	Duration  Kind = "duration"
	Count     Kind = "count"
	Rate      Kind = "rate"
	BitRate   Kind = "bit rate"
	Share     Kind = "share"
	Multiple  Kind = "multiple"
	Choice    Kind = "choice"
	Flag      Kind = "yes or no"
	Text      Kind = "text"
	Transport Kind = "transport"
	Paths     Kind = "hops"
	Bundle    Kind = "named bundle"
)

// Factor describes one name that a study may hold or vary. Min and Max bound
// numbers in base units (bytes, nanoseconds, a plain count, bits per second).
type Factor struct {
	Name     string
	Kind     Kind
	Default  string // canonical text; "" for none
	Min, Max float64
	Choices  []string
	Doc      string
}

const (
	most      = 1 << 20
	mostBytes = contract.MaxMessage
	day       = 24 * 3600 * 1e9 // ns
)

// Levels that the planner itself knows.
const (
	unstreamed = "no"    // of stream: one message each way
	rawCodec   = "bytes" // of codec: random content instead of a message
)

// The factors that place the ends of a trial on hosts of the rig, and their addresses.
const (
	ServerHost   = "server.host"
	ClientHost   = "client.host"
	ClientSource = "client.source"
)

// WorkloadFactor is the factor whose levels name workload files.
const WorkloadFactor = "workload"

// Of an open loop: a level, and how long what is due may wait then, to be sent with more.
const (
	PaceFactor = "pace"
	PaceCheap  = "cheap"
	Gathered   = 100 * time.Microsecond
)

// standardChunk is the size of a stream's messages when none is given.
// Source: grpc/grpc.github.io, issue 371, which advises 16 to 64 KiB.
const standardChunk = "64KiB"

// standardWork is how a server works when that is not given.
const standardWork = string(contract.WorkCPU)

// factors is the whole list of names (DESIGN §5). A new name needs an
// argument: most wishes are a level of one of these.
var factors = []Factor{
	{Name: "transport", Kind: Transport, Doc: "implementation at both ends; to name two, use server and client"},
	{Name: "server", Kind: Transport, Doc: "implementation of the server"},
	{Name: "client", Kind: Transport, Doc: "implementation of the client; any that speaks the server's wire"},
	{Name: ServerHost, Kind: Text, Doc: "host of the rig that the servers run on, by its name; the rig's first unless given"},
	{Name: ClientHost, Kind: Text, Doc: "host of the rig that the clients run on, by its name; the rig's others in turn unless given"},
	{Name: ClientSource, Kind: Text, Doc: "local address that clients connect from; the system's choice unless given"},
	{Name: record.NetworkFactor, Kind: Text, Doc: "network that both ends are on, of a rig that has several (podman, docker: host, bridge or a network's name); the rig's network= unless given"},
	{Name: record.PathFactor, Kind: Paths, Doc: "what lies between client and server, from the client on: direct, nginx, haproxy, exec:COMMAND with {upstream} and {port}, or several joined by + (docs/hops.md); direct unless given"},
	{Name: "arm", Kind: Bundle, Doc: "named sets of levels, for arms that differ in more than one factor"},
	{Name: "build", Kind: Text, Doc: "directory whose workers are used before any others; build=OLD,NEW compares two builds, interleaved"},
	{Name: "request", Kind: Sizes, Default: "100B", Max: mostBytes, Doc: "size of the message from client to server, or how sizes are distributed: uniform:100B..4KiB, lognormal:, pareto:, choice:, cdf:FILE or homa-w1 to homa-w5"},
	{Name: "response", Kind: Sizes, Default: "100B", Max: mostBytes, Doc: "size of the message from server to client, or how sizes are distributed, as of request"},
	{Name: "stream", Kind: Choice, Default: unstreamed, Choices: []string{unstreamed, "up", "down", "both"}, Doc: "which directions of an exchange are streamed in chunks"},
	{Name: "chunk", Kind: Bytes, Min: 1, Max: mostBytes, Doc: "size of the chunks of a stream; 64KiB unless given"},
	{Name: "every", Kind: Duration, Max: day, Doc: "stream=down: time from one chunk to the next, which leave by themselves; without pause unless given"},
	{Name: "events", Kind: Flag, Doc: "tell when each event of a reply comes, of clients with feature events; factor every does so in any case"},
	{Name: "stages", Kind: Flag, Doc: "tell how long stages of exchanges take, of clients with feature stages: the first byte of a reply and, of new connections, connect and TLS handshake; unless given, where the client can, of a server by its address and with events or resumption"},
	{Name: "codec", Kind: Choice, Default: rawCodec, Choices: []string{rawCodec, "proto", "json", "json-fast"}, Doc: "how a message is encoded; proto unless given. bytes sends random content of the sizes request and response"},
	{Name: "message", Kind: Text, Doc: "message that a codec encodes: simple, complex or FILE.proto:pkg.Type:DATA.json"},
	{Name: "connections", Kind: Count, Default: "50", Min: 1, Max: 10 * most, Doc: "number of connections, over all clients"},
	{Name: "inflight", Kind: Count, Default: "1", Min: 1, Max: 1 << 16, Doc: "exchanges in flight per connection"},
	{Name: "clients", Kind: Count, Default: "1", Min: 1, Max: 1024, Doc: "number of client processes"},
	{Name: "servers", Kind: Count, Default: "1", Min: 1, Max: 1024, Doc: "number of server processes, over which connections are spread"},
	{Name: "listeners", Kind: Count, Default: "1", Min: 1, Max: 1024, Doc: "number of ports that each server opens"},
	{Name: "threads", Kind: Count, Default: "0", Max: 4096, Doc: "event loops or threads of each worker; 0 is one per usable CPU"},
	{Name: "rate", Kind: Rate, Default: "max", Max: 1e10, Doc: "exchanges offered per second, over all clients (open loop); max is the closed loop: each connection as fast as it can; 60% is a share of what the arm does so"},
	{Name: record.RateOf, Kind: Rate, Max: 1e10, Doc: "exchanges per second of which a rate such as 60% is a share; unless given what the arm does in a closed loop, measured before the first block"},
	{Name: "arrival", Kind: Arrival, Default: "constant", Choices: []string{"constant", "poisson"}, Doc: "how the exchanges of an open loop are spaced; also gamma:cv=2, burst:on=10ms,off=90ms, with rates of their own steps:1k,5k,20k/10s and ramp:1k..50k/30s, and trace:FILE, the times of a file"},
	{Name: PaceFactor, Kind: Choice, Choices: []string{"even", PaceCheap}, Doc: "how requests of a rate are sent: even, each when it is due, unless given; cheap, with others up to " + quantity.FormatDuration(Gathered) + " after it was due, of clients with feature gather: that takes less CPU of clients and servers, and response times count from when each was due"},
	{Name: WorkloadFactor, Kind: Text, Doc: "file of a workload, in place of request and response: classes of exchanges with their weights, or recorded traffic (docs/workloads.md)"},
	{Name: "speed", Kind: Multiple, Min: 1e-3, Max: 1e3, Doc: "how many times faster recorded traffic is replayed than it came; 1 unless given"},
	{Name: "think", Kind: Duration, Default: "0s", Max: day, Doc: "closed loop: pause between the end of an exchange and the next"},
	{Name: "work", Kind: Times, Doc: "what a server does for each exchange before it replies, as a time or how times are distributed: exp:200us, uniform:50us..2ms, lognormal:, pareto: or choice:99%:50us,1%:10ms"},
	{Name: "work.by", Kind: Choice, Choices: []string{standardWork, "sleep"}, Doc: "how a server spends the time of work: on a CPU, unless given, or asleep"},
	{Name: "active", Kind: Share, Default: "100%", Min: 1e-9, Max: 1, Doc: "share of the connections that carry load"},
	{Name: "fresh", Kind: Flag, Default: "no", Doc: "open a new connection for every exchange"},
	{Name: "tls", Kind: Flag, Default: "no", Doc: "encrypt with TLS"},
	{Name: "resumption", Kind: Flag, Doc: "with fresh and tls: new connections resume TLS sessions of earlier ones where the server allows it, of clients with feature resume; else every handshake is a full one"},
	{Name: "link.rate", Kind: BitRate, Max: 1e13, Doc: "rate of each host's link, both ways, on a rig that can shape it (netns); max leaves it as it is"},
	{Name: "link.delay", Kind: Duration, Max: 10e9, Doc: "one-way delay of the link"},
	{Name: "link.loss", Kind: Share, Max: 1, Doc: "share of packets that the link loses"},
	{Name: "placement", Kind: Choice, Default: record.Separate, Choices: []string{record.Separate, record.Shared, record.Free}, Doc: "CPUs of server and clients on one host: separate halves, all shared, or free (unpinned)"},
	{Name: "window", Kind: Duration, Default: "500ms", Min: 1e6, Max: day, Doc: "length of the window, in which exchanges are counted"},
	{Name: "warmup", Kind: Duration, Default: "500ms", Max: day, Doc: "length of the warm-up before the window, which is not counted"},
	{Name: "warmup_max", Kind: Duration, Max: day, Doc: "how long a warm-up may go on whose rate, or CPU time per exchange, still changes as it ends; warmup's length ends the others; ten times warmup unless given"},
	{Name: "amount", Kind: Count, Default: "0", Max: 1e12, Doc: "exchanges per connection, in place of a window; 0 uses the window"},
	{Name: "max_errors", Kind: Share, Max: 1, Doc: "share of failed exchanges up to which a trial counts, its rate being that of the others; unless given 1% with a server that is not netdyno's, else none"},
	{Name: "deadline", Kind: Duration, Max: day, Doc: "time after which an exchange without a reply has failed, of clients with feature deadline; without bound unless given"},
	{Name: "connect_deadline", Kind: Duration, Max: day, Doc: "the same for the making of a connection; 10s unless given"},
	{Name: "timeline", Kind: Flag, Default: "no", Doc: "record percentiles of the clients' times five times a second, and show them while the run goes on; a probe does so in any case"},
	{Name: "opt.NAME", Kind: Text, Doc: "option of a transport, at each end that declares it"},
	{Name: "opt.server.NAME", Kind: Text, Doc: "option of a transport, at the server"},
	{Name: "opt.client.NAME", Kind: Text, Doc: "option of a transport, at the client"},
}

// Factors returns the table of factor names in its documented order. The
// caller owns the slice.
func Factors() []Factor { return append([]Factor(nil), factors...) }

// Joined stands between the addresses of one server, in its option address.
const Joined = "+"

// OptionPrefix begins the names of factors that are a transport's own options.
const OptionPrefix = "opt."

var optionName = pattern.Once(`^opt\.(server\.|client\.)?[a-z0-9][a-z0-9_-]{0,62}$`)

// FactorNamed returns the factor of that name, or of a usual one for it (spellings), or an
// error with the nearest name, of these or of some others that could be meant.
func FactorNamed(name string, others ...string) (Factor, error) {
	if usual, ok := spellings[name]; ok {
		name = usual
	}
	if text, ok := unclear[name]; ok {
		return Factor{}, fmt.Errorf("%q could mean more than one factor; %s", name, text)
	}
	if strings.HasPrefix(name, OptionPrefix) {
		if !optionName().MatchString(name) {
			return Factor{}, fmt.Errorf("%q is not an option's name; expected opt.NAME, opt.server.NAME or opt.client.NAME "+
				"with NAME in lower-case letters, digits, - and _", quantity.Clip(name, 80))
		}
		return Factor{Name: name, Kind: Text, Doc: "option of a transport"}, nil
	}
	names := make([]string, 0, len(factors))
	for _, f := range factors {
		if f.Name == name {
			return f, nil
		}
		if !strings.HasPrefix(f.Name, OptionPrefix) {
			names = append(names, f.Name)
		}
	}
	names = slices.Concat(names, []string{"opt.NAME"}, others)
	return Factor{}, fmt.Errorf("unknown factor %q; %s", quantity.Clip(name, 80), quantity.Hint(name, names))
}

// inTrial reports whether a trial has a level of this factor although the
// study does not mention it.
func (f Factor) inTrial() bool {
	return f.Default != ""
}

// What stands for a text that requests carry and that is no level: a file of the run's
// directory, by its hash, or one that is kept nowhere after the run.
const (
	GivenPrefix  = "@given/"
	SecretPrefix = "@secret/"
)

// Carried is what requests carry that is no level: long, of several lines, binary, or
// secret.
type Carried struct {
	Bytes  []byte
	Secret bool   // it is kept nowhere after the run
	File   string // that holds it in place of Bytes, and is the caller's; of a secret
}

// IsGiven tells whether a level stands for a text.
func IsGiven(level string) bool {
	return strings.HasPrefix(level, GivenPrefix) || strings.HasPrefix(level, SecretPrefix)
}

// Given puts other levels in the place of those of options that begin with @ and name a
// file; @@ begins a level that begins with @. It is called before the study is used.
// The error names the position.
func (s *Study) Given(level func(text string) (string, error)) error {
	for factor, l := range s.Levels() {
		if !strings.HasPrefix(factor, OptionPrefix) || !strings.HasPrefix(l.Text, "@") || strings.HasPrefix(l.Text, "@@") {
			continue
		}
		text, err := level(l.Text)
		if err != nil {
			return Errorf(l.At, "%s: %s", factor, err)
		}
		l.Text = text
	}
	return nil
}

// spellings are the names by which users of other tools know factors.
var spellings = map[string]string{
	"concurrency": "connections",
	"conns":       "connections",
	"duration":    "window",
	"time":        "window",
	"timeout":     "deadline",
	"qps":         "rate",
	"rps":         "rate",
	"pipeline":    "inflight",
	"streams":     "connections",
}

// messageSizes answers names that mean two factors.
const messageSizes = "write request=SIZE for the message from client to server and response=SIZE for the one back"

// unclear are names that stand for no one factor, with what to write instead.
var unclear = map[string]string{
	"payload":     messageSizes,
	"size":        messageSizes,
	"messagesize": messageSizes,
	"protocol":    "write transport=NAME; netdyno transports lists them",
}
