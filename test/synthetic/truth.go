package synthetic

import "netdyno/internal/record"

// The synthetic machine and work.
const (
	messageBytes = 100
	hostCPUs     = 4 // 0 and 1 the server's, 2 and 3 the clients'
	exchangeCPU  = 12e-6
	clientCPU    = 10e-6
	closedRate   = 60_000
	drained      = 7
	tickNs       = 200_000_000
	warmupNs     = 500_000_000
	beginNs      = 3_600_000_000_000 // the host's clock when the trial begins
)

// state is what truly happens in one trial.
type state struct {
	rate        float64 // exchanges per second, all clients
	serviceS    float64 // mean service time
	serverCores float64
	clientCores float64
	connections int
	memory      float64 // of the server, at idle
	up, down    int64   // bytes of an exchange's messages
}

func truth(o Options, t record.Trial, arm Arm, noise float64) state {
	one := func(x float64) float64 {
		if x == 0 {
			return 1
		}
		return x
	}
	s := state{up: messageBytes, down: messageBytes}
	for _, n := range o.Connections {
		if t.Cell == cellName(n) {
			s.connections = n
		}
	}
	if o.Rate > 0 {
		s.rate = o.Rate
		s.serviceS = min(60e-6, 0.5*float64(s.connections)/o.Rate) / one(arm.Speed) * noise
	} else {
		s.rate = closedRate * one(arm.Speed) / noise
		s.serviceS = 0.985 * float64(s.connections) / s.rate
	}
	s.serverCores = s.rate * exchangeCPU * one(arm.Cost) * noise
	s.clientCores = s.rate * clientCPU
	return s
}
