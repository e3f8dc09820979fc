package goconnect

import (
	"context"
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
	setup     contract.Setup
	settings  settings
	procedure rpc.Method
	content   *codec.Exchange
}

// exchange returns what makes the calls of one goroutine on one connection; x is the
// slot's own and says what the next one carries.
func (c *caller) exchange(l line, x *codec.Exchange) exchange {
	if c.content.Structured() {
		return c.structured(l)
	}
	return c.block(l, x)
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
	remote := connect.NewClient[structured, structured](l.http, l.base+c.procedure.String(), c.settings.client(), connect.WithCodec(m))
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
	remote := connect.NewClient[block, block](l.http, l.base+c.procedure.String(), c.settings.client(), connect.WithCodec(blocks{protobuf}))
	content := &block{}
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
		reply := response.Msg.GetContent()
		return int64(len(reply)), invalid(judge(reply))
	}
}
