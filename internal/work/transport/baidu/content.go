package baidu

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/netdynov1"
	"netdyno/internal/work/wire/baidustd"
)

// content is what one end's frames carry: what the end sends, and how it checks what it
// receives. A content is not changed after contentOf; any goroutine may use it.
type content struct {
	x        *codec.Exchange
	end      codec.End
	attached bool

	out        any    // encoded in every exchange, as the frame's message; nil for an empty one
	attachment []byte // sent as it is
}

// contentOf returns the content of a trial at one end.
func contentOf(setup contract.Setup, x *codec.Exchange, o load.Options) *content {
	c := &content{x: x, end: x.At(setup.Role), attached: o.Text("payload") == payloadAttachment}
	switch {
	case x.Structured():
		c.out = c.end.Out.Content
	case c.attached:
		c.attachment = c.end.Sent
	default:
		c.out = &netdynov1.Block{Content: c.end.Sent}
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

// accept decodes and checks a frame as an application does. It returns the payload
// bytes; the error says what was wrong.
func (c *content) accept(f baidustd.Frame) (int64, error) {
	message, received, err := c.openFrame(f)
	if err != nil {
		return 0, err
	}
	if message != nil { // a message only has to decode
		return int64(len(f.Message)), nil
	}
	return int64(len(received)), c.end.AcceptBytes(received)
}

// openFrame decodes a frame into a structured message or into content.
func (c *content) openFrame(f baidustd.Frame) (message any, received []byte, err error) {
	if f.Meta.Compression != 0 {
		return nil, nil, fmt.Errorf("its compression is of type %d, expected none", f.Meta.Compression)
	}
	if c.x.Structured() {
		message = c.end.In.New()
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

// verify compares what a client received with the expected content. The error is of
// kind invalid and names the connection.
func (c *content) verify(connection int, f baidustd.Frame) error {
	message, received, err := c.openFrame(f)
	switch {
	case err != nil:
		return load.Failure(contract.Invalid, fmt.Errorf("verify connection %d: the reply: %w", connection, err))
	case message == nil:
		return c.x.Verify(connection, received)
	}
	return c.end.VerifyMessage(connection, message)
}
