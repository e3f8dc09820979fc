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
