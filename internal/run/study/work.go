package study

import (
	"fmt"
	"strings"
	"time"

	"netdyno/internal/arrivals"
	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/sizes"
	"netdyno/internal/steady"
)

// Work is a trial's levels as typed values: what the bench sets up. Load's
// rate and connections are totals over all clients; see ClientLoad.
type Work struct {
	Build          string            // directory whose workers come before all others; "" for none
	Server, Client string            // transports
	Hosts          Hosts             // of the rig; "" where the rig's order decides
	Source         string            // address that clients connect from; "" for the system's choice
	Path           Path              // between the two
	BothOptions    map[string]string // opt.NAME: for each end that declares it
	ServerOptions  map[string]string // opt.server.NAME
	ClientOptions  map[string]string // opt.client.NAME
	Exchange       contract.Exchange
	Message        string  // level of factor message; "" when the codec is bytes
	Workload       string  // level of factor workload, which says what Exchange and Load do not; "" for none
	RateShare      float64 // of a rate that is not known yet: 0.6 of what the arm does flat out; Load.Rate is no rate then
	Speed          float64 // of a replay; 0 for that of the recording
	Times          string  // level of factor arrival whose file has the times; "" for none
	TLS            bool
	Resume         bool // new connections resume TLS sessions of earlier ones
	Load           contract.Load
	Work           *contract.Work // of the servers; nil for none
	Servers        int            // processes
	Clients        int            // processes
	Listeners      int            // ports of each server
	Threads        int            // of each worker; 0 is one per usable CPU
	Placement      string
	Link           record.Link   // between the hosts of the rig
	Window         time.Duration // 0 when Load.Amount ends the trial
	Warmup         time.Duration
	WarmupMost     time.Duration // of a load that has not come to rest before
	WarmupBound    bool          // WarmupMost was given
	Timeline       bool          // a probe has one in any case
	Events         bool          // clients tell when events of replies come
	Stages         bool          // … and how long stages of exchanges took
	MayStages      bool          // … that, where a client can
}

// Hosts are the names of the hosts that the two ends of a trial run on, and of the
// network that these are on.
type Hosts struct{ Server, Client, Network string }

// Decode reads a trial's levels. A factor that is absent has its default; the
// error names an unknown factor, a bad level or a missing transport.
func Decode(levels map[string]string) (Work, error) {
	read := defaults()
	w := Work{BothOptions: map[string]string{}, ServerOptions: map[string]string{}, ClientOptions: map[string]string{}}
	options := map[string]map[string]string{"": w.BothOptions, "server": w.ServerOptions, "client": w.ClientOptions}
	noWindow := false
	for _, factor := range sortedKeys(levels) {
		text := levels[factor]
		if factor == "window" && text == "0s" {
			noWindow = true
			continue
		}
		f, err := FactorNamed(factor)
		if err != nil {
			return w, fmt.Errorf("decode trial: %w", err)
		}
		l, err := f.Level(text)
		if err != nil {
			return w, fmt.Errorf("decode trial: %w", err)
		}
		if name, end := optionOf(factor); name != "" {
			options[end][name] = l.Text
			continue
		}
		set(read, factor, l)
	}
	settle(read)
	if noWindow && !(read["amount"].Value > 0) {
		return w, fmt.Errorf("decode trial: window is 0s and there is no amount; expected one of them")
	}
	return w.fill(read)
}

func (w Work) fill(read map[string]Level) (Work, error) {
	for _, end := range []string{"server", "client"} {
		if read[end].Text == "" {
			return w, fmt.Errorf("decode trial: the level of %s is missing", end)
		}
	}
	number := func(factor string) float64 { return read[factor].Value }
	w.Server, w.Client = read["server"].Text, read["client"].Text
	w.Path = pathOf(read[record.PathFactor].Text)
	w.Hosts = Hosts{Server: read[ServerHost].Text, Client: read[ClientHost].Text, Network: read[record.NetworkFactor].Text}
	w.Source = read[ClientSource].Text
	w.Exchange = contract.Exchange{
		UpBytes: int64(number("request")), DownBytes: int64(number("response")), Codec: read["codec"].Text,
		ChunkBytes: int64(number("chunk")),
	}
	if err := w.enterSizes(read["request"].Text, read["response"].Text); err != nil {
		return w, err
	}
	if stream := read["stream"].Text; stream != unstreamed {
		w.Exchange.Stream = contract.Stream(stream)
	}
	w.Build, w.Message, w.TLS = read["build"].Text, read["message"].Text, number("tls") > 0
	w.Resume = number("resumption") > 0
	w.Workload, w.Speed = read[WorkloadFactor].Text, number("speed")
	w.Load = contract.Load{
		Connections: int(number("connections")),
		InFlight:    int(number("inflight")),
		Rate:        number("rate"),
		ThinkNs:     int64(number("think")),
		ActiveShare: number("active"),
		Fresh:       number("fresh") > 0,
		Amount:      int64(number("amount")),
		DeadlineNs:  int64(number("deadline")),
		ConnectNs:   int64(number("connect_deadline")),
		MaxErrors:   number("max_errors"),
	}
	if read[PaceFactor].Text == PaceCheap {
		w.Load.GatherNs = Gathered.Nanoseconds()
	}
	if err := w.enterWork(read["work"], read["work.by"].Text); err != nil {
		return w, err
	}
	w.Timeline = number("timeline") > 0
	w.Exchange.EveryNs = int64(number("every"))
	w.Events = number("events") > 0 || w.Exchange.EveryNs > 0
	_, said := read["stages"]
	_, resumption := read["resumption"] // also where it is no, beside which it is yes
	w.Stages, w.MayStages = number("stages") > 0, !said && (w.Events || resumption || w.ServerOptions["address"] != "")
	w.Servers, w.Clients = int(number("servers")), int(number("clients"))
	w.Listeners, w.Threads = int(number("listeners")), int(number("threads"))
	w.Placement = read["placement"].Text
	w.Link = record.Link{RateBitsPerS: number("link.rate"), Delay: time.Duration(number("link.delay")), LossShare: number("link.loss")}
	if isShare(read[record.Rate].Text) {
		if of := read[record.RateOf]; positive(of) {
			w.Load.Rate *= of.Value
		} else {
			w.RateShare = number(record.Rate)
		}
	}
	w.Window, w.Warmup = time.Duration(number("window")), time.Duration(number("warmup"))
	w.WarmupMost, w.WarmupBound = steady.Standard*w.Warmup, read["warmup_max"].Text != ""
	if w.WarmupBound {
		w.WarmupMost = max(w.Warmup, time.Duration(number("warmup_max")))
	}
	switch arrival := read["arrival"]; {
	case fromFile(arrival):
		w.Times = arrival.Text
	case w.Load.Rate > 0:
		return w, w.enterArrivals(arrival.Text)
	}
	return w, nil
}

// fromFile tells whether a level of factor arrival names a file of times.
func fromFile(l Level) bool { return strings.HasPrefix(l.Text, "trace:") }

// enterSizes gives the exchange tables of sizes where these vary.
func (w *Work) enterSizes(request, response string) error {
	x := &w.Exchange
	for _, of := range []struct {
		text    string
		largest *int64
		table   *contract.Table
		mean    *float64
	}{{request, &x.UpBytes, &x.UpSizes, &x.UpMeanBytes}, {response, &x.DownBytes, &x.DownSizes, &x.DownMeanBytes}} {
		if !sizes.Is(of.text) {
			continue
		}
		s, err := sizes.Parse(of.text)
		if err != nil {
			return fmt.Errorf("decode trial: %w", err)
		}
		*of.largest, *of.table, *of.mean = s.Largest(), s.Table, s.Mean()
	}
	return nil
}

// enterWork gives the servers their work.
func (w *Work) enterWork(l Level, by string) error {
	if !positive(l) {
		return nil
	}
	s, err := sizes.ParseTime(l.Text)
	if err != nil {
		return fmt.Errorf("decode trial: %w", err)
	}
	w.Work = &contract.Work{Ns: s.Table, By: contract.WorkBy(by)}
	return nil
}

// enterArrivals makes the load follow the arrivals. A rate that goes through phases once
// begins with its first through the warm-up, so that the window has them all.
func (w *Work) enterArrivals(text string) error {
	a, err := arrivals.Parse(text)
	if err != nil {
		return fmt.Errorf("decode trial: %w", err)
	}
	a.Enter(&w.Load)
	if first := w.Load.Phases; len(first) > 0 && !w.Load.Repeat && w.Warmup > 0 {
		w.Load.Phases = append([]contract.Phase{{float64(w.Warmup), first[0][1], first[0][1]}}, first...)
	}
	return nil
}

// optionOf takes an option factor apart: "opt.server.buffer" is buffer at the
// server, "opt.read_buffer" at both ends (end ""). The name is "" for others.
func optionOf(factor string) (name, end string) {
	name, ok := strings.CutPrefix(factor, OptionPrefix)
	if !ok {
		return "", ""
	}
	for _, end := range []string{"server", "client"} {
		if own, ok := strings.CutPrefix(name, end+"."); ok {
			return own, end
		}
	}
	return name, ""
}

// ClientLoad returns the share of client i, counted from 0, of the trial's
// load: connections as even as they come, and the rate by connections, so
// that each connection is offered the same. It panics unless 0 ≤ i < Clients.
func (w Work) ClientLoad(i int) contract.Load {
	if i < 0 || i >= w.Clients {
		panic(fmt.Sprintf("client %d of %d", i, w.Clients))
	}
	load := w.Load
	load.Connections = w.Load.Connections / w.Clients
	if i < w.Load.Connections%w.Clients {
		load.Connections++
	}
	load.Rate = w.Load.Rate * float64(load.Connections) / float64(w.Load.Connections)
	load.Phases = arrivals.Share(w.Load.Phases, float64(load.Connections)/float64(w.Load.Connections))
	return load
}
