package gogrpc

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // registers compression=gzip
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/rpc"
)

// The library's own values, which the options' defaults repeat.
const (
	defaultBuffer     = 32 << 10
	defaultMaxMessage = 4 << 20
	defaultTable      = 4 << 10 // RFC 9113, SETTINGS_HEADER_TABLE_SIZE
	leastWindow       = 1<<16 - 1
)

var (
	none, most     = 0.0, float64(1 << 30)
	onlyServer     = []contract.Role{contract.Server}
	onlyClient     = []contract.Role{contract.Client}
	mostStreams    = float64(math.MaxUint32)
	mostWorkers    = 65536.0
	mostWindow     = float64(math.MaxInt32)
	mostMaxMessage = float64(math.MaxInt32)
)

// bufferGrid are the sizes of buffers that are worth trying.
var bufferGrid = []string{"0B", "128KiB", "512KiB"}

// options declares what a study may set. Options without roles exist at both
// ends, which may have different values. The defaults are the library's.
//
// Every window that is given is static: the library knows no other way.
var options = append([]contract.Option{
	{Name: "mode", Type: contract.TypeChoice, Default: "unary", Choices: []string{"unary", "stream"},
		Doc: "unary: one RPC for each exchange; stream: one bidirectional stream for each slot, with one message each way for each exchange; at the server, the kind of the method that option method names"},
	{Name: "codec", Type: contract.TypeChoice, Default: "proto", Choices: []string{"proto", "raw"},
		Doc: "how codec bytes is sent: proto, in a protobuf Block; raw, as the message itself, received into one contiguous pooled buffer; give both ends the same. For a service of your own it is the serialized message"},
	rpc.MethodOption("full name (/package.Service/Method) of the method for a message of your own; any other than the default carries all messages, for a server or client of your own"),
	{Name: "max_message", Type: contract.TypeBytes, Default: 0, Min: &none, Max: &mostMaxMessage,
		Doc: "largest message this end receives; 0 takes the library's 4 MiB, raised to what the exchange needs"},
	{Name: "write_buffer", Type: contract.TypeBytes, Default: defaultBuffer, Min: &none, Max: &most,
		Doc:  "bytes gathered before a write to the socket; 0 writes frame by frame",
		Grid: bufferGrid, As: map[contract.Role]string{contract.Server: "grpc.WriteBufferSize({value})", contract.Client: "grpc.WithWriteBufferSize({value})"}},
	{Name: "read_buffer", Type: contract.TypeBytes, Default: defaultBuffer, Min: &none, Max: &most,
		Doc:  "bytes asked of the socket in one read; 0 reads frame by frame",
		Grid: bufferGrid, As: map[contract.Role]string{contract.Server: "grpc.ReadBufferSize({value})", contract.Client: "grpc.WithReadBufferSize({value})"}},
	{Name: "shared_write_buffer", Type: contract.TypeBool, Default: true,
		Doc:  "a connection with nothing to write returns its write buffer to a pool; false keeps one for each connection",
		Grid: []string{"no"}, As: map[contract.Role]string{contract.Server: "grpc.SharedWriteBuffer({value})", contract.Client: "grpc.WithSharedWriteBuffer({value})"}},
	{Name: "window", Type: contract.TypeBytes, Default: 0, Min: &none, Max: &mostWindow,
		Doc: "static flow-control window of a stream, at least 65535; 0 lets the library follow the link's bandwidth-delay product. Without connection_window, that window is 65535 and throttles the whole connection"},
	{Name: "connection_window", Type: contract.TypeBytes, Default: 0, Min: &none, Max: &mostWindow,
		Doc: "static flow-control window of a connection, at least 65535; 0 as for window. Without window, each stream's window is 65535"},
	{Name: "buffer_pool", Type: contract.TypeChoice, Default: "default", Choices: []string{"default", "tiered", "none"},
		Doc:  "where message buffers come from: the library's pool, without a tier above 1 MiB; tiered up to 8 MiB; none allocates each",
		Grid: []string{"tiered"}, As: map[contract.Role]string{contract.Server: "experimental.BufferPool of mem.NewTieredBufferPool", contract.Client: "experimental.WithBufferPool of mem.NewTieredBufferPool"}},
	{Name: "stream_workers", Type: contract.TypeInt, Default: 0, Min: &none, Max: &mostWorkers, Roles: onlyServer,
		Doc:  "goroutines that serve RPCs; 0 starts one for each RPC",
		Grid: []string{"4", "64"}, As: map[contract.Role]string{contract.Server: "grpc.NumStreamWorkers({value})"}},
	{Name: "max_concurrent_streams", Type: contract.TypeInt, Default: 0, Min: &none, Max: &mostStreams, Roles: onlyServer,
		Doc: "RPCs at once on a connection; others wait in the client; 0 sets no limit"},
	{Name: "header_table", Type: contract.TypeBytes, Default: defaultTable, Min: &none, Max: &most, Roles: onlyServer,
		Doc: "size of HPACK's table of header fields"},
	{Name: "compression", Type: contract.TypeChoice, Default: "none", Choices: []string{"none", "gzip"}, Roles: onlyClient,
		Doc: "compression of requests and of their replies"},
}, askOptions()...)

// effective returns the options with the values that apply where none was given:
// windows, limit and method. The error is of kind setup for a value that the
// library would ignore, unsupported for options that contradict the exchange.
func effective(setup contract.Setup, x *codec.Exchange) (load.Options, error) {
	o := load.Options(maps.Clone(setup.Options))
	for _, name := range []string{"window", "connection_window"} {
		if n := o.Int(name); n > 0 && n < leastWindow {
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf(
				"option %s is %d, expected 0 (dynamic) or at least %d: the library ignores a smaller one", name, n, leastWindow))
		}
	}
	if o.Int("window") > 0 || o.Int("connection_window") > 0 {
		o["window"] = max(o.Int("window"), leastWindow)
		o["connection_window"] = max(o.Int("connection_window"), leastWindow)
	}
	if o.Int("max_message") == 0 {
		o["max_message"] = max(defaultMaxMessage, largest(setup, x))
		if setup.Role == contract.Client && wire.AnyLength(o.Text("verify")) {
			o["max_message"] = int64(contract.MaxMessage)
		}
	}
	switch streamed := setup.Exchange.Stream != ""; {
	case streamed && x.Varies():
		return nil, load.Failure(contract.Unsupported, fmt.Errorf(
			"exchange.stream is %q with sizes that vary: messages of several sizes travel whole", setup.Exchange.Stream))
	case x.Asks() && o.Text("mode") == "stream":
		return nil, load.Failure(contract.Unsupported, errors.New(
			"option mode is stream with down sizes that vary: a request says how long its reply is to be by metadata, which a stream has once"))
	case streamed && o.Text("mode") == "stream":
		return nil, load.Failure(contract.Unsupported, fmt.Errorf(
			"option mode is stream, one message each way, and exchange.stream is %q, chunks: set one of them", setup.Exchange.Stream))
	case x.Structured() && o.Text("codec") == "raw":
		return nil, load.Failure(contract.Unsupported, fmt.Errorf(
			"option codec is raw and exchange.codec is %s: raw carries codec bytes alone", x.Codec.Name()))
	case setup.Events && o.Text("mode") == "stream":
		return nil, load.Failure(contract.Unsupported, errors.New(
			"option mode is stream, one message each way, and setup.events asks when the parts of replies come: expected mode=unary or exchange.stream"))
	case streamed && o.Text("method") != rpc.Own.String():
		return nil, load.Failure(contract.Unsupported, errors.New("option method is given and exchange.stream too: chunks travel by Up, Down and Both alone"))
	}
	return o, nil
}

// largest returns a bound on the messages that this end receives, as the library
// measures them: encoded, and compressed where that makes them no smaller.
func largest(setup contract.Setup, x *codec.Exchange) int64 {
	content, direction := x.At(setup.Role).InBytes, contract.StreamUp
	if setup.Role == contract.Client {
		direction = contract.StreamDown
	}
	if s := setup.Exchange.Stream; s == direction || s == contract.StreamBoth {
		content = min(content, rpc.ChunkBytes(setup))
	}
	return content + content>>10 + 64
}

// dialOptions turns options into the library's. Options with the library's own
// value are left out, because setting them costs allocations in every call.
func dialOptions(o load.Options, f payload) []grpc.DialOption {
	var calls []grpc.CallOption
	if n := o.Int("max_message"); n != defaultMaxMessage {
		calls = append(calls, grpc.MaxCallRecvMsgSize(int(n)))
	}
	if c := f.encoding(); c != nil {
		calls = append(calls, grpc.ForceCodecV2(c))
	}
	if name := o.Text("compression"); name != "none" {
		calls = append(calls, grpc.UseCompressor(name))
	}
	out := []grpc.DialOption{
		grpc.WithDefaultCallOptions(calls...),
		grpc.WithWriteBufferSize(int(o.Int("write_buffer"))),
		grpc.WithReadBufferSize(int(o.Int("read_buffer"))),
		grpc.WithSharedWriteBuffer(o.Bool("shared_write_buffer")), //nolint:staticcheck // SA1019: a later release removes it; until then it is a factor
	}
	if o.Int("window") > 0 {
		out = append(out, grpc.WithStaticStreamWindowSize(int32(o.Int("window"))), grpc.WithStaticConnWindowSize(int32(o.Int("connection_window"))))
	}
	if p := poolOf(o); p != nil {
		out = append(out, experimental.WithBufferPool(p))
	}
	return out
}

// serverOptions turns options into the library's.
func serverOptions(o load.Options, c encoding.CodecV2) []grpc.ServerOption {
	out := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(int(o.Int("max_message"))),
		grpc.WriteBufferSize(int(o.Int("write_buffer"))),
		grpc.ReadBufferSize(int(o.Int("read_buffer"))),
		grpc.SharedWriteBuffer(o.Bool("shared_write_buffer")), //nolint:staticcheck // SA1019: as in dialOptions
		grpc.NumStreamWorkers(uint32(o.Int("stream_workers"))),
		grpc.MaxConcurrentStreams(uint32(o.Int("max_concurrent_streams"))),
	}
	if c != nil {
		out = append(out, grpc.ForceServerCodecV2(c))
	}
	if o.Int("header_table") != defaultTable {
		out = append(out, grpc.HeaderTableSize(uint32(o.Int("header_table"))))
	}
	if o.Int("window") > 0 {
		out = append(out, grpc.StaticStreamWindowSize(int32(o.Int("window"))), grpc.StaticConnWindowSize(int32(o.Int("connection_window"))))
	}
	if p := poolOf(o); p != nil {
		out = append(out, experimental.BufferPool(p))
	}
	return out
}

// called returns the method that a client's options choose. The error is of kind
// setup.
func called(setup contract.Setup, o load.Options) (rpc.Method, error) {
	m, isGiven, err := given(o)
	if err != nil || isGiven {
		return m, err
	}
	whole := rpc.MethodsOf(setup.Exchange)
	switch {
	case setup.Exchange.Stream != "":
		return rpc.Chunked(setup.Exchange.Stream), nil
	case o.Text("mode") == "stream":
		return whole.Talk, nil
	}
	return whole.Unary, nil
}

// given returns the method of option method, as rpc.Given does. It refuses the
// services of the server's reflection.
func given(o load.Options) (m rpc.Method, isGiven bool, err error) {
	m, isGiven, err = rpc.Given(o)
	if err == nil && strings.HasPrefix(m.Service, "grpc.reflection.") {
		err = load.Failure(contract.SetupFailed, fmt.Errorf("option method is %q: the server's reflection has that service", m))
	}
	return m, isGiven, err
}

// headroom is the size of a tier above its power of two. The library clears the
// whole capacity of a tier at each use, so a 4 MiB block with its header must not
// take a buffer of 8 MiB.
const headroom = 1 << 10

// poolOf returns the pool of option buffer_pool; nil keeps the library's own.
func poolOf(o load.Options) mem.BufferPool {
	switch o.Text("buffer_pool") {
	case "tiered":
		return tiered()
	case "none":
		return mem.NopBufferPool{}
	}
	return nil
}

// tiered has the tiers of the library's pool and one for each power of two
// from 64 KiB to 8 MiB.
func tiered() mem.BufferPool {
	sizes := []int{256, 4 << 10, 16 << 10, 32 << 10}
	for n := 64 << 10; n <= 8<<20; n *= 2 {
		sizes = append(sizes, n+headroom)
	}
	return mem.NewTieredBufferPool(sizes...)
}
