package gohttp2

import (
	"fmt"
	"net/http"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/nethttp"
)

// size is an option of http.HTTP2Config. net/http takes a value of its own for 0
// and, without a word, for what is below least; its documentation leaves these
// values to its code, and settings_test.go reads them off
// the wire.
type size struct {
	name           string
	doc            string
	server, client int64 // net/http's own
	least, most    int64
	of             func(*http.HTTP2Config) *int
}

var sizes = []size{
	{
		"max_frame", "largest frame that this end reads", 1 << 20, 16 << 10, 16 << 10, 1<<24 - 1,
		func(c *http.HTTP2Config) *int { return &c.MaxReadFrameSize },
	}, {
		"connection_window", "receive window of a connection", 1 << 20, 1 << 30, 1<<16 - 1, 1<<31 - 1,
		func(c *http.HTTP2Config) *int { return &c.MaxReceiveBufferPerConnection },
	}, {
		"stream_window", "receive window of a stream", 1 << 20, 4 << 20, 1, 1<<31 - 1,
		func(c *http.HTTP2Config) *int { return &c.MaxReceiveBufferPerStream },
	},
}

// ownStreams is net/http's limit of concurrent streams, as a server.
const ownStreams = 250

// options declares what a study may set.
func options() []contract.Option {
	zero, mostStreams := 0.0, float64(1<<20)
	all := []contract.Option{{
		Name: "max_streams", Type: contract.TypeInt, Default: 0, Min: &zero, Max: &mostStreams, Roles: []contract.Role{contract.Server},
		Doc: "streams that a client may have open on a connection; 0 takes the library's 250",
	}}
	for _, s := range sizes {
		most := float64(s.most)
		all = append(all, contract.Option{
			Name: s.name, Type: contract.TypeBytes, Default: 0, Min: &zero, Max: &most,
			Doc: s.doc + "; 0 takes the library's, which ready reports",
		})
	}
	all = append(all, contract.Option{
		Name: "pool", Type: contract.TypeChoice, Default: string(nethttp.PoolOwn),
		Choices: []string{string(nethttp.PoolOwn), string(nethttp.PoolNone)}, Roles: []contract.Role{contract.Client},
		Doc: "own: an http.Transport for each connection, as programs have it; none: an http.ClientConn, on which exchanges wait for a free stream",
	}, nethttp.ReadOption())
	return append(all, wire.HTTPOptions()...)
}

// settings are what an end of a trial asks of net/http, and what that comes to.
type settings struct {
	config    *http.HTTP2Config
	effective map[string]any
}

// settingsOf reads the options. The error is of kind setup: a size that net/http
// would silently replace.
func settingsOf(setup contract.Setup) (settings, error) {
	o := load.Options(setup.Options)
	s := settings{&http.HTTP2Config{}, map[string]any{}}
	for _, z := range sizes {
		n := o.Int(z.name)
		switch {
		case n == 0 && setup.Role == contract.Server:
			n = z.server
		case n == 0:
			n = z.client
		case n < z.least:
			return s, load.Failure(contract.SetupFailed, fmt.Errorf(
				"option %s is %d, expected 0 or at least %d: net/http would take its own value instead", z.name, n, z.least))
		}
		*z.of(s.config) = int(n)
		s.effective[z.name] = n
	}
	if setup.Role != contract.Server {
		return s, nil
	}
	streams := o.Int("max_streams")
	if streams == 0 {
		streams = ownStreams
	}
	s.config.MaxConcurrentStreams, s.effective["max_streams"] = int(streams), streams
	return s, nil
}
