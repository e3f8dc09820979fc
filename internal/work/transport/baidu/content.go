package baidu

import (
	"errors"
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/netdynov1"
	"netdyno/internal/work/wire/baidustd"
)

// content is what one end's frames carry: what it sends, and what it makes of
// what comes. It is not changed after contentOf; any goroutine may use it.
type content struct {
	x        *codec.Exchange
	attached bool

	out        any    // encoded in every exchange, as the frame's message; nil for an empty one
	attachment []byte // sent as it is

	in      func() any         // a new structured message to decode into
	same    func(any) bool     // whether such a message is the one that had to come
	accepts func([]byte) error // of codec bytes
}

// contentOf returns the content of a trial at one end.
func contentOf(setup contract.Setup, x *codec.Exchange, o load.Options) *content {
	c := &content{x: x, attached: o.Text("payload") == payloadAttachment}
	atServer := setup.Role == contract.Server
	in, out := x.Down, x.Up
	if atServer {
		in, out = x.Up, x.Down
	}
	if x.Structured() {
		c.out, c.in, c.same = out.Content, in.New, in.Same
		return c
	}
	c.accepts = x.Accept
	up, down := x.Contents()
	sent := up
	if atServer {
		sent = down
		c.accepts = func(request []byte) error {
			_, err := x.Respond(nil, request)
			return err
		}
	}
	if c.attached {
		c.attachment = sent
	} else {
		c.out = &netdynov1.Block{Content: sent}
	}
	return c
}

// encode appends the frame's message to dst.
func (c *content) encode(dst []byte) ([]byte, error) {
	if c.out == nil {
		return dst, nil
	}
	return codec.Encode(codec.Proto{}, dst, c.out)
}

// accept takes what came as an application does: the message decoded, the
// content whole. It returns the payload bytes; the error says what was wrong.
func (c *content) accept(f baidustd.Frame) (int64, error) {
	message, received, err := c.open(f)
	if err != nil {
		return 0, err
	}
	if message != nil { // that it decodes is all that is asked of it
		return int64(len(f.Message)), nil
	}
	return int64(len(received)), c.accepts(received)
}

// open decodes a frame into a structured message or into content.
func (c *content) open(f baidustd.Frame) (message any, received []byte, err error) {
	if f.Meta.Compression != 0 {
		return nil, nil, fmt.Errorf("its compression is of type %d, expected none", f.Meta.Compression)
	}
	if c.x.Structured() {
		message = c.in()
		if err := codec.Decode(codec.Proto{}, f.Message, message); err != nil {
			return nil, nil, fmt.Errorf("decode it: %w", err)
		}
		return message, nil, nil
	}
	var block netdynov1.Block
	if err := codec.Decode(codec.Proto{}, f.Message, &block); err != nil {
		return nil, nil, fmt.Errorf("decode it: %w", err)
	}
	inside := block.GetContent()
	switch {
	case c.attached && len(inside) > 0:
		return nil, nil, fmt.Errorf("its content of %d bytes came in the message, expected it as attachment; give both ends the same option payload", len(inside))
	case !c.attached && len(f.Attachment) > 0:
		return nil, nil, fmt.Errorf("its content of %d bytes came as attachment, expected it in the message; give both ends the same option payload", len(f.Attachment))
	case c.attached:
		return nil, f.Attachment, nil
	}
	return nil, inside, nil
}

// verify compares what a client received with what had to come. The error is of
// kind invalid and names the connection.
func (c *content) verify(connection int, f baidustd.Frame) error {
	message, received, err := c.open(f)
	switch {
	case err != nil:
		err = fmt.Errorf("the reply: %w", err)
	case message == nil:
		return c.x.Verify(connection, received)
	case !c.same(message):
		err = errors.New("the message that came has other values than the one that was to come")
	}
	if err != nil {
		return load.Failure(contract.Invalid, fmt.Errorf("verify connection %d: %w", connection, err))
	}
	return nil
}
