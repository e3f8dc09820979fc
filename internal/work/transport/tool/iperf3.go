package tool

import (
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Iperf3 is transport iperf3: bulk streams by ESnet's program. A server takes
// one test at a time, so several clients need as many listeners as connections.
// Before version 3.16 all streams of a process share one thread.
func Iperf3() Transport {
	return Transport{tool{
		name: "iperf3", doc: "bulk streams by iperf3, server and client, counted by the kernel",
		program: "iperf3", debian: "iperf3", features: streams,
		options: []contract.Option{
			{Name: "zerocopy", Type: contract.TypeBool, Default: false, Roles: []contract.Role{contract.Client}, Doc: "send by sendfile (-Z)"},
		},
		refuse: func(setup contract.Setup) error {
			const mostChunk = 1 << 20 // MAX_BLOCKSIZE of iperf.h
			return refuseBulk("iperf3", setup.Exchange, mostChunk)
		},
		threads: onePerProcess,
		serve:   serveBulk,
		drive:   iperf3Client,
		read:    readIperf3, failure: iperf3Error,
	}}
}

func iperf3Client(setup contract.Setup, f flow) []string {
	// One interval, the whole run: others would grow the report by the second.
	args := []string{
		"--client", f.host, "--port", f.port, "--parallel", strconv.Itoa(f.connections),
		"--length", chunkOf(setup.Exchange), "--time", forever, "--interval", "0", "--json",
	}
	switch setup.Exchange.Stream {
	case contract.StreamDown:
		args = append(args, "--reverse")
	case contract.StreamBoth:
		args = append(args, "--bidir") // a connection for each direction
	}
	if f.source != "" {
		args = append(args, "--bind", f.source)
	}
	if load.Options(setup.Options).Bool("zerocopy") {
		args = append(args, "--zerocopy")
	}
	return args
}
