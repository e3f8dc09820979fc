package synthetic

import (
	"math"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/record"
)

func trialRecord(o Options, t record.Trial, s state) record.Record {
	window := o.Window.Nanoseconds()
	open := int64(beginNs + 100_000_000 + warmupNs)
	r := record.Record{
		Schema: record.Schema, Trial: t, Outcome: record.OK,
		StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(t.Order) * (o.Window + time.Second)),
		Timeline: record.Timeline{
			ReadyNs: 90_000_000, StartNs: 100_000_000, OpenNs: 100_000_000 + warmupNs,
			CloseNs: 100_000_000 + warmupNs + window, EndNs: 100_000_000 + warmupNs + window + 50_000_000,
		},
		Noise: record.Noise{LoadAverage: 0.2},
	}
	r.Workers = append(r.Workers, server(o, t, s, open))
	for i := range o.Clients {
		r.Workers = append(r.Workers, client(o, s, open, i))
	}
	return r
}

func server(o Options, t record.Trial, s state, open int64) record.Worker {
	window := o.Window.Nanoseconds()
	edge := func(at int64) *record.Edge {
		served := int64(s.rate * float64(at-open+warmupNs) / 1e9)
		reading := contract.Reading{
			AtNs: at, CPUNs: cpuNs(s.serverCores, at),
			Counts: contract.Counts{
				Exchanges: served, SentBytes: served * s.down, ReceivedBytes: served * s.up,
				Connections: int64(s.connections),
			},
		}
		if t.Levels["server"] != "asio" {
			reading.Runtime = goRuntime(s.serverCores, served, at)
		}
		return &record.Edge{Reading: reading, Meter: meter(s, at, s.serverCores, []int{0, 1})}
	}
	w := record.Worker{
		Name: "server", Role: contract.Server, Seat: "local", Transport: t.Levels["server"],
		Binary: "netdyno-worker-net", Delivery: contract.DeliveryMessage, CPUSet: []int{0, 1},
		Setup: &contract.Setup{
			Trial: t.ID, Transport: t.Levels["server"], Role: contract.Server,
			Exchange: contract.Exchange{UpBytes: s.up, DownBytes: s.down},
		},
		Ready: &contract.Ready{Threads: 2, Options: map[string]any{"buffer": 4096}},
		Idle:  idle(s.memory), Open: edge(open), Close: edge(open + window), Exit: &contract.Exit{},
		Result: &contract.Result{},
	}
	w.Delivery = contract.DeliveryMessage
	return w
}

// idle is what a worker holds when everything is connected and silent.
func idle(memory float64) *record.Edge {
	return &record.Edge{
		Reading: contract.Reading{Runtime: &contract.Runtime{HeapBytes: int64(memory) / 4}},
		Meter:   &contract.Meter{Process: contract.Process{RSSBytes: int64(memory), PeakRSSBytes: int64(memory)}},
	}
}

func client(o Options, s state, open int64, i int) record.Worker {
	window, n := o.Window.Nanoseconds(), float64(o.Clients)
	rate := s.rate / n
	connections := s.connections / o.Clients
	if i == 0 {
		connections += s.connections % o.Clients
	}
	exchanges := int64(rate * float64(window) / 1e9)
	edge := func(at int64) *record.Edge {
		done := int64(rate * float64(at-open+warmupNs) / 1e9)
		return &record.Edge{
			Reading: contract.Reading{
				AtNs: at, CPUNs: cpuNs(s.clientCores/n, at),
				Counts:  contract.Counts{Exchanges: done, SentBytes: done * s.up, ReceivedBytes: done * s.down},
				Runtime: goRuntime(s.clientCores/n, done, at),
			},
			Meter: meter(s, at, s.clientCores/n, []int{2, 3}),
		}
	}
	w := record.Worker{
		Name: "client-" + string(rune('1'+i)), Role: contract.Client, Seat: "local", Transport: "go-epoll",
		Binary: "netdyno-worker-net", Delivery: contract.DeliveryMessage, CPUSet: []int{2, 3},
		Setup: &contract.Setup{
			Transport: "go-epoll", Role: contract.Client,
			Exchange: contract.Exchange{UpBytes: s.up, DownBytes: s.down},
			Load:     contract.Load{Connections: connections, InFlight: 1, Rate: o.Rate / n},
		},
		Ready: &contract.Ready{Connections: connections, Verified: connections, Threads: 2},
		Idle:  idle(12 << 20), Open: edge(open), Close: edge(open + window), Exit: &contract.Exit{},
		Result: &contract.Result{
			FromNs: open, ToNs: open + window,
			Counts: contract.Counts{
				Exchanges: exchanges, SentBytes: exchanges * s.up, ReceivedBytes: exchanges * s.down,
			},
			Drained: drained,
		},
	}
	w.Delivery = contract.DeliveryMessage
	if !o.Bare {
		fill(&w, s, exchanges, o.Rate > 0)
		w.Ticks = ticks(rate, s.down, open, window)
	}
	return w
}

// fill adds the histograms: log-normal, exactly as many values as exchanges.
func fill(w *record.Worker, s state, exchanges int64, openLoop bool) {
	w.Result.Service = lognormal(s.serviceS, exchanges+drained)
	if openLoop {
		w.Result.Response = lognormal(s.serviceS*1.4, exchanges+drained)
		w.Result.Lag = lognormal(s.serviceS*0.1, exchanges+drained)
	}
}

// lognormal encodes n values of the given mean in seconds, spread over the
// quantiles of a log-normal with sigma 0.5.
func lognormal(mean float64, n int64) string {
	const steps, sigma = 400, 0.5
	h := hist.New()
	for i := range int64(steps) {
		share := (float64(i) + 0.5) / steps
		value := mean * math.Exp(sigma*math.Sqrt2*math.Erfinv(2*share-1)-sigma*sigma/2)
		h.Record(int64(value*1e9), (i+1)*n/steps-i*n/steps)
	}
	text, err := h.Encode()
	if err != nil {
		panic(err) // a histogram made here always encodes
	}
	return text
}

func ticks(rate float64, down, open, window int64) []contract.Tick {
	var all []contract.Tick
	for at := int64(tickNs); at <= warmupNs+window; at += tickNs {
		done := int64(rate * float64(at) / 1e9)
		all = append(all, contract.Tick{AtNs: open - warmupNs + at, Exchanges: done, ReceivedBytes: done * down})
	}
	return all
}

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

// cpuNs is what a load of cores has used at an instant of the host's clock.
func cpuNs(cores float64, at int64) int64 { return int64(cores * float64(at-beginNs)) }

func goRuntime(cores float64, exchanges, at int64) *contract.Runtime {
	used := cpuNs(cores, at)
	return &contract.Runtime{
		GCCycles: exchanges / 100_000, GCPauseNs: used / 5000, GCCPUNs: used / 50,
		AllocBytes: exchanges * 48, AllocObjects: exchanges * 2, HeapBytes: 4 << 20, Goroutines: 12,
	}
}

// meter reads a worker of the given cores on the given CPUs, and a host on
// which server and clients run side by side.
func meter(s state, at int64, cores float64, set []int) *contract.Meter {
	used := cpuNs(cores, at)
	received := int64(s.rate * float64(s.up+s.down) * 1.7 * float64(at-beginNs) / 1e9)
	m := &contract.Meter{
		AtNs: at + 30_000, SkewNs: 40_000, CPUSet: set,
		Process: contract.Process{
			CPUNs: used, UserNs: used * 3 / 10, SystemNs: used * 7 / 10, RSSBytes: 20 << 20, PeakRSSBytes: 24 << 20,
			VoluntarySwitches: used / 40_000, InvoluntarySwitches: used / 900_000, Processes: 1, Threads: 2,
		},
		Threads: []contract.Thread{
			{ID: 4711 + set[0], Name: "netdyno-worker", CPUNs: used * 6 / 10},
			{ID: 4712 + set[0], Name: "netdyno-worker", CPUNs: used * 4 / 10},
		},
		Interfaces: contract.Interfaces{{Name: "lo", Interface: contract.Interface{
			ReceivedBytes: received, SentBytes: received, ReceivedPackets: received / 170, SentPackets: received / 170,
		}}},
	}
	for id := range hostCPUs {
		load := s.serverCores / 2
		if id >= 2 {
			load = s.clientCores / 2
		}
		passed, busy := at-beginNs, int64(min(load, 0.9)*float64(at-beginNs))
		softirq := busy / 10
		m.CPUs = append(m.CPUs, contract.CPU{
			ID: id, UserNs: busy * 3 / 10, SystemNs: busy * 7 / 10, SoftIRQNs: softirq,
			IdleNs: 3_000_000_000_000 + int64(id)*1_000_000_000 + passed - busy - softirq,
		})
	}
	return m
}
