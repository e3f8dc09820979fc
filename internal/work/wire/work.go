package wire

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Bounds on the chunks of wire stream, in bytes.
const (
	DefaultChunk = 64 << 10
	MaxChunk     = 64 << 20
)

// Features are those of a transport that speaks wires echo and stream.
func Features() []contract.Feature {
	return []contract.Feature{contract.FeatureStreamUp, contract.FeatureStreamDown, contract.FeatureStreamBoth}
}

// Work is what one trial asks of the connections of wire echo, or of wire stream
// where setup.exchange.stream is set: what is sent, and what is owed for it.
// Any goroutine may use it.
type Work struct {
	Up, Down Content
	stream   contract.Stream // empty: wire echo

	upSum, downSum uint32
}

// NewWork reads setup.exchange. The error is of kind setup.
func NewWork(setup contract.Setup) (*Work, error) {
	x := setup.Exchange
	w := &Work{stream: x.Stream}
	if x.Stream == "" {
		payload, err := echoPayload(setup)
		if err != nil {
			return nil, err
		}
		w.Up = Content{Bytes: x.UpBytes, Block: payload}
		w.Down = w.Up
	} else {
		chunk, err := streamSizes(x)
		if err != nil {
			return nil, load.Failure(contract.SetupFailed, err)
		}
		w.Up, w.Down = streamContent(x.UpBytes, chunk, 1), streamContent(x.DownBytes, chunk, 2)
	}
	w.upSum, w.downSum = w.Up.Sum(), w.Down.Sum()
	return w, nil
}

// streamSizes checks the sizes of an exchange on wire stream and returns that of
// its chunks.
func streamSizes(x contract.Exchange) (chunk int64, err error) {
	chunk = x.ChunkBytes
	if chunk == 0 {
		chunk = DefaultChunk
	}
	switch {
	case x.Stream != contract.StreamUp && x.Stream != contract.StreamDown && x.Stream != contract.StreamBoth:
		return 0, fmt.Errorf("exchange.stream is %q, expected up, down or both", x.Stream)
	case x.UpBytes < 1 || x.UpBytes > MaxMessage || x.DownBytes < 1 || x.DownBytes > MaxMessage:
		return 0, fmt.Errorf("exchange is %d bytes up and %d down, expected 1 to %d each way on wire stream", x.UpBytes, x.DownBytes, MaxMessage)
	case chunk < 1 || chunk > MaxChunk:
		return 0, fmt.Errorf("exchange.chunk_bytes is %d, expected 1 to %d", x.ChunkBytes, MaxChunk)
	}
	return chunk, nil
}

// Streams reports whether the trial is one of wire stream.
func (w *Work) Streams() bool { return w.stream != "" }

// BothWays reports whether bytes of one exchange travel in both directions at
// the same time.
func (w *Work) BothWays() bool { return w.stream == contract.StreamBoth }

// Owed returns how many bytes the server may have sent on a connection when up
// bytes have come to it: all that it owes, and not one more.
func (w *Work) Owed(up int64) int64 {
	if w.stream == "" {
		return up
	}
	owed := up / w.Up.Bytes * w.Down.Bytes
	if w.stream == contract.StreamBoth && up%w.Up.Bytes > 0 {
		owed += w.Down.Bytes - 1 // the last byte says that all has come
	}
	return owed
}

// Exchanges returns how many exchanges a server has completed on a connection:
// on wire echo, where it sees no end of a message, as many as came.
func (w *Work) Exchanges(received, sent int64) int64 {
	if w.stream == "" {
		return received / w.Up.Bytes
	}
	return sent / w.Down.Bytes
}

// TrialDown returns what a client checks the first message of a connection with.
func (w *Work) TrialDown() Trial { return Trial{content: &w.Down, want: w.downSum} }

// TrialUp returns the same for a server of wire stream.
func (w *Work) TrialUp() Trial { return Trial{content: &w.Up, want: w.upSum} }
