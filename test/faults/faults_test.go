// Package faults_test executes the table of faults: what can go wrong around a run, with
// every transport and on every rig. Each cell of the table demands that netdyno ends by
// itself and with the right status, that every planned trial leaves exactly one record,
// that the record of the disturbed trial names the worker and the cause, that no figure
// of that trial passes for a valid one, and that nothing is left behind.
//
// make test-all executes a part of the table: a transport of each family on this machine, and
// one of ours and a foreign program in namespaces. make soak executes the whole table.
package faults_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/test/programs"
)

// thorough is how make soak runs the table: with every transport on every rig.
var thorough = os.Getenv("NETDYNO_SOAK") != ""

// bin is the directory of the programs under test.
var bin string

// beside is how many tests run at once: most of them wait, for what never comes.
const beside = "12"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake" {
		os.Exit(fake(os.Args[2:]))
	}
	os.Exit(build(m))
}

// build finds what the tests run.
func build(m *testing.M) int {
	programs.Hangups()
	err := flag.Set("test.parallel", beside)
	if err == nil {
		bin, err = programs.Bin()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// transport is a server and a client that the table has a column for.
type transport struct {
	name    string
	client  string   // the same as name when empty
	workers []string // what is behind netdyno-worker-, the server's first
	wire    string
}

var transports = []transport{
	{name: "go-net", workers: []string{"net"}, wire: "echo"},
	{name: "go-epoll", workers: []string{"net"}, wire: "echo"},
	{name: "netpoll", workers: []string{"netpoll"}, wire: "echo"},
	{name: "asio", workers: []string{"asio"}, wire: "echo"},
	{name: "libevent", workers: []string{"libevent"}, wire: "echo"},
	{name: "threads", workers: []string{"threads"}, wire: "echo"},
	{name: "uring", workers: []string{"uring"}, wire: "echo"},
	{name: "go-http1", workers: []string{"http"}, wire: "http/1.1"},
	{name: "fasthttp", workers: []string{"fasthttp"}, wire: "http/1.1"},
	{name: "gin", client: "go-http1", workers: []string{"gin", "http"}, wire: "http/1.1"},
	{name: "go-http2", workers: []string{"http"}, wire: "h2c"},
	{name: "go-connect", workers: []string{"connect"}, wire: "connect:netdyno.v1"},
	{name: "go-grpc", workers: []string{"grpc"}, wire: "grpc:netdyno.v1"},
	{name: "go-connect-grpc", workers: []string{"connect"}, wire: "grpc:netdyno.v1"},
	{name: "grpcpp", workers: []string{"grpcpp"}, wire: "grpc:netdyno.v1"},
	{name: "baidu-std", workers: []string{"baidu-std"}, wire: "baidu_std"},
	{name: "go-http3", workers: []string{"quic"}, wire: "h3"},
	{name: "go-quic", workers: []string{"quic"}, wire: "quic"},
	{name: "node-net", workers: []string{"node"}, wire: "echo"},
	{name: "node-http1", workers: []string{"node"}, wire: "http/1.1"},
	{name: "node-http2", workers: []string{"node"}, wire: "h2c"},
	{name: "grpc-js", workers: []string{"grpc-js"}, wire: "grpc:netdyno.v1"},
	{name: "asyncio", workers: []string{"asyncio"}, wire: "echo"},
	{name: "uvicorn", client: "aiohttp", workers: []string{"asgi"}, wire: "http/1.1"},
	{name: "granian", client: "aiohttp", workers: []string{"asgi"}, wire: "http/1.1"},
	{name: "granian-http2", client: "go-http2", workers: []string{"asgi", "http"}, wire: "h2c"},
	{name: "grpcio", workers: []string{"grpcio"}, wire: "grpc:netdyno.v1"},
	{name: "grpc-aio", workers: []string{"grpcio"}, wire: "grpc:netdyno.v1"},
	{name: "netty", workers: []string{"netty"}, wire: "echo"},
	{name: "netty-http1", workers: []string{"netty"}, wire: "http/1.1"},
	{name: "vertx-http1", client: "go-http1", workers: []string{"vertx", "http"}, wire: "http/1.1"},
	{name: "java-threads", workers: []string{"java-threads"}, wire: "echo"},
	{name: "grpc-java", workers: []string{"grpc-java"}, wire: "grpc:netdyno.v1"},
	{name: "tokio", workers: []string{"tokio"}, wire: "echo"},
	{name: "monoio", workers: []string{"monoio"}, wire: "echo"},
	{name: "hyper-http1", workers: []string{"hyper"}, wire: "http/1.1"},
	{name: "hyper-http2", workers: []string{"hyper"}, wire: "h2c"},
	{name: "tonic", workers: []string{"tonic"}, wire: "grpc:netdyno.v1"},
	{name: "quinn", workers: []string{"quinn"}, wire: "quic"},
	{name: "exec", client: "go-net", workers: []string{"exec", "net"}, wire: "echo"},
}

// foreign holds for a server that is a program of the user's.
func (x transport) foreign() bool { return x.name == "exec" }

// overUDP holds for what has no connections that the kernel knows of.
func (x transport) overUDP() bool { return x.wire == "h3" || x.wire == "quic" }

// TestFaults executes the table.
func TestFaults(t *testing.T) {
	for _, r := range rigs {
		for _, x := range transports {
			if !thorough && !slices.Contains(r.chosen, x.name) {
				continue
			}
			t.Run(r.name+"/"+x.name, func(t *testing.T) {
				t.Parallel()
				suffer(t, r, x)
			})
		}
	}
}

// suffer executes one transport's column of the table on one rig. What netdyno
// alone has to bear is executed once for each rig, and with every transport when
// thorough.
func suffer(t *testing.T, r place, x transport) {
	for _, worker := range x.workers {
		if _, err := os.Stat(filepath.Join(bin, "netdyno-worker-"+worker)); err != nil {
			t.Skipf("%v: make build builds it where its library is installed", err)
		}
	}
	b := newBed(t, r, x)
	for _, group := range []struct {
		name string
		do   func(t *testing.T, b *bed)
		all  bool // for every transport of the part, too
	}{
		{"workers", brokenWorkers, true},
		{"servers", brokenServers, true},
		{"descriptors", fewDescriptors, true},
		{"path", brokenPath, x.overUDP() && r.name == "netns"},
		{"netdyno", brokenNetdyno, x.name == "go-net"},
	} {
		if group.all || thorough && group.name != "path" {
			t.Run(group.name, func(t *testing.T) {
				t.Parallel()
				group.do(t, b.again(t))
			})
		}
	}
}

// cell executes one cell of the table, by the number of its fault.
func cell(t *testing.T, fault string, do func(t *testing.T)) {
	t.Helper()
	t.Run(fault[:strings.IndexByte(fault, ' ')], do)
}
