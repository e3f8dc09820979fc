// Package tool lets programs take part that measure themselves. Of some (iperf3,
// iperf2, sockperf) server and client are both ends of a transport, on a wire of
// their own; a load generator of the user's (wrk, k6) is the client of whichever
// server there is, by its command line. Such a program knows nothing of a trial's
// window, so the kernel counts for it: at each mark its sockets are read by sock_diag.
//
// Each program is one file with its command lines (iperf3.go) and one that
// reads what it prints (iperf3_output.go). What they share: a client and a server
// around their processes (processes.go, client.go, server.go), the kernel's sums
// (counters.go) and the window between two snapshots of them (results.go). A load
// generator is a command line with places to fill in (command.go, places.go) and a way
// to read what it prints (reading.go), which of some is known (known.go).
package tool

import (
	"cmp"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/child"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Transport is a transport whose both ends are programs that speak to each other
// alone, on a wire of their own, and measure themselves.
type Transport struct{ tool tool }

// tool is one foreign program: its command lines, and how its output is read.
type tool struct {
	name, doc string   // of the transport and its wire
	program   string   // executable, of a pair of them the client's
	server    string   // the server's; empty where both are one
	debian    string   // package that has it
	origin    string   // where it is had that no package has
	user      *command // the user's own command line; nil for programs that are known here
	features  []contract.Feature
	options   []contract.Option

	// refuse says which point of the trial the program cannot carry out. It is
	// asked at both ends.
	refuse func(contract.Setup) error
	// threads is how many threads do the work of an end with so many processes.
	threads func(setup contract.Setup, processes int) int
	// serve and drive return the arguments of one server and of one client.
	serve func(setup contract.Setup, host, port string) []string
	drive func(contract.Setup, flow) []string
	// prepare finds out what the program can be asked for here, and completes the
	// setup's options for its arguments; nil has nothing to find out.
	prepare func(setup contract.Setup, version string) error
	// count makes what counts for an end; nil has the kernel count at its TCP sockets.
	count func(setup contract.Setup) (trafficCounter, error)
	// once says that a server ends with its client.
	once bool
	// before is what its command line begins with, such as stdbuf(1).
	before []string
	// fixed says that it takes the arguments that are named here and no others, not even
	// --version.
	fixed bool
	// stderr says that the program prints its figures on stderr.
	stderr bool
	// runs is for how long a client is told to run, which then ends by itself; nil runs
	// until it is interrupted.
	runs func(contract.Setup) time.Duration
	// silent says that an interrupted client has not told what it moved to the end.
	silent bool
	// ahead is how long a client must run before a trial can count its exchanges; 0
	// starts it with the load.
	ahead time.Duration
	// begun is how many exchanges a program has made that has begun, having tried a
	// few before; of a program that is started ahead.
	begun int64
	// linger is how long a program runs on after the end of the load.
	linger time.Duration
	// read reads what an ended client has printed or written.
	read func(f flow, printed []byte, w window) (selfReport, error)
	// failure finds the reason of a failure in what a client has printed, for a
	// program that prints much else around it; nil takes the end of what it printed.
	failure func(stdout []byte) string
}

// command begins the argv of a program.
func (t tool) command(path string) []string { return append(slices.Clip(t.before), path) }

// executable is the program of an end. Of a pair of them option program may name another.
func (t tool) executable(setup contract.Setup) string {
	switch {
	case t.server == "":
		return t.program
	case setup.Role == contract.Server:
		return cmp.Or(load.Options(setup.Options).Text("program"), t.server)
	}
	return cmp.Or(load.Options(setup.Options).Text("program"), t.program)
}

// absent says what to do about a program that is not there.
func (t tool) absent(program string) error {
	how := "sudo apt-get install " + t.debian
	if t.origin != "" {
		how = t.origin
	}
	return load.Failure(contract.Unsupported, fmt.Errorf("%s is not installed: %s", program, how))
}

// onePerProcess is threads of a program that has no more.
func onePerProcess(_ contract.Setup, processes int) int { return processes }

// flow is one client process: its share of the connections, to one server.
type flow struct {
	host, port  string
	source      string // local address to connect from; empty is the system's choice
	connections int
	log         string // path of a file for its own log, which is removed in the end
	size        int64  // bytes of a message
}

// window lies between two instants of CLOCK_MONOTONIC in ns; known is false
// when the trial had none.
type window struct {
	from, to int64
	known    bool
}

// Describe implements load.Transport.
func (t Transport) Describe() contract.Transport {
	options := t.tool.options
	if !t.tool.fixed {
		options = append([]contract.Option{
			{Name: "args", Type: contract.TypeText, Default: "", Doc: "more arguments for " + t.tool.program + ", split at spaces without a shell"},
		}, options...)
	}
	return contract.Transport{
		Name: t.tool.name, Doc: t.tool.doc, Wire: t.tool.name,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryChunks, Features: t.tool.features, Options: options,
	}
}

// prepare finds the program, checks that it can do what is asked, and returns
// its path and the user's own arguments.
func (t Transport) prepare(setup contract.Setup) (path string, args []string, err error) {
	if err := refusals(t.tool, setup); err != nil {
		return "", nil, load.Failure(contract.Unsupported, err)
	}
	if err := t.tool.refuse(setup); err != nil {
		return "", nil, load.Failure(contract.Unsupported, err)
	}
	program := t.tool.executable(setup)
	path, err = exec.LookPath(program)
	if t.tool.user != nil {
		if err != nil {
			err = load.Failure(contract.Unsupported, fmt.Errorf("option command: %w", err))
		}
		return path, nil, err
	}
	if err != nil {
		return "", nil, t.tool.absent(program)
	}
	if t.tool.prepare != nil {
		if err := t.tool.prepare(setup, child.Version(path)); err != nil {
			return "", nil, err
		}
	}
	if t.tool.fixed {
		return path, nil, nil
	}
	args, err = child.Split("args", load.Options(setup.Options).Text("args"), "", "")
	if err != nil {
		return "", nil, load.Failure(contract.SetupFailed, err)
	}
	return path, args, nil
}

// refusals are points of a trial that no program of this kind can carry out.
func refusals(t tool, setup contract.Setup) error {
	l, x, name := setup.Load, setup.Exchange, t.name
	switch {
	case x.Message != nil || x.Codec != "" && x.Codec != "bytes":
		return fmt.Errorf("%s sends bytes of its own and encodes no message", name)
	case l.Rate > 0 && t.user == nil:
		return fmt.Errorf("%s sends as fast as it can: it keeps no schedule of exchanges (rate is %g)", name, l.Rate)
	case l.ThinkNs > 0:
		return fmt.Errorf("%s does not pause between exchanges (think is %v)", name, time.Duration(l.ThinkNs))
	case l.Amount > 0:
		return fmt.Errorf("%s runs until it is stopped and counts no exchanges (amount is %d)", name, l.Amount)
	case l.ActiveShare > 0 && l.ActiveShare < 1:
		return fmt.Errorf("%s uses all its connections (active is %g, expected 1)", name, l.ActiveShare)
	}
	return nil
}

// ready is what both ends report: the effective options, with the program's version among
// them, and the number of threads that the program works in.
func (t Transport) ready(setup contract.Setup, path string, processes int) (contract.Ready, error) {
	threads := t.tool.threads(setup, processes)
	if setup.Threads > 0 && threads > 0 && setup.Threads != threads {
		err := fmt.Errorf("%s works in %d threads here, which cannot be changed (threads is %d)", t.tool.name, threads, setup.Threads)
		return contract.Ready{}, load.Failure(contract.Unsupported, err)
	}
	if t.tool.user != nil || t.tool.fixed { // which nothing is asked that its user did not ask
		return contract.Ready{Options: setup.Options, Threads: threads}, nil
	}
	if version := child.Version(path); version != "" {
		setup.Options["version"] = version
	}
	return contract.Ready{Options: setup.Options, Threads: threads}, nil
}

// flows shares the connections out over the peers in turn, one process for
// each peer that has any.
func flows(setup contract.Setup) ([]flow, error) {
	n := setup.Load.Connections
	const most = 1 << 12
	if n < 1 || n > most {
		return nil, fmt.Errorf("load.connections is %d, expected 1 to %d", n, most)
	}
	if len(setup.Peers) == 0 {
		return nil, fmt.Errorf("setup.peers is empty, expected a server's address")
	}
	var out []flow
	for i, peer := range setup.Peers[:min(n, len(setup.Peers))] {
		host, port, err := net.SplitHostPort(peer)
		if err != nil {
			return nil, fmt.Errorf("setup.peers: %w", err)
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return nil, fmt.Errorf("setup.peers: port %q of %s: expected a number up to 65535", port, peer)
		}
		f := flow{host: host, port: port, connections: n / len(setup.Peers), size: setup.Exchange.UpBytes}
		if i < n%len(setup.Peers) {
			f.connections++
		}
		if len(setup.Sources) > 0 {
			f.source = setup.Sources[i%len(setup.Sources)]
		}
		out = append(out, f)
	}
	return out, nil
}

// forever is for how many seconds a client is told to run; it is interrupted
// long before. iperf3 takes no more than a day.
const forever = "86400"

// streams are the features of a program that does nothing else.
var streams = []contract.Feature{contract.FeatureStreamUp, contract.FeatureStreamDown, contract.FeatureStreamBoth}

// refuseBulk says what a bulk program cannot carry out; mostChunk bounds its
// writes. Any in_flight is as good as another: it keeps a stream from waiting
// for its confirmations, and these programs wait for none.
func refuseBulk(name string, x contract.Exchange, mostChunk int64) error {
	unit := unitOf(x)
	switch {
	case x.Stream == "":
		return fmt.Errorf("%s moves streams and nothing else: expected stream up, down or both", name)
	case unit.up < 1 && x.Stream != contract.StreamDown, unit.down < 1 && x.Stream != contract.StreamUp:
		return fmt.Errorf("%s: a message that streams has up %d and down %d bytes, expected at least 1", name, x.UpBytes, x.DownBytes)
	case x.ChunkBytes > mostChunk:
		return fmt.Errorf("%s writes at most %d bytes at once (chunk is %d)", name, mostChunk, x.ChunkBytes)
	}
	return nil
}

// serveBulk are the arguments of a server, of either iperf.
func serveBulk(_ contract.Setup, host, port string) []string {
	return []string{"--server", "--bind", host, "--port", port}
}

// chunkOf is the argument for how much is written at once.
func chunkOf(x contract.Exchange) string {
	if x.ChunkBytes == 0 {
		return strconv.Itoa(wire.DefaultChunk)
	}
	return strconv.FormatInt(x.ChunkBytes, 10)
}
