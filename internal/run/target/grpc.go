package target

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"netdyno/internal/input"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
	"netdyno/internal/values"
)

// mostRequest bounds a serialized request, which travels in base64.
const mostRequest = 32 << 20

// mostDecoded bounds the replies that are decoded to see whether they are of their type:
// a message takes up to some hundred times the memory of its bytes.
const mostDecoded = 1 << 20

// askGRPC asks a method of a gRPC server, encrypted or not. The request is
// serialized here, once: the client of a trial sends its bytes, so that a stored run
// needs neither the server's reflection nor a .proto to be repeated.
func askGRPC(ctx context.Context, t Target, u *url.URL) (Found, error) {
	packed := packing{asked: t.asked}
	conn, err := t.connect(ctx, u, grpc.WithStatsHandler(&packed))
	if err != nil {
		return Found{}, err
	}
	defer func() { _ = conn.Close() }() // nothing is left to be sent
	limit, err := t.callDeadline()
	if err != nil {
		return Found{}, err
	}
	if ctx, err = t.withMetadata(ctx); err != nil {
		return Found{}, err
	}
	var types *typeSource
	var takes []time.Duration
	if err := t.timed(ctx, &takes, func(ctx context.Context) (err error) {
		types, err = t.types(ctx, conn, u)
		return err
	}); err != nil {
		return Found{}, err
	}
	method, err := types.method(u)
	if err != nil {
		return Found{}, err
	}
	if err := t.fitMethod(method); err != nil {
		return Found{}, err
	}
	resolver := types.resolver()
	requests, err := t.serialized(ctx, method, resolver)
	if err != nil {
		return Found{}, err
	}
	c := called{url: u, check: t.checkBody, method: method, types: resolver, requests: requests, packs: t.Packed, ends: t.Events, deadline: limit, packing: &packed}
	takes = nil
	for met := (sample{most: t.MaxErrors}); met.wants() && !(t.Events.Follow && met.good > 0); {
		if err := t.timed(ctx, &takes, func(ctx context.Context) error {
			n, err := c.call(ctx, conn)
			if err == nil {
				c.lengths = append(c.lengths, n)
			}
			return err
		}); err == nil {
			met.good++
		} else if !t.passing(err) {
			return Found{}, err
		} else if err = met.failed(err); err != nil {
			return Found{}, err
		}
	}
	f, err := c.found(t)
	if err != nil {
		return Found{}, err
	}
	f.took(median(takes), c.came)
	return f, t.addExpected(&f, c.lengths)
}

// withMetadata adds the user's headers to calls.
func (t Target) withMetadata(ctx context.Context) (context.Context, error) {
	fields, err := t.fields()
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		name, value := strings.ToLower(f.Name), f.Value
		if name == timeoutHeader {
			continue // callDeadline has it, and the library sends it
		}
		if name == "grpc-encoding" || name == "grpc-accept-encoding" {
			return nil, fmt.Errorf("header %q is gRPC's own: --compressed packs requests by gzip, upon which most servers pack their replies", name)
		}
		if strings.HasPrefix(name, "grpc-") || name == "content-type" || name == "te" || name == "user-agent" {
			return nil, fmt.Errorf("header %q is gRPC's own, and a client cannot set it", quantity.Clip(name, 80))
		}
		if strings.HasSuffix(name, "-bin") {
			decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "=")) // padded or not
			if err != nil {
				return nil, fmt.Errorf("header %q: a name that ends in -bin has a value in base64", quantity.Clip(name, 80))
			}
			value = string(decoded)
		}
		ctx = metadata.AppendToOutgoingContext(ctx, name, value)
	}
	return ctx, nil
}

// serialized makes the messages of a request of the values that the user gave; without any
// it is the empty message.
func (t Target) serialized(ctx context.Context, method protoreflect.MethodDescriptor, types *resolver) ([][]byte, error) {
	text, source := []byte(t.Data), "--data"
	switch {
	case t.Data == "":
		text = []byte("{}")
	case !strings.HasPrefix(strings.TrimSpace(t.Data), "{"):
		source = strings.TrimPrefix(t.Data, "@")
		var err error
		if text, err = input.Within(ctx, values.MaxBytes)(source); err != nil {
			return nil, fmt.Errorf("--data: expected JSON such as {\"id\": 7}, or a file that holds it: %w", err)
		}
	}
	text = []byte(t.Fill.plain(string(text), inJSON))
	all, err := requests(text, source, method, types)
	if n := bytesOf(all); n > mostRequest {
		return nil, fmt.Errorf("the request has %d bytes, expected at most %d, which a run by URL can carry", n, mostRequest)
	}
	return all, err
}

// bytesOf is how long messages are together.
func bytesOf(all [][]byte) (n int64) {
	for _, message := range all {
		n += int64(len(message))
	}
	return n
}

// called is a method, how it is called, and the lengths of its replies.
type called struct {
	url      *url.URL
	method   protoreflect.MethodDescriptor
	types    *resolver
	requests [][]byte // one message, or those of a stream
	lengths  []int64
	check    func(reply []byte) error
	peer     *peer.Peer // of the last call
	packs    bool       // requests, by gzip
	ends     Events     // of streams of replies
	came     came       // … of the last call

	deadline time.Duration // of a call, which the server is told; 0 for none
	packing  *packing
}

// path is the method's as a call names it.
func (c called) path() string { return path(c.method) }

// call makes one call and returns the reply's length.
func (c *called) call(ctx context.Context, conn *grpc.ClientConn) (int64, error) {
	if c.deadline > 0 {
		within, cancel := context.WithTimeoutCause(ctx, c.deadline, errLate)
		defer cancel()
		ctx = within
	}
	n, err := c.follow(ctx, conn, c.ends)
	if _, is := status.FromError(err); err == nil || !is {
		return n, err
	}
	if errors.Is(context.Cause(ctx), errLate) || c.deadline > 0 && status.Code(err) == codes.DeadlineExceeded {
		return 0, fmt.Errorf("%s did not answer within its deadline of %v (%s)", c.path(), c.deadline, timeoutHeader)
	}
	return 0, answered(ctx, c.url, c.path(), err)
}

// takeReply checks a message that came.
func (c *called) takeReply(reply []byte) error {
	if len(reply) > mostDecoded {
		return nil
	}
	if err := proto.Unmarshal(reply, dynamicpb.NewMessage(c.method.Output())); err != nil {
		return fmt.Errorf("the reply of %s is no %s, as %s has it: its %d bytes do not decode", c.path(), c.method.Output().FullName(), c.types.origin, len(reply))
	}
	return c.check(reply)
}

// wireGRPC is the wire that calls are measured on.
const wireGRPC = "grpc:netdyno.v1"

// found turns what the calls brought into levels.
func (c called) found(t Target) (Found, error) {
	last := c.lengths[len(c.lengths)-1]
	length := fmt.Sprintf("%d bytes", last)
	for _, n := range c.lengths {
		if n != last {
			length = "replies of different lengths"
		}
	}
	own := t.goAlone(wireGRPC, c.url.Scheme == "grpcs", len(t.to))
	if c.deadline > 0 || c.packing.packed || c.packs {
		own = "keeps a deadline, packs and unpacks"
	}
	kind := streams(c.method)
	if kind != "" {
		own = "calls streams"
	}
	client := t.client(wireGRPC, c.url.Scheme == "grpcs", own, "go-grpc")
	levels := map[string]string{
		"server": "address", "client": client, "opt.server.address": t.address(c.url), "opt.server.wire": wireGRPC,
		"request": size(bytesOf(c.requests)), "response": size(last),
		"opt.client.method": c.path(), "opt.client.codec": "raw",
	}
	t.Headers = slices.DeleteFunc(slices.Clone(t.Headers), isTimeout)
	f := Found{Levels: levels, Texts: map[string]study.Carried{}, why: which(own)}
	f.text("body", c.bodyText(), len(t.Fill) > 0)
	setter(levels)("method_streams", string(kind))
	if err := t.addNames(c.url, &f); err != nil {
		return f, err
	}
	words := []string{"gRPC OK", length + " of " + string(c.method.Output().FullName()), "types by " + c.types.origin}
	if t.Events.Follow {
		words = append(words, t.addEvents(&f, c.came))
	}
	if len(c.requests) > 1 {
		words[1] += fmt.Sprintf(" for %d messages in turn", len(c.requests))
	}
	if c.packs {
		levels["opt.client.compression"] = gzip.Name
		words = append(words, "requests packed by gzip")
	}
	if c.packing.packed {
		levels["opt.client.packed_replies"] = "yes"
		words[1] += " packed by gzip"
	}
	if c.deadline > 0 {
		setter(levels)("deadline", c.deadline.String())
		words = append(words, fmt.Sprintf("a deadline of %v", c.deadline))
	}
	if c.url.Scheme == "grpcs" {
		t.addTrust(c.url, levels)
		words[0] += " by TLS"
	}
	if c.path() != "/"+strings.Trim(c.url.Path, "/") {
		words = append([]string{c.path()}, words...)
	}
	f.Name, f.Words, f.At = c.url.Host+"/"+string(c.method.Name()), strings.Join(words, ", "), reached(c.peer.Addr)
	return f, nil
}

// timeoutHeader carries the deadline of a call, as the gRPC protocol has it.
const timeoutHeader = "grpc-timeout"

// errLate is the cause of a call's end at the deadline that the user gave.
var errLate = errors.New("the deadline of the call has passed")

// timeoutUnits are those of timeoutHeader. Source: gRPC over HTTP2 (PROTOCOL-HTTP2.md),
// TimeoutUnit.
var timeoutUnits = map[byte]time.Duration{
	'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond,
}

// isTimeout tells whether a header of the user's is timeoutHeader.
func isTimeout(header string) bool {
	name, _, _ := strings.Cut(header, ":")
	return strings.EqualFold(strings.TrimSpace(name), timeoutHeader)
}

// callDeadline is the deadline that the user's metadata gives each call; 0 for none.
func (t Target) callDeadline() (limit time.Duration, err error) {
	const mostDigits = 8
	for _, h := range t.Headers {
		if !isTimeout(h) {
			continue
		}
		_, value, _ := strings.Cut(h, ":")
		value = strings.TrimSpace(value)
		bad := fmt.Errorf("header %q: expected at most %d digits and a unit, one of H M S m u n: %s: 200m is 200 ms", quantity.Clip(h, 80), mostDigits, timeoutHeader)
		if value == "" {
			return 0, bad
		}
		digits, unit := value[:len(value)-1], timeoutUnits[value[len(value)-1]]
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || unit == 0 || n == 0 || len(digits) > mostDigits {
			return 0, bad
		}
		limit = time.Duration(n) * unit
	}
	return limit, nil
}

// packing learns whether a server packs its replies, and counts the requests. The library
// calls it on the goroutine that makes the call.
type packing struct {
	packed bool
	asked  *atomic.Int64
}

// TagRPC implements stats.Handler.
func (*packing) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (p *packing) HandleRPC(_ context.Context, s stats.RPCStats) {
	switch s := s.(type) {
	case *stats.InPayload:
		p.packed = s.CompressedLength != s.Length
	case *stats.OutHeader:
		p.asked.Add(1)
	}
}

// TagConn implements stats.Handler.
func (*packing) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (*packing) HandleConn(context.Context, stats.ConnStats) {}
