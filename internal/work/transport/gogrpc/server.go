package gogrpc

import (
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

type server struct {
	x         *codec.Exchange
	options   load.Options // effective
	payload   payload
	chunkers  *chunkers
	listeners *wire.Listeners
	grpc      *grpc.Server
	wait      sync.WaitGroup

	exchanges, received, sent atomic.Int64
}

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
	s.payload, s.chunkers = payloadOf(setup, s.x, s.options), newChunkers(setup, s.options, s.x.UpBytes)
	options := append(serverOptions(s.options, s.payload), grpc.UnknownServiceHandler(unknown(setup)))
	config, err := wire.ServerTLS(setup)
	if err != nil {
		return nil, err
	}
	if config != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	s.grpc = grpc.NewServer(options...)
	if err := s.register(setup); err != nil {
		return nil, err
	}
	if s.listeners, err = wire.Listen(setup); err != nil {
		return nil, err
	}
	for _, l := range s.listeners.All() {
		s.wait.Go(func() { _ = s.grpc.Serve(l) }) // ends with Close
	}
	return s, nil
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	return s.x.Sizes(contract.Ready{Addresses: s.listeners.Addresses(), Options: s.options})
}

// Exited implements load.Exiter.
func (s *server) Exited() <-chan error { return s.listeners.Exited() }

// Counts implements load.Server.
func (s *server) Counts() contract.Counts {
	return contract.Counts{
		Exchanges:     s.exchanges.Load(),
		ReceivedBytes: s.received.Load(),
		SentBytes:     s.sent.Load(),
		Connections:   s.listeners.Open(),
	}
}

// Close implements load.Server.
func (s *server) Close() error {
	within(farewell, func() {
		s.listeners.Close()
		s.grpc.Stop()
		s.wait.Wait()
	})
	return nil
}
