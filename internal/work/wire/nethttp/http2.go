package nethttp

import (
	"cmp"
	"fmt"
	"net/http"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// libraryStreams is how many streams a server of net/http lets a client open at
// once on a connection.
const libraryStreams = 250

// http2Size is an option of http.HTTP2Config. net/http silently replaces 0 and
// whatever is below least by a value of its own. Its documentation does not name
// these values; gohttp2's settings_test.go reads them off the wire.
type http2Size struct {
	name, doc      string
	field          string // of http.HTTP2Config
	grid           []string
	server, client int64 // net/http's own
	least, most    int64
	of             func(*http.HTTP2Config) *int
}

var http2Sizes = []http2Size{
	{
		"max_frame", "largest frame that this end reads", "MaxReadFrameSize", []string{"64KiB", "1MiB"}, 1 << 20, 16 << 10, 16 << 10, 1<<24 - 1,
		func(c *http.HTTP2Config) *int { return &c.MaxReadFrameSize },
	}, {
		"connection_window", "receive window of a connection", "MaxReceiveBufferPerConnection", []string{"4MiB", "64MiB"}, 1 << 20, 1 << 30, 1<<16 - 1, 1<<31 - 1,
		func(c *http.HTTP2Config) *int { return &c.MaxReceiveBufferPerConnection },
	}, {
		"stream_window", "receive window of a stream", "MaxReceiveBufferPerStream", []string{"4MiB", "16MiB"}, 1 << 20, 4 << 20, 1, 1<<31 - 1,
		func(c *http.HTTP2Config) *int { return &c.MaxReceiveBufferPerStream },
	},
}

// HTTP2Options declares what NewHTTP2 reads.
func HTTP2Options() []contract.Option {
	zero, mostStreams := 0.0, float64(1<<20)
	all := []contract.Option{{
		Name: "max_streams", Type: contract.TypeInt, Default: 0, Min: &zero, Max: &mostStreams, Roles: []contract.Role{contract.Server},
		Doc: "streams that a client may have open on a connection; 0 takes the library's 250",
	}}
	for _, s := range http2Sizes {
		most := float64(s.most)
		all = append(all, contract.Option{
			Name: s.name, Type: contract.TypeBytes, Default: 0, Min: &zero, Max: &most,
			Doc:  s.doc + "; 0 takes the library's, which ready reports",
			Grid: s.grid, As: map[contract.Role]string{contract.Server: "http.HTTP2Config." + s.field + " = {value}", contract.Client: "http.HTTP2Config." + s.field + " = {value}"},
		})
	}
	return all
}

// NewHTTP2 returns what the options ask of net/http, and writes into effective
// what ready reports of them. The error is of kind setup and names a size that
// net/http would silently replace.
func NewHTTP2(setup contract.Setup, effective map[string]any) (*http.HTTP2Config, error) {
	o, config := load.Options(setup.Options), &http.HTTP2Config{}
	for _, s := range http2Sizes {
		n := o.Int(s.name)
		switch {
		case n == 0 && setup.Role == contract.Server:
			n = s.server
		case n == 0:
			n = s.client
		case n < s.least:
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf(
				"option %s is %d, expected 0 or at least %d: net/http would take its own value instead", s.name, n, s.least))
		}
		*s.of(config), effective[s.name] = int(n), n
	}
	if setup.Role == contract.Server {
		streams := cmp.Or(o.Int("max_streams"), libraryStreams)
		config.MaxConcurrentStreams, effective["max_streams"] = int(streams), streams
	}
	return config, nil
}
