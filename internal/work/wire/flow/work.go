package flow

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Features are those of a transport that speaks wires echo and stream.
func Features() []contract.Feature {
	return append([]contract.Feature{contract.FeatureStreamUp, contract.FeatureStreamDown, contract.FeatureStreamBoth}, EchoFeatures()...)
}

// EchoFeatures are those of a transport that speaks wire echo alone.
func EchoFeatures() []contract.Feature {
	return []contract.Feature{
		contract.FeatureSizes, contract.FeatureArrivals, contract.FeatureTurns, contract.FeatureMixedTurns, contract.FeatureMix, contract.FeatureTrace, contract.FeatureThink, contract.FeatureTimes,
		contract.FeatureWorkCPU, contract.FeatureWorkSleep,
	}
}

// Work is what a trial asks of its connections: which bytes are sent each way, and how
// many a server may send for those it has received. Any goroutine may use it.
type Work struct {
	Up, Down Content         // of the largest message, where sizes vary
	stream   contract.Stream // empty on wire echo
	draws    *load.Draws     // nil where all messages are of one size
	service  *load.Service   // of a server: what it does for each exchange; nil is nothing
	flows    atomic.Int64    // that were made
	replies  wire.Messages
	tells    bool      // a client's: when those come
	every    int64     // a server's: from the start of one to that of the next, in ns; 0 for at once
	pace     load.Pace // where the caller may sleep for it

	upSum, downSum uint32
}

// NewWork reads setup.exchange. The error is of kind setup.
func NewWork(setup contract.Setup) (*Work, error) {
	x := setup.Exchange
	w := &Work{stream: x.Stream, replies: wire.MessagesOf(x), tells: setup.Events || setup.Stages, every: x.EveryNs}
	draws, err := load.DrawsOf(setup)
	if err != nil {
		return nil, err
	}
	if draws.Vary() {
		w.draws = draws
	}
	if w.service, err = load.ServiceOf(setup); err != nil {
		return nil, err
	}
	if w.draws != nil && w.service != nil {
		return nil, load.Failure(contract.Unsupported,
			errors.New("work is given and sizes vary: a server of wire echo does not see where a message ends, which begins its work"))
	}
	if w.draws != nil && x.Stream != "" {
		return nil, load.Failure(contract.Unsupported,
			errors.New("exchange.up_sizes or down_sizes is given: wire stream has no headers by which messages of several sizes could be told apart"))
	}
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
	if err := w.spread(setup); err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	w.upSum, w.downSum = w.Up.Sum(), w.Down.Sum()
	return w, nil
}

// ContentOption declares where an end of wire stream sends from.
func ContentOption() contract.Option {
	return contract.Option{
		Name: content, Type: contract.TypeChoice, Default: "block", Choices: []string{"block", "stream"},
		Doc: "wire stream, where an end sends from: block, one chunk again and again, which stays in the cache; stream, the same bytes from a fresh part of 256 MiB each time, as a program's own data are. Chunks below 4 KiB stay one block",
	}
}

const content = "content"

// Spreads reports whether option content asks for it.
func Spreads(setup contract.Setup) bool { return setup.Options[content] == "stream" }

// spread does what option content asks for with what this end sends.
func (w *Work) spread(setup contract.Setup) error {
	switch {
	case !Spreads(setup):
		return nil
	case !w.Streams():
		return errors.New("option content is stream, which only wire stream has; expected block, or a stream")
	case setup.Role == contract.Client:
		return w.Up.Spread()
	}
	return w.Down.Spread()
}

// streamSizes checks the sizes of an exchange on wire stream and returns that of
// its chunks.
func streamSizes(x contract.Exchange) (chunk int64, err error) {
	chunk = x.ChunkBytes
	if chunk == 0 {
		chunk = wire.DefaultChunk
	}
	switch {
	case x.Stream != contract.StreamUp && x.Stream != contract.StreamDown && x.Stream != contract.StreamBoth:
		return 0, fmt.Errorf("exchange.stream is %q, expected up, down or both", x.Stream)
	case x.UpBytes < 1 || x.UpBytes > contract.MaxMessage || x.DownBytes < 1 || x.DownBytes > contract.MaxMessage:
		return 0, fmt.Errorf("exchange is %d bytes up and %d down, expected 1 to %d each way on wire stream", x.UpBytes, x.DownBytes, contract.MaxMessage)
	case chunk < 1 || chunk > wire.MaxChunk:
		return 0, fmt.Errorf("exchange.chunk_bytes is %d, expected 1 to %d", x.ChunkBytes, wire.MaxChunk)
	}
	return chunk, nil
}

// Draw makes l draw sizes as the wire has them: an echo is as long as its request.
func (w *Work) Draw(l *load.Load) {
	if w.draws != nil {
		l.Echoes()
	}
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

// messages are those of a reply of so many bytes: a stream's, or one.
func (w *Work) messages(down int64) wire.Messages {
	if w.draws != nil {
		return wire.Messages{Size: down, Down: down}
	}
	return w.replies
}

// ReadBuffer is the read buffer of a connection whose user sets none: the size of
// what comes, within bounds.
func (w *Work) ReadBuffer(role contract.Role) int64 {
	least, most, comes := int64(4<<10), int64(64<<10), w.Up.Bytes
	if role == contract.Client {
		least, comes = 512, w.Down.Bytes // a client knows what comes
	}
	if w.Streams() {
		most = 128 << 10
	}
	return min(max(comes, least), most)
}

// concurrent reports whether one exchange must be sent and received at the same
// time. An echo that is larger than the socket buffers would otherwise wait for
// itself.
func (w *Work) concurrent() bool {
	return w.BothWays() || !w.Streams() && w.Up.Bytes > 256<<10
}

// Counts sums up what a server's flows moved. On wire echo a server does not see
// where messages end, so its exchanges follow from the bytes that it sent back.
func (w *Work) Counts(traffic ...*Traffic) contract.Counts {
	var counts contract.Counts
	for _, t := range traffic {
		t.addTo(&counts)
	}
	w.complete(&counts)
	return counts
}

func (w *Work) complete(counts *contract.Counts) {
	if !w.Streams() && w.draws == nil {
		counts.Exchanges = counts.SentBytes / w.Up.Bytes
	}
}

// first returns what the first exchange of connection i sends, and what a client checks
// the answer with.
func (w *Work) first(i int) (up *Content, down Verifier) {
	if w.draws == nil {
		return &w.Up, Verifier{content: &w.Down, want: w.downSum}
	}
	x := w.Up
	x.Bytes = w.draws.Of(uint64(i)).Up
	return &x, Verifier{content: &x, want: x.Sum()}
}

// verifyUp returns what a server of wire stream checks the first message up with.
func (w *Work) verifyUp() Verifier { return Verifier{content: &w.Up, want: w.upSum} }

// Echo is the wire's name: a message of fixed size goes up, and the same bytes
// come back, in order. Its transports also speak wire stream where
// setup.exchange.stream is set.
const Echo = "echo"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// echoPayload returns the message that every connection of a trial sends. It is
// random, so that nothing can compress it, and the same for every arm.
func echoPayload(setup contract.Setup) ([]byte, error) {
	x := setup.Exchange
	if x.UpBytes < 1 || x.UpBytes > contract.MaxMessage {
		return nil, load.Failure(contract.SetupFailed,
			fmt.Errorf("exchange.up_bytes is %d, expected 1 to %d on wire echo", x.UpBytes, contract.MaxMessage))
	}
	if x.UpSizes.Least() < 1 && len(x.UpSizes) > 0 {
		return nil, load.Failure(contract.SetupFailed, errors.New("exchange.up_sizes has messages of 0 bytes, expected at least 1 on wire echo"))
	}
	if x.DownBytes != x.UpBytes || !slices.Equal(x.DownSizes, x.UpSizes) {
		return nil, load.Failure(contract.SetupFailed,
			fmt.Errorf("exchange is %d bytes up and %d down; wire echo returns what it is sent", x.UpBytes, x.DownBytes))
	}
	payload := make([]byte, x.UpBytes)
	var key [32]byte
	for i := range 8 {
		key[i] = byte(setup.Seed >> (8 * i))
	}
	if _, err := rand.NewChaCha8(key).Read(payload); err != nil {
		return nil, fmt.Errorf("draw payload: %w", err) // ChaCha8 never fails
	}
	return payload, nil
}
