package finding_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/finding/synthetic"
	"netdyno/internal/record"
)

// examined returns the findings about one synthetic trial after a change.
func examined(t *testing.T, o synthetic.Options, change func(*record.Record)) finding.Trial {
	t.Helper()
	o.Blocks, o.Connections, o.Arms = 1, []int{50}, []synthetic.Arm{{Name: "go-net"}}
	h, trials, records := synthetic.Run(o)
	change(&records[0])
	f := find(t, h, trials, records)
	return f.Cells[0].Arms[0].Trials[0]
}

// entry is one change to honest books and what is said of it.
type entry struct {
	name   string
	change func(server, client *record.Worker)
	want   string // "" for valid
}

// crossed lets only a share of what a client received cross its interface.
func crossed(c *record.Worker, share float64) {
	lo := c.Close.Meter.Interfaces["lo"]
	lo.ReceivedBytes = c.Open.Meter.Interfaces["lo"].ReceivedBytes + int64(share*float64(c.Result.Counts.ReceivedBytes))
	c.Close.Meter.Interfaces["lo"] = lo
}

func TestLedger(t *testing.T) {
	checkLedger(t, []entry{
		{"half of it crossed no interface", func(_, c *record.Worker) { crossed(c, 0.5) }, "its host's interfaces"},
		{"honest", func(_, _ *record.Worker) {}, ""},
		{"in flight at the edges", func(_, c *record.Worker) { c.Result.Counts.SentBytes += 50 * 100 }, ""},
		{"sent too much", func(_, c *record.Worker) { c.Result.Counts.SentBytes += 51 * 100 }, "client-1 sent"},
		{"received too little", func(_, c *record.Worker) { c.Result.Counts.ReceivedBytes -= 51 * 100 }, "client-1 received"},
		{"server heard less", func(s, _ *record.Worker) { s.Close.Reading.Counts.ReceivedBytes -= 100_000 }, "the server received"},
		{"server said more", func(s, _ *record.Worker) { s.Close.Reading.Counts.SentBytes += 100_000 }, "the server sent"},
		{"server edge late", func(s, _ *record.Worker) {
			c := &s.Close.Reading // half a percent later, and as much more done
			c.AtNs += 10_000_000
			c.Counts.ReceivedBytes += 1000
			c.Counts.SentBytes += 1000
		}, ""},
		{"a reading that lagged by as much", func(s, _ *record.Worker) {
			s.Close.Meter.SkewNs = 80_000_000 // 4 % of the window
			s.Close.Reading.Counts.ReceivedBytes -= 9_000
			s.Close.Reading.Counts.SentBytes -= 9_000
			s.Close.Reading.Counts.Exchanges -= 90
		}, ""},
		{"skew that does not explain it", func(s, _ *record.Worker) {
			s.Close.Meter.SkewNs = 20_000_000
			s.Close.Reading.Counts.ReceivedBytes -= 30_000
		}, "the server received"},
		{"skew beyond belief", func(s, _ *record.Worker) {
			s.Close.Meter.SkewNs = 2_000_000_000
			s.Close.Reading.Counts.ReceivedBytes -= 60_000
		}, "the server received"},
		{"a server whose window outlasts the load", func(s, _ *record.Worker) {
			s.Close.Reading.AtNs += 300_000_000 // and no byte more
		}, ""},
		{"foreign server cannot count", func(s, _ *record.Worker) {
			s.Ready.Foreign, s.Open.Reading.Counts, s.Close.Reading.Counts = true, contract.Counts{}, contract.Counts{}
		}, ""},
		{"server blind without saying so", func(s, _ *record.Worker) {
			s.Open.Reading.Counts, s.Close.Reading.Counts = contract.Counts{}, contract.Counts{}
		}, "the server received 0"},
		{"less on the wire than delivered", func(_, c *record.Worker) {
			lo := c.Open.Meter.Interfaces["lo"]
			lo.ReceivedBytes += 100_000 // of 200,000 payload bytes
			c.Close.Meter.Interfaces["lo"] = lo
		}, "interfaces"},
		{"no interface counters", func(_, c *record.Worker) { c.Open.Meter.Interfaces, c.Close.Meter.Interfaces = nil, nil }, ""},
		{"histogram short", func(_, c *record.Worker) { c.Result.Drained++ }, "service times were recorded"},
		{"histogram garbled", func(_, c *record.Worker) { c.Result.Service = "AAAA" }, "cannot be read"},
		{"failed exchanges", func(_, c *record.Worker) {
			c.Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Timeout: 2, contract.Peer: 1}
		}, "3 exchanges failed (peer, timeout)"},
		{"unverified connections", func(_, c *record.Worker) { c.Ready.Verified-- }, "verified 49 of its 50"},
		{"no result", func(_, c *record.Worker) { c.Result = nil }, "client-1 left no result"},
		{"no window", func(_, c *record.Worker) { c.Result.ToNs = c.Result.FromNs }, "window of 0 ns"},
		{"nothing done", func(_, c *record.Worker) { c.Result.Counts.Exchanges = 0 }, "completed no exchange"},
		{"fatal error", func(s, _ *record.Worker) {
			s.Errors = []contract.Error{{Kind: contract.Bug, Text: "nil map", Fatal: true}}
		}, "server reported bug: nil map"},
		{"no server edges", func(s, _ *record.Worker) { s.Open, s.Close = nil, nil }, ""},
	})
}

// What a codec decides, and what the server counts by itself.
func TestLedgerOfStructuredMessages(t *testing.T) {
	checkLedger(t, []entry{
		{"a codec decides the sizes", func(s, c *record.Worker) {
			for _, w := range []*record.Worker{s, c} {
				w.Setup.Exchange = contract.Exchange{Codec: "json", Message: &contract.Structure{Name: "simple"}}
			}
			c.Ready.UpBytes, c.Ready.DownBytes = 100, 100
		}, ""},
		{"a codec's sizes must hold", func(_, c *record.Worker) { c.Ready.UpBytes, c.Ready.DownBytes = 100, 120 }, "client-1 received"},
		{"a codec's messages may be compressed", func(_, c *record.Worker) {
			c.Setup.Exchange.Message = &contract.Structure{Name: "complex"}
			c.Close.Meter.Interfaces["lo"] = c.Open.Meter.Interfaces["lo"]
		}, ""},
		{"unverified, by the codec's size", func(_, c *record.Worker) {
			c.Setup.Exchange.DownBytes = 0
			c.Ready.Verified, c.Ready.UpBytes, c.Ready.DownBytes = 49, 100, 100
		}, "verified 49 of its 50"},
		{"server counted other exchanges", func(s, _ *record.Worker) { s.Close.Reading.Counts.Exchanges += 1000 }, "the server counted 3000 exchanges, the clients 2000"},
		{"server counts no exchanges", func(s, _ *record.Worker) {
			s.Close.Reading.Counts.Exchanges, s.Open.Reading.Counts.Exchanges = 0, 0
		}, ""},
	})
}

// A client that wraps a foreign program: its bytes are the kernel's, in the
// direction that streams, and nothing is verified.
func TestLedgerOfForeignClients(t *testing.T) {
	const work = 2000 * 100 // bytes of the window
	wrap := func(stream contract.Stream, up, down int64) func(_, c *record.Worker) {
		return func(s, c *record.Worker) {
			c.Ready.Foreign, c.Ready.Verified = true, 0
			c.Result.Service, c.Result.Drained = "", 0 // such a program times no exchange
			for _, w := range []*record.Worker{s, c} {
				w.Setup.Exchange = contract.Exchange{UpBytes: 100, DownBytes: 100, Stream: stream}
			}
			c.Result.Counts.SentBytes, c.Result.Counts.ReceivedBytes = up, down
			s.Close.Reading.Counts.SentBytes = s.Open.Reading.Counts.SentBytes + down
			s.Close.Reading.Counts.ReceivedBytes = s.Open.Reading.Counts.ReceivedBytes + up
		}
	}
	then := func(first, second func(_, c *record.Worker)) func(_, c *record.Worker) {
		return func(s, c *record.Worker) { first(s, c); second(s, c) }
	}
	checkLedger(t, []entry{
		{"up", wrap(contract.StreamUp, work, 0), ""},
		{"up, with some talk beside it", then(wrap(contract.StreamUp, work, 0), func(s, _ *record.Worker) { s.Close.Reading.Counts.SentBytes += 5000 }), ""},
		{"down", wrap(contract.StreamDown, 0, work), ""},
		{"both, at paces of their own", wrap(contract.StreamBoth, work/2, work*3/2), ""},
		{"ping-pong", wrap("", work, work), ""},
		{"exchanges that its bytes do not make", wrap(contract.StreamUp, work*9/10, 0), "client-1 moved 180000 bytes, but 2000 exchanges of 100 make 200000"},
		{"the other end's kernel saw less", then(wrap(contract.StreamUp, work, 0), func(s, _ *record.Worker) { s.Close.Reading.Counts.ReceivedBytes -= work / 2 }), "the server received 100000 bytes"},
		{"the other end's kernel sent less", then(wrap(contract.StreamDown, 0, work), func(s, _ *record.Worker) { s.Close.Reading.Counts.SentBytes -= work / 2 }), "the server sent 100000 bytes"},
	})
	trial := examined(t, synthetic.Options{}, func(r *record.Record) { r.Workers[1].Ready.Foreign = true })
	if trial.Status != finding.Valid || !slices.Equal(trial.Flags, []string{finding.Unverified}) || !strings.Contains(trial.Reason, "client-1 wraps a program") {
		t.Errorf("%s: %v %s, want the flag unverified", trial.Status, trial.Flags, trial.Reason)
	}
}

func checkLedger(t *testing.T, cases []entry) {
	t.Helper()
	for _, c := range cases {
		for _, clientFirst := range []bool{false, true} {
			trial := examined(t, synthetic.Options{Rate: 1000, Window: 2 * time.Second}, func(r *record.Record) {
				c.change(&r.Workers[0], &r.Workers[1])
				if clientFirst {
					r.Workers[0], r.Workers[1] = r.Workers[1], r.Workers[0]
				}
			})
			status := finding.Valid
			if c.want != "" {
				status = finding.StatusInvalid
			}
			if trial.Status != status || !strings.Contains(trial.Reason, c.want) {
				t.Errorf("%s: %s, %q; want %s, %q", c.name, trial.Status, trial.Reason, status, c.want)
			}
		}
	}
}

// More was in flight
// than there was room for: the service times or the rate are wrong.
func TestLittlesLaw(t *testing.T) {
	trial := examined(t, synthetic.Options{}, func(r *record.Record) {
		r.Workers[1].Setup.Load.Connections = 40
	})
	if trial.Status != finding.StatusInvalid || !strings.Contains(trial.Reason, "49.22 exchanges in flight in 40 slots") {
		t.Errorf("%s: %q", trial.Status, trial.Reason)
	}
}

// fixedAmount makes a record one of a fixed amount of work, whose server was
// asked long after the work was done.
func fixedAmount(r *record.Record) {
	c := &r.Workers[1]
	c.Setup.Load.Amount = 1000
	c.AtResult, c.Close = c.Close.Meter, nil
	s := r.Workers[0].Close
	s.Reading.AtNs += 900_000_000
	s.Meter.AtNs += 900_000_000
}

func TestFixedAmount(t *testing.T) {
	whole := examined(t, synthetic.Options{}, func(*record.Record) {})
	trial := examined(t, synthetic.Options{}, func(r *record.Record) {
		fixedAmount(r)
		for i := range r.Workers[1].Ticks { // the load tails off: connections end one by one
			r.Workers[1].Ticks[i].Exchanges -= int64(i * i * 300)
		}
	})
	if trial.Status != finding.Valid || len(trial.Flags) != 0 || trial.Limit != finding.Latency || trial.Values["work_s"] != 2 {
		t.Errorf("%s: %s %v, limit %s, values %v", trial.Status, trial.Reason, trial.Flags, trial.Limit, trial.Values)
	}
	for _, name := range []string{serverCPU, "client.cpu_us_per_exchange", "server.cores", "server.alloc_bytes_per_exchange"} {
		if a, b := trial.Values[name], whole.Values[name]; b == 0 || a < 0.999*b || a > 1.001*b {
			t.Errorf("%s = %v of a fixed amount, %v of the same in a window", name, a, b)
		}
	}
	if _, ok := whole.Values["work_s"]; ok {
		t.Error("a fixed window has a time for its work")
	}
	short := examined(t, synthetic.Options{Bare: true}, func(r *record.Record) {
		fixedAmount(r)
		r.Workers[0].Close.Reading.Counts.ReceivedBytes -= 1_000_000
	})
	if short.Status != finding.StatusInvalid || !strings.Contains(short.Reason, "the server received") || strings.Contains(short.Reason, "/s") {
		t.Errorf("%s: %s", short.Status, short.Reason)
	}
	busy := examined(t, synthetic.Options{}, func(r *record.Record) {
		fixedAmount(r)
		from, to := r.Workers[0].Open.Meter, r.Workers[0].Close.Meter
		to.Threads[1].CPUNs = from.Threads[1].CPUNs + 1_970_000_000 // of 2 s of work, asked after 2.9 s
	})
	if busy.Limit != finding.ServerCore || !strings.Contains(busy.LimitProof, "98.5 %") {
		t.Errorf("limit %s: %s", busy.Limit, busy.LimitProof)
	}
}

// Of a server that is nobody's process only the client's side is known.
func TestServerElsewhere(t *testing.T) {
	trial := examined(t, synthetic.Options{}, func(r *record.Record) {
		s := &r.Workers[0]
		s.Ready.Elsewhere, s.Ready.Foreign = true, true
		from, to := s.Open.Meter, s.Close.Meter
		to.Threads[0].CPUNs = from.Threads[0].CPUNs + to.AtNs - from.AtNs // the wrapper's thread is no server's
	})
	if trial.Status != finding.Valid || trial.Limit != finding.Unknown || !strings.Contains(trial.LimitProof, "the server runs elsewhere") {
		t.Errorf("%s: %s, limit %s (%s)", trial.Status, trial.Reason, trial.Limit, trial.LimitProof)
	}
	for name := range trial.Values {
		if strings.HasPrefix(name, "server.") {
			t.Errorf("%s is known of a server elsewhere", name)
		}
	}
	for _, split := range trial.CPU {
		if split.Of == "server" {
			t.Errorf("the CPU of a server elsewhere was split: %v", split)
		}
	}
}

func TestFlags(t *testing.T) {
	cases := []struct {
		name   string
		rate   float64
		change func(server, client *record.Worker)
		want   string
		why    string
	}{
		{"quiet closed loop", 0, func(_, _ *record.Worker) {}, "", ""},
		{"quiet open loop", 20000, func(_, _ *record.Worker) {}, "", ""},
		{"overloaded", 20000, func(_, c *record.Worker) { c.Setup.Load.Rate = 20500 }, finding.Overloaded, "achieved 97.6 % of the offered rate"},
		{"short by chance of a drawn schedule", 20000, func(_, c *record.Worker) {
			c.Setup.Load.Rate, c.Setup.Load.Arrival = 20250, contract.Poisson
		}, "", ""},
		{"unequal windows", 20000, func(s, _ *record.Worker) { s.Close.Reading.AtNs += 11_000_000 }, finding.Skewed, "the window of server was 11 ms longer than that of client-1"},
		{"skewed", 20000, func(s, _ *record.Worker) { s.Close.Meter.SkewNs = 11_000_000 }, finding.Skewed, "server was metered 11 ms apart"},
		{"stolen", 20000, func(s, _ *record.Worker) { s.Close.Meter.CPUs[1].StealNs += 200_000_000 }, finding.Noisy, "stolen"},
		{"connections made anew", 0, func(_, c *record.Worker) { c.Result.Counts.Redialled = 3 }, finding.Reconnected, "3 connections ended between exchanges"},
		{"slots that wait for another's stream", 0, func(_, c *record.Worker) { c.Setup.Load.InFlight, c.Setup.Exchange.Stream = 2, contract.StreamUp }, "", ""},
		{"slots empty that nothing streams before", 0, func(_, c *record.Worker) { c.Setup.Load.InFlight = 2 }, finding.Lagging, "of 100 slots busy"},
		{"slots empty", 0, func(_, c *record.Worker) { c.Setup.Load.Connections = 55 }, finding.Lagging, "of 55 slots busy"},
		{"slots empty by intent", 0, func(_, c *record.Worker) {
			c.Setup.Load.Connections, c.Setup.Load.ThinkNs = 55, 1000
		}, "", ""},
		{"slows down", 20000, func(_, c *record.Worker) {
			for i := range c.Ticks {
				c.Ticks[i].Exchanges -= int64(i * i * 20)
			}
		}, finding.Unsteady, "the rate changed by"},
	}
	for _, c := range cases {
		trial := examined(t, synthetic.Options{Rate: c.rate}, func(r *record.Record) { c.change(&r.Workers[0], &r.Workers[1]) })
		if trial.Status != finding.Valid || strings.Join(trial.Flags, " ") != c.want || !strings.Contains(trial.Reason, c.why) {
			t.Errorf("%s: %s %v %q; want %q, %q", c.name, trial.Status, trial.Flags, trial.Reason, c.want, c.why)
		}
	}
}

func TestLimits(t *testing.T) {
	busyCPUs := func(workers []record.Worker, ids ...int) {
		for i := range workers {
			for _, id := range ids {
				from, to := workers[i].Open.Meter.CPUs, workers[i].Close.Meter.CPUs
				idle := to[id].IdleNs - from[id].IdleNs
				to[id].IdleNs = from[id].IdleNs
				to[id].SoftIRQNs += idle
			}
		}
	}
	thread := func(w *record.Worker, i int, share float64) {
		from, to := w.Open.Meter, w.Close.Meter
		to.Threads[i].CPUNs = from.Threads[i].CPUNs + int64(share*float64(to.AtNs-from.AtNs))
	}
	use := func(w *record.Worker, cores float64) {
		from, to := w.Open.Meter, w.Close.Meter
		to.Process.CPUNs = from.Process.CPUNs + int64(cores*float64(to.AtNs-from.AtNs))
	}
	cases := []struct {
		name   string
		rate   float64
		change func(w []record.Worker)
		want   finding.Limit
		proof  string
	}{
		{"nothing, closed", 0, func([]record.Worker) {}, finding.Latency, "of 50 slots waited"},
		{"nothing, open", 20000, func([]record.Worker) {}, finding.Schedule, "reached 100 % of its rate"},
		{"rate missed for no reason", 20000, func(w []record.Worker) { w[1].Setup.Load.Rate = 30000 }, finding.Unknown, "no CPU was full"},
		{"server thread", 20000, func(w []record.Worker) { thread(&w[0], 1, 0.984) }, finding.ServerCore, "server thread 4712 (netdyno-worker) busy 98.4 % of the window"},
		{"client thread", 0, func(w []record.Worker) { thread(&w[1], 0, 0.96) }, finding.ClientCore, "client-1 thread 4713 (netdyno-worker) busy 96.0 %"},
		{"both threads: the server comes first", 0, func(w []record.Worker) { thread(&w[1], 0, 0.99); thread(&w[0], 0, 0.96) }, finding.ServerCore, "96.0 %"},
		{"impossible thread", 0, func(w []record.Worker) { thread(&w[0], 0, 7) }, finding.Latency, ""},
		{"server set by processes", 0, func(w []record.Worker) { use(&w[0], 1.86) }, finding.ServerCPU, "server used 1.86 of its 2 CPUs (93.0 %)"},
		{"client set by processes", 0, func(w []record.Worker) { use(&w[1], 1.9) }, finding.ClientCPU, "client used 1.9 of its 2 CPUs"},
		{"server set by its CPUs' interrupts", 0, func(w []record.Worker) { busyCPUs(w, 0, 1) }, finding.ServerCPU, "the server's own CPUs 0,1 were 100.0 % busy"},
		{"client set by its CPUs' interrupts", 0, func(w []record.Worker) { busyCPUs(w, 2, 3) }, finding.ClientCPU, "the client's own CPUs 2,3"},
		{"a stranger on the server's CPUs", 0, func(w []record.Worker) {
			busyCPUs(w, 0, 1)
			for i := range w {
				for id := range 2 { // user time of no worker, not interrupts
					to := &w[i].Close.Meter.CPUs[id]
					to.UserNs += to.SoftIRQNs
					to.SoftIRQNs = w[i].Open.Meter.CPUs[id].SoftIRQNs
				}
			}
		}, finding.HostCPU, "something else ran there"},
		{"shared set full", 0, func(w []record.Worker) {
			for i := range w {
				w[i].Open.Meter.CPUSet, w[i].Close.Meter.CPUSet = []int{0, 1}, []int{0, 1}
			}
			busyCPUs(w, 0, 1)
		}, finding.HostCPU, "server and client share the CPUs 0,1"},
		{"whole host full", 0, func(w []record.Worker) {
			for i := range w {
				w[i].Open.Meter.CPUSet, w[i].Close.Meter.CPUSet = []int{0, 1, 2, 3}, []int{0, 1, 2, 3}
			}
			busyCPUs(w, 0, 1, 2, 3)
		}, finding.HostCPU, "all 4 CPUs of local"},
		{"unmetered server", 0, func(w []record.Worker) { w[0].Close.Meter = nil }, finding.Unknown, "missing"},
	}
	for _, c := range cases {
		trial := examined(t, synthetic.Options{Rate: c.rate}, func(r *record.Record) { c.change(r.Workers) })
		if trial.Limit != c.want || !strings.Contains(trial.LimitProof, c.proof) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, trial.Limit, trial.LimitProof, c.want, c.proof)
		}
	}
}

// A rate paced by the client says nothing about servers; the CPU it cost does.
func TestServerVerdictFromClientLimitIsRefused(t *testing.T) {
	o := synthetic.Options{Blocks: 10, Connections: []int{50}, Primary: []string{"exchanges_per_s", serverCPU}}
	h, trials, records := synthetic.Run(o)
	for i := range records {
		client := &records[i].Workers[1]
		client.Setup.Load.Amount = 1000
		from, to := client.Open.Meter, client.Close.Meter
		to.Threads[0].CPUNs = from.Threads[0].CPUNs + (to.AtNs - from.AtNs)
	}
	f := find(t, h, trials, records)
	for metric, want := range map[string]finding.Verdict{
		"exchanges_per_s": finding.Invalid, "service_p50_us": finding.Invalid, "work_s": finding.Invalid, serverCPU: finding.Better,
	} {
		if c := comparison(t, f, "connections=50", metric, "go-epoll"); c.Verdict != want {
			t.Errorf("%s: %s (%s), want %s", metric, c.Verdict, c.Reason, want)
		}
	}
	for i := range trials { // now the client differs as well: the comparison is of clients too
		if trials[i].Arm != "go-net" {
			trials[i].Levels["client"] = "asio"
		}
	}
	f = find(t, h, trials, records)
	if c := comparison(t, f, "connections=50", "exchanges_per_s", "go-epoll"); c.Verdict == finding.Invalid {
		t.Errorf("%s: %s", c.Verdict, c.Reason)
	}
}

func TestOverloadedTimesAreNotCompared(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 8, Connections: []int{50}, Rate: 20000})
	for i := range records {
		if trials[i].Arm == "asio" && trials[i].Block == 3 {
			records[i].Workers[1].Setup.Load.Rate = 22000
		}
	}
	f := find(t, h, trials, records)
	if c := comparison(t, f, "connections=50", "response_p99_us", "asio"); c.Verdict != finding.Invalid || !strings.Contains(c.Reason, "asio was overloaded in 1 of 8 trials") {
		t.Errorf("%s: %s", c.Verdict, c.Reason)
	}
	if c := comparison(t, f, "connections=50", "response_p99_us", "go-epoll"); c.Verdict == finding.Invalid {
		t.Errorf("another arm's overload spoils go-epoll: %s", c.Reason)
	}
}

func TestDeliveryAndPlaceAreWarnedOf(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, Bare: true, Connections: []int{50, 200}})
	for i := range records {
		if trials[i].Arm == "asio" {
			records[i].Workers[0].Delivery = contract.DeliveryChunks
		}
	}
	f := find(t, h, trials, records)
	var about []string
	for _, w := range f.Warnings {
		about = append(about, w.About)
		if w.About == "delivery" && !(strings.Contains(w.Text, "in 2 of 2 cells") && strings.Count(w.Text, "asio (server chunks, client message)") == 1) {
			t.Errorf("delivery: %s", w.Text)
		}
	}
	if strings.Join(about, " ") != "delivery loopback" {
		t.Errorf("warnings about %v", about)
	}
}
