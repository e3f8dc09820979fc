package tool

import (
	"fmt"
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/work/wire"
)

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
