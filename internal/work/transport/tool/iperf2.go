package tool

import (
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/work/wire"
)

// Iperf2 is transport iperf2: bulk streams by iperf, version 2, which has a
// thread for each connection at either end, and one for each direction of it
// when both stream.
func Iperf2() Transport {
	return Transport{tool{
		name: "iperf2", doc: "bulk streams by iperf (version 2), server and client, counted by the kernel",
		program: "iperf", debian: "iperf", features: streams,
		refuse: func(setup contract.Setup) error {
			return refuseBulk("iperf2", setup.Exchange, wire.MaxChunk)
		},
		threads: func(setup contract.Setup, _ int) int {
			if setup.Exchange.Stream == contract.StreamBoth {
				return 2 * setup.Load.Connections
			}
			return setup.Load.Connections
		},
		serve: serveBulk,
		drive: iperf2Client,
		read:  readIperf2,
	}}
}

func iperf2Client(setup contract.Setup, f flow) []string {
	args := []string{
		"--client", f.host, "--port", f.port, "--parallel", strconv.Itoa(f.connections),
		"--len", chunkOf(setup.Exchange), "--time", forever, "--reportstyle", "C",
	}
	switch setup.Exchange.Stream {
	case contract.StreamDown:
		args = append(args, "--reverse")
	case contract.StreamBoth:
		args = append(args, "--full-duplex") // both directions of each connection
	}
	if f.source != "" {
		args = append(args, "--bind", f.source)
	}
	return args
}
