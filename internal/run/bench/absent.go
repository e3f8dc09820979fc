package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// AbsentError is about a transport that the project has and no worker here: Reason says why,
// Advice what brings it, as a part of a sentence.
type AbsentError struct{ Transport, Reason, Advice string }

func (e *AbsentError) Error() string {
	if e.Advice == "" {
		return fmt.Sprintf("transport %q: %s", e.Transport, e.Reason)
	}
	return fmt.Sprintf("transport %q: %s, and %s", e.Transport, e.Reason, e.Advice)
}

// origin is a language of workers that a release leaves out, as they need libraries of one
// distribution or another toolchain: where its sources are, the command that builds them in
// a checkout, what that needs, and the transports.
type origin struct {
	language, sources, command, needs string
	transports                        []string
}

var origins = []origin{
	{"in C++", "native", "make build", "the Debian packages that packages.txt lists", []string{"asio", "grpcpp", "grpc-nghttp2", "grpc-nghttp2-asio", "h2-asio", "h2-uring", "http1-asio", "http1-uring", "libevent", "mpi", "mpich", "threads", "ucx", "uring", "verbs"}},
	{"in Rust", "workers/rust", "make kits", "cargo", []string{"hyper-http1", "hyper-http2", "monoio", "quinn", "tokio", "tonic"}},
	{"in Java", "workers/java", "make kits", "a JDK of version 17 or newer and Maven", []string{"grpc-java", "java-threads", "netty", "netty-http1", "vertx-http1"}},
	{"in Python", "workers/python", "make kits", "python3 and pip", []string{"aiohttp", "asyncio", "granian", "granian-http2", "grpc-aio", "grpcio", "uvicorn"}},
	{"for Node", "workers/node", "make kits", "node and npm", []string{"grpc-js", "node-http1", "node-http2", "node-net"}},
}

// gone are names that netdyno had, or has under another.
var gone = map[string]string{
	// No alias: it would answer a question that was not asked (docs/decisions.md).
	"brpc": "brpc is the arm on Apache brpc's own library, whose worker is not here (native/brpc/README.md builds it); netdyno's own end of the same protocol is baidu-std",

	"baidu-std-asio": goneBaidu, "brpc-asio": goneBaidu,
}

// goneBaidu is of the second end of baidu_std that netdyno had.
const goneBaidu = "netdyno has one end of wire baidu_std of its own, which is baidu-std; brpc is Apache's"

// programs are the workers of transports that are not named like them.
var programs = map[string]string{"aiohttp": "asgi", "granian": "asgi", "granian-http2": "asgi", "uvicorn": "asgi", "grpc-aio": "grpcio"}

// mute returns what the worker of a transport, which is here, said in place of its hello;
// "" where it is not here.
func mute(transport string, unheard []record.Warning) string {
	for _, a := range unheard {
		name := strings.TrimPrefix(a.About, WorkerPrefix)
		if name == cmp.Or(programs[transport], transport) || strings.HasPrefix(transport, name+"-") {
			return a.Text
		}
	}
	return ""
}

// absent returns why no worker here has a transport that the project knows, where some
// workers were not heard; nil for another name.
func absent(transport string, unheard []record.Warning) *AbsentError {
	if said := mute(transport, unheard); said != "" {
		return &AbsentError{Transport: transport, Reason: said}
	}
	if reason := gone[transport]; reason != "" {
		return &AbsentError{Transport: transport, Reason: reason}
	}
	for _, o := range origins {
		if slices.Contains(o.transports, transport) {
			return &AbsentError{
				Transport: transport,
				Reason:    "no worker here has it: it is written " + o.language,
				Advice:    fmt.Sprintf("`%s` in a checkout builds it, with %s", o.command, o.needs),
			}
		}
	}
	return nil
}
