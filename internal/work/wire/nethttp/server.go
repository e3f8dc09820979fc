// Package nethttp is what the transports on Go's net/http share: a server that
// answers exchanges and a client that makes them. The transport chooses the version
// of HTTP and the settings.
package nethttp

import (
	"net"
	"net/http"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/wire"
)

// Server implements load.Server on an http.Server.
type Server struct{ *wire.Server }

// NewServer listens and serves with as. The transport has set its Protocols and
// limits; options are the effective ones.
func NewServer(setup contract.Setup, codecs []codec.Codec, as *http.Server, options map[string]any) (*Server, error) {
	content, err := codec.New(setup, codecs)
	if err != nil {
		return nil, err
	}
	s, err := wire.NewServer(setup, content.Sizes(contract.Ready{Options: options}))
	if err != nil {
		return nil, err
	}
	as.Handler = NewHandler(content, s.Count)
	Serve(s, as)
	return &Server{s}, nil
}

// Serve serves the ports of s with as, encrypted where s is.
func Serve(s *wire.Server, as *http.Server) {
	serve := as.Serve
	if s.TLS != nil {
		as.TLSConfig = s.TLS
		serve = func(l net.Listener) error { return as.ServeTLS(l, "", "") }
	}
	s.Serve(serve, as.Close)
}
