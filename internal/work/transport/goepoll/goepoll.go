// Package goepoll is transport go-epoll: raw epoll from Go, N instances with
// one locked thread each, edge-triggered, no netpoller and no goroutine per
// connection. Wires echo and stream.
package goepoll

import (
	"errors"
	"runtime"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/flow"
)

const (
	readBuffer = "read_buffer"
	lowat      = "lowat"
)

// lowWater reads option lowat.
func lowWater(setup contract.Setup) (int64, error) {
	bytes := load.Options(setup.Options).Int(lowat)
	if bytes > 0 && setup.Exchange.Stream == "" {
		return 0, load.Failure(contract.Unsupported, errors.New("option lowat is given, which event loops have on wire stream; transport threads has it on wire echo, too"))
	}
	return bytes, nil
}

// Transport is go-epoll.
type Transport struct{}

// Describe implements load.Transport.
func (Transport) Describe() contract.Transport {
	zero, instances, smallest, largest := 0.0, 1024.0, float64(4<<10), float64(64<<20)
	server := []contract.Role{contract.Server}
	return contract.Transport{
		Name:     "go-epoll",
		Doc:      "raw epoll in Go, N edge-triggered instances on locked threads",
		Wire:     flow.Echo,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryChunks,
		Codecs:   []string{"bytes"},
		Features: append(flow.Features(), contract.FeatureEvents, contract.FeatureStages),
		Options: append([]contract.Option{
			{
				Name: "instances", Type: contract.TypeInt, Default: 0, Min: &zero, Max: &instances, Roles: server,
				Doc: "epoll instances; 0 takes threads",
			},
			{
				Name: "listener", Type: contract.TypeChoice, Default: "reuseport", Choices: []string{"shared", "reuseport"}, Roles: server,
				Doc:  "shared: one listening socket in every instance; reuseport: one each, the kernel spreads connections",
				Grid: []string{"shared"},
			},
			{
				Name: readBuffer, Type: contract.TypeBytes, Unit: "B", Default: 128 << 10, Min: &smallest, Max: &largest,
				Doc:  "read buffer of each instance or loop, shared by its connections",
				Grid: []string{"16KiB", "1MiB"},
			},
			flow.ContentOption(),
			{
				Name: lowat, Type: contract.TypeBytes, Unit: "B", Default: 0, Min: &zero, Max: &largest,
				Doc: "wire stream, SO_RCVLOWAT: the kernel wakes a loop once so many bytes are there, or the rest of a message if that is less; 0 leaves it at one",
			},
		}, wire.SocketOptions()...),
	}
}

// loops returns the number of event loops, 0 meaning one for each usable CPU, and
// gives the runtime one P more. A loop in a raw system call keeps its P, and the
// control goroutine must be able to answer a mark meanwhile.
func loops(asked int) int {
	if asked == 0 {
		asked = runtime.GOMAXPROCS(0)
	}
	runtime.GOMAXPROCS(asked + 1)
	return asked
}

// threads returns the number that setup asks for; 0 means one for each usable CPU.
func threads(setup contract.Setup, option string) int {
	if option != "" {
		if n := load.Options(setup.Options).Int(option); n > 0 {
			return int(n)
		}
	}
	return setup.Threads
}
