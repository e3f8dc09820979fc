// Package gohttp3 is transport go-http3: HTTP/3 by quic-go, server and client. Wire
// h3.
package gohttp3

import (
	"slices"

	"github.com/quic-go/quic-go/http3"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/wire/nethttp"
	"netdyno/internal/work/wire/quicwire"
)

// Transport is go-http3, with the codecs that its program links.
type Transport struct{ Codecs []codec.Codec }

// Describe implements load.Transport.
func (t Transport) Describe() contract.Transport {
	options := slices.Concat(quicwire.Options(), []contract.Option{nethttp.ReadOption()}, httpwire.Options())
	d := httpwire.Describe("go-http3", "HTTP/3 by quic-go: exchanges in flight are streams of one connection over UDP, always encrypted", httpwire.H3, t.Codecs, options)
	d.Encrypted, d.UDP = true, true
	d.Features = append(d.Features, contract.FeatureDeadline, contract.FeatureStreamDown, contract.FeatureEvents, contract.FeatureStages, contract.FeatureResume)
	d.Options = append(d.Options, httpwire.EventOptions()...)
	return d
}

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	content, err := codec.New(setup, t.Codecs)
	if err != nil {
		return nil, err
	}
	s, err := quicwire.NewServer(setup, http3.NextProtoH3, content.Sizes(contract.Ready{}))
	if err != nil {
		return nil, err
	}
	serving := &http3.Server{Handler: nethttp.NewHandler(setup, content, s.Count), ConnContext: s.Opened}
	s.Serve(func(l *quicwire.Listener) error { return serving.ServeListener(l) }, serving.Close)
	return s, nil
}
