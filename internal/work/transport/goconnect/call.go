package goconnect

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/wire/rpc"
)

// exchange makes one exchange, has judge check the reply's payload, and returns
// the payload's size. One goroutine uses it.
type exchange func(ctx context.Context, judge func(reply []byte) error) (int64, error)

// line is one connection: an http.Client whose http.Transport has no other.
type line struct {
	http *http.Client
	base string // URL without the procedure
}

// caller makes the calls of a trial. Any goroutine may use it.
type caller struct {
	setup      contract.Setup
	settings   settings
	procedures rpc.Methods
	content    *codec.Exchange
}

// exchange returns what makes the calls of one goroutine on one connection; x is the
// slot's own and says what the next one carries.
func (c *caller) exchange(l line, x *codec.Exchange) exchange {
	switch {
	case c.setup.Exchange.Stream == contract.StreamUp:
		return c.streamUp(l)
	case c.setup.Exchange.Stream == contract.StreamDown:
		return c.streamDown(l)
	case c.setup.Exchange.Stream == contract.StreamBoth:
		return c.streamBoth(l)
	case c.content.Structured():
		return c.structured(l)
	}
	return c.block(l, x)
}

// blockClient makes a client of a procedure with Blocks.
func (c *caller) blockClient(l line, procedure rpc.Method) *connect.Client[block, block] {
	return connect.NewClient[block, block](l.http, l.base+procedure.String(), c.settings.client(), connect.WithCodec(blocks{protobuf}))
}

// structured calls a procedure with the trial's own types.
func (c *caller) structured(l line) exchange {
	var (
		judge    func([]byte) error
		received int64
		heard    bool
	)
	decode := func(data []byte) error {
		received, heard = int64(len(data)), true
		return invalid(judge(data))
	}
	m := &messages{blocks: blocks{encodings(c.content.Codec)[0]}, encode: c.content.Request, decode: decode}
	remote := connect.NewClient[structured, structured](l.http, l.base+c.procedures.Unary.String(), c.settings.client(), connect.WithCodec(m))
	return func(ctx context.Context, j func([]byte) error) (int64, error) {
		judge, received, heard = j, 0, false
		_, err := remote.CallUnary(ctx, connect.NewRequest(&structured{}))
		if err == nil && !heard {
			err = decode(nil) // connect passes no empty message of the gRPC protocol to its codec
		}
		return received, err
	}
}

// block calls Unary.
func (c *caller) block(l line, x *codec.Exchange) exchange {
	remote, content := c.blockClient(l, c.procedures.Unary), &block{}
	return func(ctx context.Context, judge func([]byte) error) (int64, error) {
		content.Content, _ = x.Contents()
		request := connect.NewRequest(content)
		if x.Asks() {
			request.Header().Set(codec.DownHeader, strconv.FormatInt(x.DownBytes, 10))
		}
		response, err := remote.CallUnary(ctx, request)
		if err != nil {
			return 0, err
		}
		return judged(response.Msg.GetContent(), judge)
	}
}

// streamUp calls Up: the request in chunks.
func (c *caller) streamUp(l line) exchange {
	remote, chunks := c.blockClient(l, rpc.Up), rpc.NewChunker(c.setup, 0) // the reply is whole
	return func(ctx context.Context, judge func([]byte) error) (_ int64, err error) {
		if chunks.Room, err = c.content.Request(chunks.Room); err != nil {
			return 0, invalid(err)
		}
		stream := remote.CallClientStream(ctx)
		_ = cut(chunks, stream.Send) // CloseAndReceive returns the reason
		response, err := stream.CloseAndReceive()
		if err != nil {
			return 0, err
		}
		return judged(response.Msg.GetContent(), judge)
	}
}

// streamDown calls Down: the reply in chunks, joined in a buffer that the next
// exchange uses again.
func (c *caller) streamDown(l line) exchange {
	remote, chunks := c.blockClient(l, rpc.Down), rpc.NewChunker(c.setup, c.content.DownBytes)
	return func(ctx context.Context, judge func([]byte) error) (_ int64, err error) {
		if chunks.Room, err = c.content.Request(chunks.Room); err != nil {
			return 0, invalid(err)
		}
		stream, err := remote.CallServerStream(ctx, connect.NewRequest(&block{Content: chunks.Room}))
		if err != nil {
			return 0, err
		}
		chunks.Begin()
		for err == nil && stream.Receive() {
			err = chunks.Join(stream.Msg().GetContent())
		}
		closed := stream.Close()
		if err = first(err, stream.Err(), closed); err != nil {
			return 0, err
		}
		return judged(chunks.Joined(), judge)
	}
}

// streamBoth calls Both: chunks up and chunks down. It sends and receives at the
// same time, because a server may reply before it has the whole request, and stop
// reading when its reply is not read.
func (c *caller) streamBoth(l line) exchange {
	remote, chunks := c.blockClient(l, rpc.Both), rpc.NewChunker(c.setup, c.content.DownBytes)
	return func(ctx context.Context, judge func([]byte) error) (_ int64, err error) {
		if chunks.Room, err = c.content.Request(chunks.Room); err != nil {
			return 0, invalid(err)
		}
		stream, sent := remote.CallBidiStream(ctx), make(chan struct{})
		go func() {
			defer close(sent)
			_ = cut(chunks, stream.Send) // Receive returns the reason
			_ = stream.CloseRequest()    // as above
		}()
		chunks.Begin()
		for err == nil {
			var chunk *block
			if chunk, err = stream.Receive(); err == nil {
				err = chunks.Join(chunk.GetContent())
			}
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		closed := stream.CloseResponse()
		<-sent
		if err = first(err, closed); err != nil {
			return 0, err
		}
		return judged(chunks.Joined(), judge)
	}
}

// cut sends the request in the chunker's room. connect has encoded a Block when
// its Send returns.
func cut(c *rpc.Chunker, send func(*block) error) error {
	return c.Cut(c.Room, func(piece []byte) error { return send(c.Block(piece)) })
}

func judged(reply []byte, judge func([]byte) error) (int64, error) {
	return int64(len(reply)), invalid(judge(reply))
}

// first returns the first error that is not nil.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
