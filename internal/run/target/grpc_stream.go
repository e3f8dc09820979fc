package target

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/values"
)

// fitMethod refuses what does not go with the kind of a method. Replies of one that streams
// them are followed.
func (t *Target) fitMethod(m protoreflect.MethodDescriptor) error {
	follows := t.Events.Follow
	t.Events.Follow = m.IsStreamingServer()
	switch {
	case t.Events.Chat:
		return errors.New("--as chat goes with http:// URLs")
	case follows && !m.IsStreamingServer():
		return fmt.Errorf("--stream and --events go with methods whose replies are streams; %s has one reply", path(m))
	case m.IsStreamingServer() && t.bodies != nil && !t.bodies.Matches():
		return fmt.Errorf("--expect %s compares replies whole, and those of %s are streams; expected status, length, or regexp:PATTERN of every message", quantity.Clip(t.Expect, 40), path(m))
	}
	return nil
}

// requests are the serialized messages of a call, whose values text has as JSON: one object,
// or several one after the other where the method streams its requests. source says where the
// text is from.
func requests(text []byte, source string, method protoreflect.MethodDescriptor, types *resolver) ([][]byte, error) {
	if !method.IsStreamingClient() {
		one, err := packed(text, method, types)
		if err != nil {
			return nil, fmt.Errorf("%s does not fit %s: %w", source, method.Input().FullName(), err)
		}
		return [][]byte{one}, nil
	}
	var all [][]byte
	for from := json.NewDecoder(bytes.NewReader(text)); ; {
		var object json.RawMessage
		begin := from.InputOffset()
		err := from.Decode(&object)
		if errors.Is(err, io.EOF) && len(all) > 0 {
			return all, nil
		}
		var message []byte
		if err == nil {
			message, err = packed(object, method, types)
		}
		if err != nil {
			end := from.InputOffset()
			if object == nil {
				end = int64(len(text))
			}
			if _, there := packed(placed(text[:end], begin), method, types); there != nil {
				err = there // which says the line of the whole
			}
			return nil, fmt.Errorf("%s does not fit %s: message %d: %w", source, method.Input().FullName(), len(all)+1, err)
		}
		all = append(all, message)
	}
}

// placed is a text with blanks for what is before an offset, but for the ends of lines.
func placed(text []byte, from int64) []byte {
	text = slices.Clone(text)
	for i := range text[:from] {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
	return text
}

// packed is a message, serialized.
func packed(text []byte, method protoreflect.MethodDescriptor, types *resolver) ([]byte, error) {
	message := dynamicpb.NewMessage(method.Input())
	if err := values.Read(text, message, types); err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(message)
}

// follow makes one call of a method that streams, and returns the bytes of its replies.
func (c *called) follow(ctx context.Context, conn *grpc.ClientConn, ends Events) (n int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	desc := &grpc.StreamDesc{ClientStreams: c.method.IsStreamingClient(), ServerStreams: c.method.IsStreamingServer()}
	options := []grpc.CallOption{grpc.ForceCodecV2(serial{}), grpc.MaxCallRecvMsgSize(contract.MaxMessage)}
	if c.packs {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	stream, err := conn.NewStream(ctx, desc, c.path(), options...)
	if err != nil {
		return 0, err
	}
	go func() { // the server may wait for this end to read
		for _, message := range c.requests {
			if stream.SendMsg(message) != nil {
				return // which receiving explains
			}
		}
		_ = stream.CloseSend() // it never fails
	}()
	var over *time.Timer
	begun := time.Now()
	if desc.ServerStreams {
		over = time.AfterFunc(min(ends.lasts(), deadline/2), cancel)
		defer over.Stop()
	}
	n, err = c.takeReplies(stream, ends.Most, begun)
	c.came.takes = time.Since(begun)
	if at, is := peer.FromContext(stream.Context()); is {
		c.peer = at
	}
	c.came.ended = err == nil && (ends.Most == 0 || c.came.count < ends.Most)
	if desc.ServerStreams && status.Code(err) == codes.Canceled && !over.Stop() {
		err = nil
	}
	if err == nil && c.came.count == 0 {
		err = fmt.Errorf("%s %w: no message within %s", c.path(), errNoEvents, quantity.DurationText(c.came.takes.Round(time.Millisecond)))
	}
	return n, err
}

// takeReplies takes the replies of a call that has begun until the server ends it, or as many
// as most.
func (c *called) takeReplies(from grpc.ClientStream, most int64, begun time.Time) (n int64, err error) {
	c.came = came{kind: messages}
	for most == 0 || c.came.count < most {
		var reply []byte
		if err := from.RecvMsg(&reply); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
		if c.came.count++; c.came.count == 1 {
			c.came.first = time.Since(begun)
		}
		n += int64(len(reply))
		if err := c.takeReply(reply); err != nil || !c.method.IsStreamingServer() {
			return n, err
		}
		if n > contract.MaxMessage {
			return n, fmt.Errorf("%s answers with more than %s; --events N ends a reply sooner", c.path(), quantity.FormatBytes(contract.MaxMessage))
		}
	}
	return n, nil
}

// bodyText is what option body of a client says of the requests.
func (c called) bodyText() string {
	var text []byte
	for i, message := range c.requests {
		if i > 0 {
			text = append(text, '\n')
		}
		text = base64.StdEncoding.AppendEncode(text, message)
	}
	return string(text)
}
