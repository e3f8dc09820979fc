package goconnect

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Levels of option compression.
const (
	compressionDefault = "default"
	compressionNone    = "none"
)

// What net/http takes where an option is 0: buffers of http.Transport, and
// streams of a connection.
const (
	ownBuffer  = 4 << 10
	ownStreams = 250
)

// size is an option of http.HTTP2Config, of the end that receives. net/http
// takes a value of its own for 0 and, without a word, for what is below least.
type size struct {
	name, doc      string
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

// options declares what a study may set.
func (t Transport) options() []contract.Option {
	common := []contract.Option{
		{
			Name: "compression", Type: contract.TypeChoice, Default: compressionDefault, Choices: []string{compressionDefault, compressionNone},
			Doc: "default is connect-go's: clients accept gzip and servers compress every reply to them; none switches gzip off at this end",
		}, {
			Name: "read_max", Type: contract.TypeBytes, Default: 0, Min: bound(0), Max: bound(1 << 30),
			Doc: "connect.WithReadMaxBytes: the largest message that this end accepts; 0, connect-go's default, accepts any",
		}, {
			Name: "method", Type: contract.TypeText, Default: own,
			Doc: "procedure that carries a user's own message; the built-in messages have theirs",
		},
	}
	if t.GRPC {
		return append(common, optionsHTTP2()...)
	}
	return append(common, optionsHTTP1()...)
}

func optionsHTTP1() []contract.Option {
	clients := []contract.Role{contract.Client}
	return []contract.Option{
		{
			Name: "get", Type: contract.TypeBool, Default: false,
			Doc: "by GET, with the message in the URL, as connect allows for procedures without side effects; a server bounds URLs to 1 MiB",
		}, {
			Name: "read_buffer", Type: contract.TypeBytes, Default: 0, Min: bound(0), Max: bound(64 << 20), Roles: clients,
			Doc: "http.Transport.ReadBufferSize; 0 takes the library's 4 KiB",
		}, {
			Name: "write_buffer", Type: contract.TypeBytes, Default: 0, Min: bound(0), Max: bound(64 << 20), Roles: clients,
			Doc: "http.Transport.WriteBufferSize; 0 takes the library's 4 KiB",
		},
	}
}

func optionsHTTP2() []contract.Option {
	all := []contract.Option{{
		Name: "max_streams", Type: contract.TypeInt, Default: 0, Min: bound(0), Max: bound(1 << 20), Roles: []contract.Role{contract.Server},
		Doc: "streams that a client may have open on a connection; 0 takes the library's 250",
	}}
	for _, s := range sizes {
		all = append(all, contract.Option{
			Name: s.name, Type: contract.TypeBytes, Default: 0, Min: bound(0), Max: bound(s.most),
			Doc: s.doc + "; 0 takes the library's, which ready reports",
		})
	}
	return all
}

func bound(n int64) *float64 { f := float64(n); return &f }

// settings are what an end of a trial asks of its libraries.
type settings struct {
	given     load.Options
	effective map[string]any
	http2     *http.HTTP2Config // nil over HTTP/1.1
}

// settingsOf reads the options. The error is of kind setup: a size that
// net/http would silently replace.
func (t Transport) settingsOf(setup contract.Setup) (settings, error) {
	s := settings{given: setup.Options, effective: maps.Clone(setup.Options)}
	server := setup.Role == contract.Server
	if !t.GRPC {
		if !server {
			s.effective["read_buffer"] = cmp.Or(s.given.Int("read_buffer"), ownBuffer)
			s.effective["write_buffer"] = cmp.Or(s.given.Int("write_buffer"), ownBuffer)
		}
		return s, nil
	}
	s.http2 = &http.HTTP2Config{}
	for _, z := range sizes {
		n := s.given.Int(z.name)
		switch {
		case n == 0 && server:
			n = z.server
		case n == 0:
			n = z.client
		case n < z.least:
			return s, load.Failure(contract.SetupFailed, fmt.Errorf(
				"option %s is %d, expected 0 or at least %d: net/http would take its own value instead", z.name, n, z.least))
		}
		*z.of(s.http2), s.effective[z.name] = int(n), n
	}
	if server {
		streams := cmp.Or(s.given.Int("max_streams"), ownStreams)
		s.http2.MaxConcurrentStreams, s.effective["max_streams"] = int(streams), streams
	}
	return s, nil
}

// common is what both ends give to connect.
func (s settings) common() connect.Option {
	options := []connect.Option{connect.WithReadMaxBytes(int(s.given.Int("read_max")))}
	if s.get() {
		options = append(options, connect.WithIdempotency(connect.IdempotencyNoSideEffects))
	}
	return connect.WithOptions(options...)
}

func (s settings) get() bool { return s.http2 == nil && s.given.Bool("get") }

// handler is what a server gives to connect.
func (s settings) handler() connect.HandlerOption {
	options := []connect.HandlerOption{s.common()}
	if s.given.Text("compression") == compressionNone {
		options = append(options, connect.WithCompression("gzip", nil, nil))
	}
	return connect.WithHandlerOptions(options...)
}

// client is what a client gives to connect.
func (s settings) client() connect.ClientOption {
	options := []connect.ClientOption{s.common()}
	if s.given.Text("compression") == compressionNone {
		options = append(options, connect.WithAcceptCompression("gzip", nil, nil))
	}
	if s.get() {
		options = append(options, connect.WithHTTPGet())
	}
	if s.http2 != nil {
		options = append(options, connect.WithGRPC())
	}
	return connect.WithClientOptions(options...)
}
