// Package gofasthttp is transport fasthttp: HTTP/1.1 by
// github.com/valyala/fasthttp, server and client. Wire http/1.1.
package gofasthttp

import (
	"cmp"

	"github.com/valyala/fasthttp"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
)

// Transport is fasthttp, with the codecs that its program links.
type Transport struct{ Codecs []codec.Codec }

// Describe implements load.Transport.
func (t Transport) Describe() contract.Transport {
	d := httpwire.Describe("fasthttp", "HTTP/1.1 by valyala/fasthttp, which reuses what net/http allocates", httpwire.HTTP1, t.Codecs, options())
	d.Features = append(d.Features, contract.FeatureStages, contract.FeatureResume)
	return d
}

// libraryBuffer is what fasthttp takes for a ReadBufferSize or WriteBufferSize
// of 0, in bytes.
const libraryBuffer = 4 << 10

// options declares what a study may set.
func options() []contract.Option {
	zero, mostBuffer, mostConnections := 0.0, float64(64<<20), float64(1<<22)
	server := []contract.Role{contract.Server}
	return append([]contract.Option{
		{
			Name: "read_buffer", Type: contract.TypeBytes, Default: 0, Min: &zero, Max: &mostBuffer,
			Doc:  "ReadBufferSize of each connection, also the limit of a header's size; 0 takes the library's 4 KiB",
			Grid: []string{"32KiB", "256KiB"}, As: map[contract.Role]string{contract.Server: "fasthttp.Server.ReadBufferSize = {value}", contract.Client: "fasthttp.HostClient.ReadBufferSize = {value}"},
		}, {
			Name: "write_buffer", Type: contract.TypeBytes, Default: 0, Min: &zero, Max: &mostBuffer,
			Doc:  "WriteBufferSize of each connection; 0 takes the library's 4 KiB",
			Grid: []string{"32KiB", "256KiB"}, As: map[contract.Role]string{contract.Server: "fasthttp.Server.WriteBufferSize = {value}", contract.Client: "fasthttp.HostClient.WriteBufferSize = {value}"},
		}, {
			Name: "concurrency", Type: contract.TypeInt, Default: 0, Min: &zero, Max: &mostConnections, Roles: server,
			Doc: "Server.Concurrency: connections served at once; 0 takes the library's 262144",
		}, {
			Name: "reduce_memory", Type: contract.TypeBool, Default: false, Roles: server,
			Doc:  "Server.ReduceMemoryUsage: a waiting connection returns its buffers, which takes more CPU time",
			Grid: []string{"yes"}, As: map[contract.Role]string{contract.Server: "fasthttp.Server.ReduceMemoryUsage = {value}"},
		},
	}, httpwire.Options()...)
}

// buffers are the effective sizes of a connection's buffers.
type buffers struct{ read, write int }

func buffersOf(setup contract.Setup) buffers {
	o := load.Options(setup.Options)
	return buffers{
		read:  cmp.Or(int(o.Int("read_buffer")), libraryBuffer),
		write: cmp.Or(int(o.Int("write_buffer")), libraryBuffer),
	}
}

// effective returns what ready says.
func (b buffers) effective() map[string]any {
	return map[string]any{"read_buffer": b.read, "write_buffer": b.write}
}

// serverOptions are the effective options of a server.
type serverOptions struct {
	buffers
	concurrency  int
	reduceMemory bool
}

func serverOptionsOf(setup contract.Setup) serverOptions {
	o := load.Options(setup.Options)
	return serverOptions{
		buffers:      buffersOf(setup),
		concurrency:  cmp.Or(int(o.Int("concurrency")), fasthttp.DefaultConcurrency),
		reduceMemory: o.Bool("reduce_memory"),
	}
}

// effective returns what ready says.
func (o serverOptions) effective() map[string]any {
	all := o.buffers.effective()
	all["concurrency"], all["reduce_memory"] = o.concurrency, o.reduceMemory
	return all
}
