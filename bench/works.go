package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// works are all wires with every peer that can be had, in the order of the table.
func (b *bed) works() []work {
	return slices.Concat(b.echoWorks(), b.http1Works(), b.otherServers(), b.http2Works(), b.grpcWorks(), b.bulkWorks(), without)
}

// without are the wires that nothing else here speaks.
var without = []work{
	alone("baidu_std", "rpc_press", "tools/rpc_press of brpc's sources (native/brpc/README.md)"),
	alone("h3", "h2load with HTTP/3", "nghttp2 built with --enable-http3; Debian's is not"),
	alone("quic", "a load generator of QUIC streams", "none is known that is kept"),
	alone("connect:netdyno.v1", "a load generator of Connect", "none is known; over HTTP/1.1 those for HTTP send its requests"),
}

// alone is a wire of ours without a peer here.
func alone(wire, peer, get string) work {
	return work{wire: wire, peers: []client{{name: peer, get: get}}, ours: []client{{name: "address"}}}
}

// echoWorks are small messages back and forth.
func (b *bed) echoWorks() []work {
	const connections, size, rate = 50, 100, 20000
	small := []string{"connections=50", "request=100B", "response=100B"}
	both := work{wire: "echo", name: "100 B × 50", server: "each one's own server", fast: "≥ 1.4 of the best"}
	same := work{
		wire: "echo", name: "100 B × 50", server: "bare-libevent-echo", rate: rate,
		serve: func(ctx context.Context) (*peer, error) {
			return b.serve(ctx, func(port string) []string {
				return []string{filepath.Join(b.peers, "bare-libevent-echo"), "server", port}
			})
		},
	}
	for _, program := range []string{"bare-libevent-echo", "bare-asio-echo"} {
		c := b.bareEcho(program, connections, size)
		pair := b.withServer(c, func(port string) []string { return []string{c.program, "server", port} })
		same.peers, both.peers = append(same.peers, c), append(both.peers, pair)
	}
	asio := work{
		wire: "echo", name: "100 B × 50 on asio", server: both.server, fast: "≥ 0.97",
		peers: both.peers[1:], ours: []client{b.pair("asio", small...)},
	}
	for _, transport := range []string{"uring" + gathering, "uring", "go-epoll", "asio", "libevent"} {
		same.ours = append(same.ours, b.worker(transport, func(port string) []string {
			return append(small, "server=address", "opt.server.address=127.0.0.1:"+port, "opt.server.wire=echo")
		}))
		both.ours = append(both.ours, b.pair(transport, small...))
	}
	return []work{both, asio, same, {
		wire: "echo", name: "100 B × 1", server: "each one's own server", rate: 1,
		peers: []client{b.withServer(b.sockperf(size), func(port string) []string {
			return []string{"sockperf", "server", "--tcp", "-i", "127.0.0.1", "-p", port}
		})},
		ours: []client{b.pair("threads", "connections=1", "request=100B", "response=100B"), b.pair("uring", "connections=1", "request=100B", "response=100B")},
	}}
}

// http1Works are HTTP/1.1 from nginx, and from a server of ours that does less.
func (b *bed) http1Works() []work {
	const kib, mib4 = 1 << 10, 4 << 20
	clients := func(bytes, connections int, transports ...string) []client {
		var all []client
		for _, transport := range transports {
			all = append(all, b.worker(transport, httpLevels("http/1.1", bytes, connections)))
		}
		return all
	}
	quick := []string{"http1-uring" + gathering, "http1-uring", "http1-asio", "fasthttp"}
	nginx := func(bytes int) func(context.Context) (*peer, error) {
		return func(ctx context.Context) (*peer, error) { return b.nginx(ctx, bytes, "") }
	}
	light := work{
		wire: "http/1.1", name: "1 KiB × 50 (light server)", server: "http1-uring", rate: 100_000, fast: "≥ 1.5 of the best", cheap: "≤ 0.7 of the best",
		serve: func(ctx context.Context) (*peer, error) { return b.onRings(ctx, kib) },
		peers: b.http1Peers("http", 50), ours: clients(kib, 50, quick...),
	}
	even := func(client string) work { // as a user's requests come, and not as a timer lets them
		w := light
		w.name, w.rate, w.fast, w.cheap = "1 KiB × 50 each when due (light server)", 8000, "", ""
		w.ours = clients(kib, 50, client)
		return w
	}
	half := light
	half.name, half.halved, half.rate = "1 KiB × 50 by half a core", true, 0
	encrypted := light
	encrypted.name, encrypted.rate, encrypted.fast, encrypted.cheap, encrypted.ours = "1 KiB × 50 by TLS 1.3 (light server)", 50_000, "", "", nil
	encrypted.peers = b.http1Peers("https", 50)
	encrypted.serve = func(ctx context.Context) (*peer, error) { return b.onRings(ctx, kib, "tls=yes") }
	for _, transport := range quick {
		encrypted.ours = append(encrypted.ours, b.worker(transport, func(port string) []string {
			return append(httpLevels("http/1.1", kib, 50)(port), "tls=yes", "opt.client.insecure=true")
		}))
	}
	return []work{
		{
			wire: "http/1.1", name: "1 KiB × 50", server: "nginx", serve: nginx(kib), rate: 8000, cheap: "≤ 0.7 of the best",
			peers: b.http1Peers("http", 50), ours: clients(kib, 50, append(quick, "go-http1")...),
		},
		light, even("http1-uring"), even("http1-uring replies=stamp"), half, encrypted,
		{
			wire: "http/1.1", name: "4 MiB × 4", server: "nginx", serve: nginx(mib4), rate: 160,
			peers: slices.DeleteFunc(b.http1Peers("http", 4), func(c client) bool { return c.name == "fortio" }), // whose buffer holds less
			ours:  clients(mib4, 4, "http1-uring", "fasthttp", "go-http1"),
		},
	}
}

// http2Works are HTTP/2 without encryption.
func (b *bed) http2Works() []work {
	const kib, connections, streams = 1 << 10, 10, 10
	w := work{
		wire: "h2c", name: "1 KiB × 10 × 10 streams", server: "nginx", rate: 8000, cheap: "≤ 0.8 of h2load", peers: b.h2Peers(connections, streams),
		serve: func(ctx context.Context) (*peer, error) { return b.nginx(ctx, kib, " http2") },
	}
	for _, transport := range []string{"h2-uring" + gathering, "h2-uring", "go-http2"} {
		levels := httpLevels("h2c", kib, connections)
		w.ours = append(w.ours, b.worker(transport, func(port string) []string { return append(levels(port), "inflight="+strconv.Itoa(streams)) }))
	}
	light := w
	light.name, light.server, light.rate = "1 KiB × 10 × 10 streams (light server)", "h2-uring", 100_000
	light.serve = func(ctx context.Context) (*peer, error) {
		return b.listen(ctx, "transport=h2-uring", "request=0B", "response=1KiB")
	}
	return []work{w, light}
}

// gathering behind a transport's name lets its sends wait for each other as long as
// h2load's do, whose timer is set to 10 ms at least.
const gathering = " gather=10ms"

// httpLevels are those of a trial against an HTTP server that stands at a port.
func httpLevels(wire string, bytes, connections int) func(port string) []string {
	return func(port string) []string {
		return []string{
			"server=address", "opt.server.address=127.0.0.1:" + port, "opt.server.wire=" + wire, "opt.client.path=/block", "opt.client.verify=length",
			"request=0B", "response=" + strconv.Itoa(bytes) + "B", "connections=" + strconv.Itoa(connections),
		}
	}
}

// grpcWorks are unary calls: of ghz to the same server as ours, of others with their own.
func (b *bed) grpcWorks() []work {
	const connections, calls = 10, 10
	ours := []string{"grpc-nghttp2" + gathering, "grpc-nghttp2", "grpcpp", "go-grpc"}
	fan := []string{"connections=10", "inflight=10", "request=0B", "response=100B"}
	ghz := work{
		wire: "grpc:netdyno.v1", name: "0 B up, 100 B down × 10 × 10 calls", server: "go-grpc", rate: 2000, fast: "≥ 6", peers: []client{b.ghz(connections, calls)},
		serve: func(ctx context.Context) (*peer, error) {
			return b.listen(ctx, "transport=go-grpc", "request=0B", "response=100B")
		},
	}
	for _, transport := range ours {
		ghz.ours = append(ghz.ours, b.worker(transport, func(port string) []string {
			return append(fan, "server=address", "opt.server.address=127.0.0.1:"+port, "opt.server.wire=grpc:netdyno.v1", "opt.client.verify=length")
		}))
	}
	light := ghz
	light.name, light.server, light.rate = "0 B up, 100 B down × 10 × 10 calls, light server", "grpc-nghttp2", 0
	light.serve = func(ctx context.Context) (*peer, error) {
		return b.listen(ctx, "transport=grpc-nghttp2", "request=0B", "response=100B")
	}
	all := []work{ghz, light}
	for _, shape := range []struct {
		name               string
		bytes, conns, call int
		cheap              string
	}{{"100 B × 10 × 10 calls", 100, 10, 10, "≤ 0.4"}, {"1 MiB × 2 × 2 calls", 1 << 20, 2, 2, ""}} {
		size := strconv.Itoa(shape.bytes) + "B"
		w := work{
			wire: "grpc:netdyno.v1", name: shape.name, server: "each one's own server, with profilers", rate: 1, cheap: shape.cheap,
			peers: []client{b.grpcPeer(shape.bytes, shape.conns, shape.call)},
		}
		for _, transport := range ours {
			levels := []string{"request=" + size, "response=" + size, "connections=" + strconv.Itoa(shape.conns), "inflight=" + strconv.Itoa(shape.call)}
			if transport == "go-grpc" { // as that benchmark has them
				levels = append(levels, "opt.write_buffer=128KiB", "opt.read_buffer=128KiB")
			}
			w.ours = append(w.ours, b.profiled(transport, append(levels, "server=go-grpc")...))
		}
		all = append(all, w)
	}
	bare := work{wire: "grpc:netdyno.v1", name: "100 B × 10", server: "each one's own server", rate: 1}
	c := b.bareEcho("bare-grpcpp", 10, 100)
	bare.peers = []client{b.withServer(c, func(port string) []string { return []string{c.program, "server", port} })}
	for _, transport := range []string{"grpc-nghttp2" + gathering, "grpc-nghttp2", "grpcpp"} {
		bare.ours = append(bare.ours, b.pair(transport, "connections=10", "request=100B", "response=100B"))
	}
	return append(all, bare)
}

// bulkWorks are one-way streams by plain writes, beside the programs that everybody
// fills a link with.
func (b *bed) bulkWorks() []work {
	var all []work
	for _, streams := range []int{1, 4, 16} {
		w := work{
			wire: "stream", name: fmt.Sprintf("plain writes × %d", streams), unit: " B/s", cost: "s/GB", server: "each one's own server",
			rate: 1e9, fast: "≥ 1.0 of the best", peers: []client{b.filling(iperf3, streams), b.filling(iperf2, streams)},
		}
		for _, name := range []string{"threads", "threads server.lowat=256KiB", "go-net", "uring"} {
			w.ours = append(w.ours, b.streaming(name, streams))
		}
		all = append(all, w)
	}
	return all
}

// filling is a client that fills a link, with its own server.
func (b *bed) filling(f filler, streams int) client {
	return client{name: f.name, program: f.program, get: "apt-get install " + strings.TrimSuffix(f.program, "2"), paced: true, own: true,
		drive: func(ctx context.Context, _ string, rate float64) (figure, error) {
			var more []string
			if rate > 0 {
				more = []string{"-b", fmt.Sprintf("%.0f", rate*8/float64(streams))}
			}
			of, err := b.fill(ctx, f, streams, more...)
			return figure{value: of.bitsPerS / 8, cost: of.sending.Seconds() / of.bytes * bytesPerGB}, err
		}}
}

const bytesPerGB = 1e9

// streaming is a bulk trial of ours. Behind the transport's name may be settings of an end.
func (b *bed) streaming(name string, streams int) client {
	return client{name: name, paced: true, own: true, drive: func(ctx context.Context, _ string, rate float64) (figure, error) {
		levels := bulkLevels(transportOf(name), streams)
		for _, setting := range strings.Fields(name)[1:] {
			levels = append(levels, "opt."+setting)
		}
		if rate > 0 {
			levels = append(levels, fmt.Sprintf("rate=%.3f", rate/bulkBytes))
		}
		return b.two(ctx, false, "goodput_bytes_per_s", "client.cpu_s_per_gb", levels...)
	}}
}
