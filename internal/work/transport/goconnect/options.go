package goconnect

import (
	"maps"
	"net/http"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/nethttp"
	"netdyno/internal/work/wire/rpc"
)

// Levels of option compression.
const (
	compressionDefault = "default"
	compressionNone    = "none"
)

// options declares what a study may set.
func options(grpc bool) []contract.Option {
	common := []contract.Option{
		{
			Name: "compression", Type: contract.TypeChoice, Default: compressionDefault, Choices: []string{compressionDefault, compressionNone},
			Doc: "default: connect-go's, whose clients accept gzip and whose servers compress every reply to them; none switches gzip off at this end",
		}, {
			Name: "read_max", Type: contract.TypeBytes, Default: 0, Min: bound(0), Max: bound(1 << 30),
			Doc: "connect.WithReadMaxBytes: the largest message that this end accepts; 0, connect-go's default, accepts any",
		}, rpc.MethodOption("procedure that carries a user's own message; the built-in messages have theirs"),
	}
	if grpc {
		return append(common, nethttp.HTTP2Options()...)
	}
	return append(common, nethttp.BufferOptions()...)
}

func bound(n int64) *float64 { f := float64(n); return &f }

// settings are what an end of a trial sets in its libraries.
type settings struct {
	given     load.Options
	effective map[string]any
	http2     *http.HTTP2Config // nil over HTTP/1.1
}

// settingsOf reads the options. The error is of kind setup.
func settingsOf(grpc bool, setup contract.Setup) (s settings, err error) {
	s = settings{given: setup.Options, effective: maps.Clone(setup.Options)}
	switch {
	case grpc:
		s.http2, err = nethttp.NewHTTP2(setup, s.effective)
	case setup.Role == contract.Client:
		nethttp.BuffersOf(setup).Effective(s.effective)
	}
	return s, err
}

// common returns the options of connect at both ends.
func (s settings) common() connect.Option {
	return connect.WithReadMaxBytes(int(s.given.Int("read_max")))
}

// handler returns the options of connect at a server.
func (s settings) handler() connect.HandlerOption {
	options := []connect.HandlerOption{s.common()}
	if s.given.Text("compression") == compressionNone {
		options = append(options, connect.WithCompression("gzip", nil, nil))
	}
	return connect.WithHandlerOptions(options...)
}

// client returns the options of connect at a client.
func (s settings) client() connect.ClientOption {
	options := []connect.ClientOption{s.common()}
	if s.given.Text("compression") == compressionNone {
		options = append(options, connect.WithAcceptCompression("gzip", nil, nil))
	}
	if s.http2 != nil {
		options = append(options, connect.WithGRPC())
	}
	return connect.WithClientOptions(options...)
}
