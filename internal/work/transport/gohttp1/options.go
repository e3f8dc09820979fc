package gohttp1

import (
	"cmp"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/nethttp"
)

// libraryBuffer is what net/http takes for http.Transport.ReadBufferSize and
// WriteBufferSize of 0, in bytes.
const libraryBuffer = 4 << 10

// options declares what a study may set; every one is the client's, for the
// server of net/http has no sizes to set.
func options() []contract.Option {
	zero, most := 0.0, float64(64<<20)
	client := []contract.Role{contract.Client}
	return append([]contract.Option{
		nethttp.ReadOption(),
		{
			Name: "pool", Type: contract.TypeChoice, Default: string(nethttp.PoolOwn),
			Choices: []string{string(nethttp.PoolOwn), string(nethttp.PoolShared)}, Roles: client,
			Doc: "own: an http.Transport for each connection; shared: one for all, as programs have it",
		}, {
			Name: "read_buffer", Type: contract.TypeBytes, Default: 0, Min: &zero, Max: &most, Roles: client,
			Doc: "http.Transport.ReadBufferSize; 0 takes the library's 4 KiB",
		}, {
			Name: "write_buffer", Type: contract.TypeBytes, Default: 0, Min: &zero, Max: &most, Roles: client,
			Doc: "http.Transport.WriteBufferSize; 0 takes the library's 4 KiB",
		},
	}, wire.HTTPOptions()...)
}

// clientOptions are the client's that this package resolves itself.
type clientOptions struct {
	pool                    nethttp.Pool
	readBuffer, writeBuffer int
}

func clientOptionsOf(setup contract.Setup) clientOptions {
	o := load.Options(setup.Options)
	return clientOptions{
		pool:        nethttp.Pool(o.Text("pool")),
		readBuffer:  cmp.Or(int(o.Int("read_buffer")), libraryBuffer),
		writeBuffer: cmp.Or(int(o.Int("write_buffer")), libraryBuffer),
	}
}

// effective returns what ready says in place of what was asked for.
func (o clientOptions) effective() map[string]any {
	return map[string]any{"read_buffer": o.readBuffer, "write_buffer": o.writeBuffer}
}
