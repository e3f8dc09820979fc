package gogrpc

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	s := &server{}
	var err error
	if s.x, err = codec.New(setup, t.Codecs); err != nil {
		return nil, err
	}
	if s.options, err = effective(setup, s.x); err != nil {
		return nil, err
	}
	s.payload, s.chunkers = payloadOf(setup, s.x, s.options, ask{}), newChunkers(setup, s.options, s.x.UpBytes)
	if s.Server, err = wire.NewServer(setup, s.x.Sizes(contract.Ready{Options: s.options})); err != nil {
		return nil, err
	}
	options := append(serverOptions(s.options, s.payload), grpc.UnknownServiceHandler(unknown(setup)))
	if s.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.TLS)))
	}
	s.grpc = grpc.NewServer(options...)
	if err := s.register(setup); err != nil {
		_ = s.Server.Close() // nothing was served yet
		return nil, err
	}
	s.Serve(s.grpc.Serve, func() error { s.grpc.Stop(); return nil })
	return s, nil
}

// Close implements load.Server.
func (s *server) Close() error {
	within(closeTimeout, func() { _ = s.Server.Close() }) // its stop returns no error
	return nil
}
