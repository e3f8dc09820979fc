package tool

import (
	"fmt"
	"strconv"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Sockperf is transport sockperf: ping-pong over one TCP connection by
// Mellanox's program, whose full log gives the time of every message.
func Sockperf() Transport {
	least, most := float64(time.Second), float64(10*time.Minute)
	return Transport{tool{
		name: "sockperf", doc: "ping-pong over one connection by sockperf, timed by its own log",
		program: "sockperf", debian: "sockperf",
		options: []contract.Option{{
			Name: "duration", Type: contract.TypeDuration, Unit: "ns", Default: int64(30 * time.Second), Min: &least, Max: &most,
			Roles: []contract.Role{contract.Client},
			Doc:   "how long it can run: warm-up, window and 5 s more; it keeps 10 MB of memory for each second",
		}},
		refuse:  refuseSockperf,
		threads: onePerProcess,
		serve: func(_ contract.Setup, host, port string) []string {
			return []string{"server", "--tcp", "--ip", host, "--port", port}
		},
		drive: sockperfClient,
		// sockperf takes some 2 s before it sends, and leaves the first 400 ms and the
		// last 50 ms of sending out of its log. Without rdtsc these times may be five
		// times as long: it then takes clock cycles for nanoseconds.
		ahead:  2500 * time.Millisecond,
		begun:  100,
		linger: 300 * time.Millisecond,
		read:   readSockperf,
	}}
}

func refuseSockperf(setup contract.Setup) error {
	const least, most = 14, 65507 // MIN_PAYLOAD and MAX_PAYLOAD_SIZE of its defs.h
	x := setup.Exchange
	switch {
	case x.UpBytes != x.DownBytes || x.UpBytes < least || x.UpBytes > most:
		return fmt.Errorf("sockperf returns what it sends: request is %d and response %d bytes, expected both equal and %d to %d", x.UpBytes, x.DownBytes, least, most)
	case setup.Load.InFlight > 1:
		return fmt.Errorf("sockperf keeps one message in flight (in_flight is %d)", setup.Load.InFlight)
	case setup.Role == contract.Client && setup.Load.Connections != 1:
		return fmt.Errorf("sockperf plays ping-pong on one connection (connections is %d)", setup.Load.Connections)
	}
	return nil
}

func sockperfClient(setup contract.Setup, f flow) []string {
	duration := time.Duration(load.Options(setup.Options).Int("duration"))
	args := []string{
		"ping-pong", "--tcp", "--ip", f.host, "--port", f.port, "--msg-size", strconv.FormatInt(f.size, 10),
		"--time", strconv.FormatInt(int64((duration+time.Second-1)/time.Second), 10),
		// sockperf's own clock starts in the middle of its start-up. The monotonic clock
		// is that of all other processes here, so that the log needs no alignment.
		"--no-rdtsc",
		"--full-rtt", "--full-log", f.log,
	}
	if f.source != "" {
		args = append(args, "--client_ip", f.source)
	}
	return args
}
