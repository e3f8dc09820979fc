package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

func cellName(connections int) string { return fmt.Sprintf("connections=%d", connections) }

// Arm is one treatment and its true effect.
type Arm struct {
	Name   string
	Server string            // transport of the server; empty means Name
	Cost   float64           // server CPU per exchange relative to 12 µs; 0 means 1
	Speed  float64           // closed-loop rate and inverse service time, relative; 0 means 1
	Levels map[string]string // of further factors that the arm bundles
}

// Options describe the study. The zero value of each field has a default.
type Options struct {
	Arms        []Arm // the first is the baseline; default go-net, go-epoll, asio
	Connections []int // one cell each; default 50, 1000
	Blocks      int   // default 8
	Clients     int   // client processes; default 1
	Seed        uint64
	Rate        float64                                // exchanges per second offered over all clients; 0 is the closed loop
	SD          float64                                // standard deviation of the log of each trial's noise
	BlockSD     float64                                // the same for the drift that a block's trials share
	Window      time.Duration                          // default 2 s
	Primary     []string                               // default server.cpu_us_per_exchange, and response_p99_us or exchanges_per_s
	Bare        bool                                   // without histograms and ticks: cheap, for simulations
	Memory      func(levels map[string]string) float64 // of the server, connected and idle, before noise; nil means 16 MiB
	Probes      []Stack                                // where both ends' CPU time goes in one probe of each arm and cell; nil means no probes
}

func (o Options) withDefaults() Options {
	if len(o.Arms) == 0 {
		o.Arms = []Arm{{Name: "go-net"}, {Name: "go-epoll", Cost: 0.61, Speed: 1.2}, {Name: "asio", Cost: 0.55, Speed: 1.3}}
	}
	if len(o.Connections) == 0 {
		o.Connections = []int{50, 1000}
	}
	if o.Blocks == 0 {
		o.Blocks = 8
	}
	if o.Clients == 0 {
		o.Clients = 1
	}
	if o.Window == 0 {
		o.Window = 2 * time.Second
	}
	if len(o.Primary) == 0 {
		o.Primary = []string{metric.OfServer + metric.CPUPerExchange, metric.ExchangesPerS}
		if o.Rate > 0 {
			o.Primary[1] = metric.ResponseP99
		}
	}
	return o
}

// memory returns what the server holds in a trial, its noise drawn apart from
// that of the trial's rate.
func (o Options) memory(t record.Trial, drift float64) float64 {
	const settled = 16 << 20
	if o.Memory == nil {
		return settled
	}
	rng := rand.New(rand.NewPCG(o.Seed, uint64(t.Order)))
	return o.Memory(t.Levels) * drift * math.Exp(o.SD*rng.NormFloat64())
}
