package goconnect

import (
	"net/http"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker/workertest"
)

// What connect-go does by default is seen on the wire and in ready, and none
// ends it.
func TestCompressionIsVisible(t *testing.T) {
	of := Transport{Codecs: codec.Standard()}
	for _, level := range []string{compressionDefault, compressionNone} {
		for _, peer := range []string{compressionDefault, compressionNone} {
			setup := texts()
			setup.Options = map[string]any{"compression": level}
			s, address := serve(t, of, setup)
			if got := s.Ready().Options["compression"]; got != level {
				t.Errorf("the server is ready with compression %v, want %s", got, level)
			}
			setup.Options = map[string]any{"compression": peer}
			c := dialTo(t, of, setup, address)
			if got := c.settings.effective["compression"]; got != peer {
				t.Errorf("the client is ready with compression %v, want %s", got, peer)
			}
			tap := &tap{inner: c.lines[0].http.Transport}
			c.lines[0].http.Transport = tap
			if _, err := c.call(0, new(load.Slot))(); err != nil {
				t.Fatal(err)
			}
			accepts, encoding := "gzip", "gzip"
			if peer == compressionNone {
				accepts = "identity"
			}
			if level == compressionNone || peer == compressionNone {
				encoding = ""
			}
			if tap.accepts != accepts || tap.encoding != encoding {
				t.Errorf("server %s, client %s: the client accepts %q and the reply is in %q, want %q and %q",
					level, peer, tap.accepts, tap.encoding, accepts, encoding)
			}
		}
	}
}

// tap notes what passes.
type tap struct {
	inner             http.RoundTripper
	accepts, encoding string
}

// RoundTrip implements http.RoundTripper.
func (p *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := p.inner.RoundTrip(r)
	p.accepts = r.Header.Get("Accept-Encoding")
	if err == nil {
		p.encoding = response.Header.Get("Content-Encoding")
	}
	return response, err
}

// Where an option is 0, ready says what the library takes.
func TestReadySaysWhatDefaultsComeTo(t *testing.T) {
	setup := contract.Setup{Exchange: contract.Exchange{UpBytes: 1, DownBytes: 1}}
	for _, c := range []struct {
		of             Transport
		server, client map[string]any
	}{
		{Transport{}, nil, map[string]any{"read_buffer": int64(4096), "write_buffer": int64(4096)}},
		{
			Transport{GRPC: true},
			map[string]any{"max_streams": int64(250), "max_frame": int64(1 << 20), "stream_window": int64(1 << 20), "connection_window": int64(1 << 20)},
			map[string]any{"max_frame": int64(16 << 10), "stream_window": int64(4 << 20), "connection_window": int64(1 << 30)},
		},
	} {
		s, address := serve(t, c.of, setup)
		for _, end := range []struct {
			ready contract.Ready
			want  map[string]any
		}{{s.Ready(), c.server}, {workertest.Client(t, c.of, setup, address).Ready(), c.client}} {
			for name, want := range end.want {
				if got := end.ready.Options[name]; got != want {
					t.Errorf("GRPC %v: ready says %s = %v, want %v", c.of.GRPC, name, got, want)
				}
			}
		}
	}
}
