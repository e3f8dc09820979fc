// Package quicwire is what transports over QUIC share: the sockets, the options of
// quic-go, a client's connections, and a server's ports and counters.
package quicwire

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Names of the options.
const (
	offload       = "gso"
	ecn           = "ecn"
	maxStreams    = "max_streams"
	keepAlive     = "keep_alive"
	idleTimeout   = "idle_timeout"
	sendBuffer    = "send_buffer"
	receiveBuffer = "receive_buffer"
)

// libraryStreams is how many streams a server of quic-go lets a client open at once
// on a connection.
const libraryStreams = 100

// window is an option of quic.Config. quic-go takes 0 for a value of its own.
type window struct {
	name, doc string
	library   int64
	of        func(*quic.Config) *uint64
}

// windows are pairs: where a window begins, and how far it may grow.
var windows = []window{
	{
		"stream_window", "receive window that a stream begins with", 512 << 10,
		func(c *quic.Config) *uint64 { return &c.InitialStreamReceiveWindow },
	}, {
		"max_stream_window", "receive window that a stream may grow to", 6 << 20,
		func(c *quic.Config) *uint64 { return &c.MaxStreamReceiveWindow },
	}, {
		"connection_window", "receive window that a connection begins with", 768 << 10,
		func(c *quic.Config) *uint64 { return &c.InitialConnectionReceiveWindow },
	}, {
		"max_connection_window", "receive window that a connection may grow to", 15 << 20,
		func(c *quic.Config) *uint64 { return &c.MaxConnectionReceiveWindow },
	},
}

// granted ends the description of a socket's buffer.
const granted = "; 0 leaves it to the library, which asks for 7 MiB. Ready says what the kernel granted"

// Options declares what every transport over QUIC may be told.
func Options() []contract.Option {
	zero, one, mostStreams, mostBytes := 0.0, 1e9, float64(1<<20), float64(1<<30)
	day := float64(24 * time.Hour)
	all := []contract.Option{
		{
			Name: offload, Type: contract.TypeBool, Default: true,
			Doc: "hand the kernel several datagrams in one call (UDP_SEGMENT), where it can",
		}, {
			Name: ecn, Type: contract.TypeBool, Default: true,
			Doc: "mark datagrams for explicit congestion notification",
		}, {
			Name: maxStreams, Type: contract.TypeInt, Default: 0, Min: &zero, Max: &mostStreams, Roles: []contract.Role{contract.Server},
			Doc: "streams that a client may have open on a connection; 0 takes the library's 100",
		}, {
			Name: keepAlive, Type: contract.TypeDuration, Default: int64(10 * time.Second), Min: &zero, Max: &day, Roles: []contract.Role{contract.Client},
			Doc: "how long a connection carries nothing before the client sends a packet that keeps it; 0 sends none",
		}, {
			Name: idleTimeout, Type: contract.TypeDuration, Default: int64(30 * time.Second), Min: &one, Max: &day,
			Doc: "how long nothing may come on a connection before this end gives it up; the shorter of both ends' counts",
		},
	}
	bytes := func(name, doc string) {
		all = append(all, contract.Option{
			Name: name, Type: contract.TypeBytes, Unit: "B", Default: 0, Min: &zero, Max: &mostBytes, Doc: doc,
		})
	}
	for _, w := range windows {
		bytes(w.name, w.doc+"; 0 takes the library's, which ready reports")
	}
	bytes(sendBuffer, "SO_SNDBUF of each UDP socket"+granted)
	bytes(receiveBuffer, "SO_RCVBUF of each UDP socket"+granted)
	return all
}

// configure returns what the options ask of quic-go, and writes into effective what
// ready reports of them. GSO and ECN are switched for the whole process, which
// carries one trial. The error is of kind setup and names the option.
func configure(setup contract.Setup, effective map[string]any) (*quic.Config, error) {
	o, config := load.Options(setup.Options), &quic.Config{}
	for _, w := range windows {
		bytes := cmp.Or(o.Int(w.name), w.library)
		*w.of(config), effective[w.name] = uint64(bytes), bytes
	}
	for i := 0; i < len(windows); i += 2 {
		begins, grows := windows[i], windows[i+1]
		if *begins.of(config) > *grows.of(config) {
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf("option %s is %d B and %s %d B, expected at least as much",
				begins.name, *begins.of(config), grows.name, *grows.of(config)))
		}
	}
	config.MaxIdleTimeout = time.Duration(o.Int(idleTimeout))
	if setup.Role == contract.Server {
		streams := cmp.Or(o.Int(maxStreams), libraryStreams)
		config.MaxIncomingStreams, effective[maxStreams] = streams, streams
	} else {
		config.KeepAlivePeriod = time.Duration(o.Int(keepAlive))
		config.MaxIncomingStreams = -1 // a server opens none
	}
	// quic-go has no other way to be told.
	err := errors.Join(
		os.Setenv("QUIC_GO_DISABLE_GSO", strconv.FormatBool(!o.Bool(offload))),
		os.Setenv("QUIC_GO_DISABLE_ECN", strconv.FormatBool(!o.Bool(ecn))),
		os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")) // ready says what was granted
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	return config, nil
}

// encrypted reports, as an error of kind unsupported, that setup lacks the
// certificates without which there is no QUIC.
func encrypted(setup contract.Setup) error {
	if setup.TLS != nil {
		return nil
	}
	return load.Failure(contract.Unsupported, fmt.Errorf("setup.tls is absent, and %s is always encrypted, as QUIC is (RFC 9001): give tls=yes", setup.Transport))
}
