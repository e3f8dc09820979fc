// Package netpoll is transport netpoll: cloudwego/netpoll. A few pollers read ahead
// into each connection's buffer and run a handler on a pooled goroutine when bytes
// have come. Wire echo.
//
// The pollers read whether or not the bytes are taken, so a peer that sends without
// reading makes the other end's memory grow. The library has no bound for that; a
// server accepts the trial's own clients only.
package netpoll

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/cloudwego/netpoll"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/flow"
)

// Transport is netpoll.
type Transport struct{}

// Describe implements load.Transport.
func (Transport) Describe() contract.Transport {
	zero, most := 0.0, 1024.0
	return contract.Transport{
		Name:     "netpoll",
		Doc:      "cloudwego/netpoll: server by OnRequest, client by blocking reads from the pollers' buffers",
		Wire:     flow.Echo,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryChunks,
		Codecs:   []string{"bytes"},
		Features: flow.EchoFeatures(),
		Options: []contract.Option{{
			Name: "pollers", Type: contract.TypeInt, Default: 0, Min: &zero, Max: &most,
			Doc: "epoll instances of the process; 0 takes the library's own number, one and another for every 20 CPUs",
		}},
	}
}

// The library's pollers belong to the process: they are made once, before its first
// connection.
var (
	configuring sync.Mutex
	pollers     = runtime.GOMAXPROCS(0)/20 + 1 // the library's default (netpoll_unix.go)
)

// configure makes option pollers effective and returns their number. The error
// is of kind setup.
func configure(setup contract.Setup) (int, error) {
	configuring.Lock()
	defer configuring.Unlock()
	asked := int(load.Options(setup.Options).Int("pollers"))
	if asked == 0 || asked == pollers {
		return pollers, nil
	}
	if err := netpoll.Configure(netpoll.Config{PollerNum: asked}); err != nil {
		return 0, load.Failure(contract.SetupFailed, fmt.Errorf("configure %d pollers: %w", asked, err))
	}
	pollers = asked
	return pollers, nil
}

// effective returns the options that ready reports.
func effective(pollers int) map[string]any { return map[string]any{"pollers": pollers} }
