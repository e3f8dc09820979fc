package tool

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// perftest is one program of linux-rdma's perftest. Server and client are the same
// program with the same arguments. The program prints its figures when it ends by itself,
// and nothing when it is interrupted, so the device's port counts for it.
//
// The server listens on every address of its host: perftest has no option for one.
type perftest struct {
	name string // of the program and, with hyphens, of the transport
	doc  string
	down bool // messages come down unless it is told to reverse them: the client reads
	lat  bool // one message at a time, each answered by one like it, or one read at a time
}

// Perftest returns a transport for each program of linux-rdma's perftest.
func Perftest() []load.Transport {
	var all []load.Transport
	for _, p := range []perftest{
		{name: "ib_send_bw", doc: "messages by RDMA sends, as many as fit"},
		{name: "ib_write_bw", doc: "messages by RDMA writes, as many as fit"},
		{name: "ib_read_bw", doc: "messages by RDMA reads, as many as fit", down: true},
		{name: "ib_send_lat", doc: "ping-pong by RDMA sends", lat: true},
		{name: "ib_write_lat", doc: "ping-pong by RDMA writes", lat: true},
		{name: "ib_read_lat", doc: "RDMA reads, one at a time", lat: true, down: true},
	} {
		all = append(all, p.transport())
	}
	return all
}

// transport makes a tool of the program. These names are the publishers', so the
// transport keeps them as they are.
func (p perftest) transport() Transport {
	t := tool{
		name: p.name, doc: p.doc + ": linux-rdma's perftest, counted by the device's port",
		program: p.name, debian: "perftest",
		options: []contract.Option{{
			Name: "tx_depth", Type: contract.TypeInt, Default: int64(64), Min: new(1.0), Max: new(8192.0),
			Doc: "requests outstanding on a connection (-t)",
		}},
		refuse: p.refuse, threads: onePerProcess,
		prepare: func(setup contract.Setup, version string) error {
			if err := checkPerftest(p.name, version); err != nil {
				return err
			}
			_, err := p.counter(setup)
			return err
		},
		count: p.counter,
		// It measures the processor's clock for a second before it connects.
		ahead: 100 * time.Millisecond, begun: 1,
		once: true, silent: true,
		serve: func(setup contract.Setup, host, port string) []string { return p.arguments(setup, host, port) },
		drive: func(setup contract.Setup, f flow) []string {
			return append(p.arguments(setup, localAddress(f.host, f.port), f.port), f.host)
		},
		read: func(_ flow, stdout []byte, _ window) (selfReport, error) { return readPerftest(stdout) },
	}
	if !p.lat {
		t.before = []string{"stdbuf", "--output=L"} // else it prints by the block
		t.features = []contract.Feature{contract.FeatureStreamUp, contract.FeatureStreamDown}
	}
	return Transport{t}
}

func (p perftest) refuse(setup contract.Setup) error {
	const mostMessage, mostPairs = 8 << 20, 1 << 10
	x := setup.Exchange
	switch {
	case p.lat && x.Stream != "":
		return fmt.Errorf("%s moves one message at a time: expected no stream", p.name)
	case p.lat && setup.Load.InFlight > 1:
		return fmt.Errorf("%s keeps one message in flight (in_flight is %d)", p.name, setup.Load.InFlight)
	case p.lat && setup.Role == contract.Client && setup.Load.Connections != 1:
		return fmt.Errorf("%s uses one connection (connections is %d)", p.name, setup.Load.Connections)
	case p.lat && !p.down && x.UpBytes != x.DownBytes:
		return fmt.Errorf("%s answers each message by one like it: request is %d and response %d bytes, expected both equal", p.name, x.UpBytes, x.DownBytes)
	case p.lat && p.down && x.UpBytes != 1:
		return fmt.Errorf("%s asks by packets without content: request is %d bytes, expected 1, which is not sent", p.name, x.UpBytes)
	case !p.lat && x.Stream != contract.StreamUp && x.Stream != contract.StreamDown:
		return fmt.Errorf("%s moves messages one way and nothing else: expected stream up or down", p.name)
	case p.message(x) < 1 || p.message(x) > mostMessage:
		return fmt.Errorf("%s: a message has %d bytes, expected 1 to %d", p.name, p.message(x), mostMessage)
	case !p.lat && p.streamed(x)%p.message(x) != 0:
		return fmt.Errorf("%s: an exchange has %d bytes, expected a multiple of its messages of %d (chunk)", p.name, p.streamed(x), p.message(x))
	case setup.Load.Connections > mostPairs:
		return fmt.Errorf("%s: %d connections, expected at most %d", p.name, setup.Load.Connections, mostPairs)
	case setup.Role == contract.Server && setup.Listeners > 1:
		return fmt.Errorf("%s counts by its port, for one pair of processes (listeners is %d, expected 1)", p.name, setup.Listeners)
	}
	return nil
}

// message is how many bytes one message has.
func (p perftest) message(x contract.Exchange) int64 {
	if p.lat {
		return x.DownBytes
	}
	size, _ := strconv.ParseInt(chunkOf(x), 10, 64) // it wrote a number
	return min(size, max(1, p.streamed(x)))
}

func (p perftest) streamed(x contract.Exchange) int64 {
	up, down := x.Streamed()
	return up + down
}

// arguments are those of both ends, at the port that carries the end's own address.
// The number of connections is the client's, and the server has to know it.
func (p perftest) arguments(setup contract.Setup, address, port string) []string {
	at, _ := portAt(address) // a failure is that of counter, which says it
	args := []string{
		"--ib-dev=" + at.device, "--ib-port=" + at.port, "--gid-index=" + at.gid, "--port=" + port,
		"--size=" + strconv.FormatInt(p.message(setup.Exchange), 10), "--mtu=" + strconv.FormatInt(at.mtuBytes, 10), "--CPU-freq",
	}
	if p.lat {
		return append(args, "--duration="+forever)
	}
	depth := strconv.FormatInt(load.Options(setup.Options).Int("tx_depth"), 10)
	args = append(args, "--run_infinitely", "--duration=1", "--tx-depth="+depth, "--qp="+strconv.Itoa(max(1, setup.Load.Connections)))
	if (setup.Exchange.Stream == contract.StreamDown) != p.down {
		args = append(args, "--reversed") // the server sends, writes or reads
	}
	return args
}

// counter counts at the port that carries this end's address.
func (p perftest) counter(setup contract.Setup) (trafficCounter, error) {
	address, peer := "", ""
	if setup.Role == contract.Server {
		address, _, _ = net.SplitHostPort(setup.Listen) // it was listened at
		peer = address
		if len(setup.Allow) > 0 {
			peer = setup.Allow[0]
		}
	} else {
		host, port, err := net.SplitHostPort(setup.Peers[0])
		if err != nil {
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf("setup.peers: %w", err))
		}
		address, peer = localAddress(host, port), host
	}
	at, err := portAt(address)
	if err != nil {
		return nil, load.Failure(contract.Unsupported, err)
	}
	size := p.message(setup.Exchange)
	packets := (size + at.mtuBytes - 1) / at.mtuBytes
	shape := messageShape{bytes: size, packets: packets, answers: 1}
	return &deviceCounters{
		port: at, role: setup.Role, exchange: setup.Exchange, connections: int64(setup.Load.Connections),
		shape: shape, up: setup.Exchange.Stream == contract.StreamUp, pingPong: p.lat && !p.down, both: isLocal(peer),
	}, nil
}

func portAt(address string) (rdmaPort, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return rdmaPort{}, fmt.Errorf("address %q of this end is none of IP", address)
	}
	return portOf("/", ip)
}

// localAddress is the address from which this host reaches another; "" when there is
// no way.
func localAddress(host, port string) string {
	conn, err := net.Dial("udp", net.JoinHostPort(host, port)) // sends nothing
	if err != nil {
		return ""
	}
	own := conn.LocalAddr().(*net.UDPAddr).IP.String()
	_ = conn.Close() // nothing was sent
	return own
}

// isLocal tells whether an address is one of this host's.
func isLocal(address string) bool {
	own, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(own, func(a net.Addr) bool {
		network, ok := a.(*net.IPNet)
		return ok && network.IP.String() == address
	})
}
