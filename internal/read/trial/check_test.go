package trial_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// miscount is one change to honest counters and what is said of it.
type miscount struct {
	name   string
	change func(server, client *record.Worker)
	want   string // "" for valid
}

// crossed lets only a share of what a client received cross its interface.
func crossed(c *record.Worker, share float64) {
	lo, _ := c.Close.Meter.Interfaces.Of("lo")
	before, _ := c.Open.Meter.Interfaces.Of("lo")
	lo.ReceivedBytes = before.ReceivedBytes + int64(share*float64(c.Result.Counts.ReceivedBytes))
	c.Close.Meter.Interfaces.Set("lo", lo)
}

// early lets a server be read 9 ms, 0.45 % of the window, before its client,
// which completes so many of its 2000 exchanges meanwhile.
func early(s *record.Worker, exchanges int64) {
	s.Close.Meter.SkewNs = 9_000_000
	s.Close.Reading.Counts.ReceivedBytes -= 100 * exchanges
	s.Close.Reading.Counts.SentBytes -= 100 * exchanges
	s.Close.Reading.Counts.Exchanges -= exchanges
}

// drained lets a client work off twice its window's exchanges after it, slower
// than those, the last of which had waited for so long.
func drained(c *record.Worker, longest time.Duration) {
	n := c.Result.Counts.Exchanges
	c.Result.Drained = 2 * n
	c.Result.Service = synthetic.Histogram(map[time.Duration]int64{45 * time.Millisecond: n, 300 * time.Millisecond: 2 * n})
	waited(c, longest)
}

// bursts lets a tenth of a client's exchanges take that long, the others 45 ms.
func bursts(c *record.Worker, fast time.Duration) {
	n := c.Result.Counts.Exchanges + c.Result.Drained
	c.Result.Service = synthetic.Histogram(map[time.Duration]int64{fast: n / 10, 45 * time.Millisecond: n - n/10})
}

// behind lets both edges of a server be read a twentieth of the window late, of a
// load that was lighter at its end.
func behind(s *record.Worker) {
	for _, edge := range []*record.Edge{s.Open, s.Close} {
		edge.Reading.AtNs += 100_000_000
		edge.Meter.AtNs += 100_000_000
	}
	s.Close.Reading.Counts.ReceivedBytes -= 18_000
	s.Close.Reading.Counts.SentBytes -= 18_000
	s.Close.Reading.Counts.Exchanges -= 180
}

// waited gives a client one response time, which is its longest.
func waited(c *record.Worker, longest time.Duration) {
	c.Result.Response = synthetic.Histogram(map[time.Duration]int64{longest: 1})
}

func TestConsistency(t *testing.T) {
	checkMiscounts(t, []miscount{
		{"half of it crossed no interface", func(_, c *record.Worker) { crossed(c, 0.5) }, "its host's interfaces"},
		{"honest", func(_, _ *record.Worker) {}, ""},
		{"in flight at the edges", func(_, c *record.Worker) { c.Result.Counts.SentBytes += 50 * 100 }, ""},
		{"sent too much", func(_, c *record.Worker) { c.Result.Counts.SentBytes += 51 * 100 }, "client-1 sent"},
		{"received too little", func(_, c *record.Worker) { c.Result.Counts.ReceivedBytes -= 51 * 100 }, "client-1 received"},
		{"server heard less", func(s, _ *record.Worker) { s.Close.Reading.Counts.ReceivedBytes -= 100_000 }, "the server received"},
		{"server said more", func(s, _ *record.Worker) { s.Close.Reading.Counts.SentBytes += 100_000 }, "the server sent"},
		{"foreign server cannot count", func(s, _ *record.Worker) {
			s.Ready.Foreign, s.Open.Reading.Counts, s.Close.Reading.Counts = true, contract.Counts{}, contract.Counts{}
		}, ""},
		{"server blind without saying so", func(s, _ *record.Worker) {
			s.Open.Reading.Counts, s.Close.Reading.Counts = contract.Counts{}, contract.Counts{}
		}, "the server received 0"},
		{"less on the wire than delivered", func(_, c *record.Worker) {
			lo, _ := c.Open.Meter.Interfaces.Of("lo")
			lo.ReceivedBytes += 100_000 // of 200,000 payload bytes
			c.Close.Meter.Interfaces.Set("lo", lo)
		}, "interfaces"},
		{"no interface counters", func(_, c *record.Worker) { c.Open.Meter.Interfaces, c.Close.Meter.Interfaces = nil, nil }, ""},
		{"histogram short", func(_, c *record.Worker) { c.Result.Drained++ }, "service times were recorded"},
		{"histogram garbled", func(_, c *record.Worker) { c.Result.Service = "AAAA" }, "cannot be read"},
		{"failed exchanges", func(_, c *record.Worker) {
			c.Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Timeout: 2, contract.Peer: 1}
		}, "3 exchanges failed: timeout (2), peer (1)"},
		{"unverified connections", func(_, c *record.Worker) { c.Ready.Verified-- }, "verified 49 of its 50"},
		{"no result", func(_, c *record.Worker) { c.Result = nil }, "client-1 left no result"},
		{"no window", func(_, c *record.Worker) { c.Result.ToNs = c.Result.FromNs }, "window of 0 ns"},
		{"nothing done", func(_, c *record.Worker) { c.Result.Counts.Exchanges, c.Result.Drained = 0, 0 }, "made no exchange"},
		{"unfinished below zero", func(_, c *record.Worker) { c.Result.Unfinished = -3 }, "client-1: check a result: result.unfinished is -3"},
		{"fatal error", func(s, _ *record.Worker) {
			s.Errors = []contract.Error{{Kind: contract.Bug, Text: "nil map", Fatal: true}}
		}, "server reported bug: nil map"},
		{"no server edges", func(s, _ *record.Worker) { s.Open, s.Close = nil, nil }, ""},
	})
}

// The ends answer marks when they come to it, and are read after that.
func TestConsistencyOfLateReadings(t *testing.T) {
	checkMiscounts(t, []miscount{
		{"server edge late", func(s, _ *record.Worker) {
			c := &s.Close.Reading // half a percent later, and as much more done
			c.AtNs += 10_000_000
			c.Counts.ReceivedBytes += 1000
			c.Counts.SentBytes += 1000
		}, ""},
		{"a reading that lagged by as much", func(s, _ *record.Worker) {
			s.Close.Meter.SkewNs = 95_000_000 // of the 100 ms that it may be
			s.Close.Reading.Counts.ReceivedBytes -= 18_000
			s.Close.Reading.Counts.SentBytes -= 18_000
			s.Close.Reading.Counts.Exchanges -= 180
		}, ""},
		{"in flight, and a reading that lagged besides", func(s, _ *record.Worker) {
			s.Close.Meter.SkewNs = 80_000_000 // 4 % of the window, and 5 % are in flight at its edges
			s.Close.Reading.Counts.ReceivedBytes -= 17_000
			s.Close.Reading.Counts.SentBytes -= 17_000
			s.Close.Reading.Counts.Exchanges -= 170
		}, ""},
		{"skew that does not explain it", func(s, _ *record.Worker) {
			s.Close.Meter.SkewNs = 20_000_000
			s.Close.Reading.Counts.ReceivedBytes -= 30_000
		}, "the server received"},
		{"skew beyond belief", func(s, _ *record.Worker) {
			s.Close.Meter.SkewNs = 2_000_000_000
			s.Close.Reading.Counts.ReceivedBytes -= 62_000
		}, "server answered the closing mark 2.00 s after it was sent"},
		{"both edges read later than the client's", func(s, _ *record.Worker) { behind(s) }, ""},
		{"the same by another host's clock", func(s, _ *record.Worker) { behind(s); s.Seat = "elsewhere" }, "the server received"},
		{"a backlog worked off between the readings", func(s, c *record.Worker) { early(s, 160); waited(c, 200*time.Millisecond) }, ""},
		{"more than had waited", func(s, c *record.Worker) { early(s, 160); waited(c, 20*time.Millisecond) }, "the server received"},
		{"a burst between the readings", func(s, c *record.Worker) { early(s, 300); waited(c, 200*time.Millisecond); bursts(c, time.Millisecond) }, ""},
		{"more than slots come round in that time", func(s, c *record.Worker) {
			early(s, 300)
			waited(c, 200*time.Millisecond)
			bursts(c, 40*time.Millisecond)
		}, "the server received"},
		{"a server whose window outlasts the load", func(s, _ *record.Worker) {
			s.Close.Reading.AtNs += 90_000_000 // and no byte more
		}, ""},
		{"a server whose window outlasts the load by more than a crowded host explains", func(s, _ *record.Worker) {
			s.Close.Reading.AtNs += 110_000_000
		}, "the window of server lasted 2.11 s by its own clock, but 2.00 s was declared"},
	})
}

// What a codec decides, and what the server counts by itself.
func TestConsistencyOfStructuredMessages(t *testing.T) {
	checkMiscounts(t, []miscount{
		{"a codec decides the sizes", func(s, c *record.Worker) {
			for _, w := range []*record.Worker{s, c} {
				w.Setup.Exchange = contract.Exchange{Codec: "json", Message: &contract.Structure{Name: "simple"}}
			}
			c.Ready.UpBytes, c.Ready.DownBytes = 100, 100
		}, ""},
		{"sizes that vary", func(s, c *record.Worker) {
			for _, w := range []*record.Worker{s, c} {
				w.Setup.Exchange = contract.Exchange{UpBytes: 4096, DownBytes: 4096, UpMeanBytes: 104, DownMeanBytes: 96}
			}
		}, ""},
		{"sizes of another mean", func(_, c *record.Worker) {
			c.Setup.Exchange = contract.Exchange{UpBytes: 4096, DownBytes: 4096, UpMeanBytes: 500, DownMeanBytes: 100}
		}, "2000 exchanges of 500 on average"},
		{"sizes that vary, and a server that received less", func(s, c *record.Worker) {
			c.Setup.Exchange = contract.Exchange{UpBytes: 110, DownBytes: 110, UpMeanBytes: 100, DownMeanBytes: 100}
			s.Close.Reading.Counts.ReceivedBytes -= 50_000
		}, "the server received"},
		{"a codec's sizes must hold", func(_, c *record.Worker) { c.Ready.UpBytes, c.Ready.DownBytes = 100, 120 }, "client-1 received"},
		{"a codec's messages may be compressed", func(_, c *record.Worker) {
			c.Setup.Exchange.Message = &contract.Structure{Name: "complex"}
			moved, _ := c.Open.Meter.Interfaces.Of("lo")
			c.Close.Meter.Interfaces.Set("lo", moved)
		}, ""},
		{"a server's replies may be packed", func(_, c *record.Worker) {
			c.Setup.Options = map[string]any{"packed_replies": true}
			moved, _ := c.Open.Meter.Interfaces.Of("lo")
			c.Close.Meter.Interfaces.Set("lo", moved)
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
func TestConsistencyOfForeignClients(t *testing.T) {
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
	checkMiscounts(t, []miscount{
		{"up", wrap(contract.StreamUp, work, 0), ""},
		{"up, with some talk beside it", then(wrap(contract.StreamUp, work, 0), func(s, _ *record.Worker) { s.Close.Reading.Counts.SentBytes += 5000 }), ""},
		{"down", wrap(contract.StreamDown, 0, work), ""},
		{"both, at paces of their own", wrap(contract.StreamBoth, work/2, work*3/2), ""},
		{"ping-pong", wrap("", work, work), ""},
		{"exchanges that its bytes do not make", wrap(contract.StreamUp, work*9/10, 0), "client-1 moved 180000 bytes, but 2000 exchanges of 100 make 200000"},
		{"the other end's kernel saw less", then(wrap(contract.StreamUp, work, 0), func(s, _ *record.Worker) { s.Close.Reading.Counts.ReceivedBytes -= work / 2 }), "the server received 100000 bytes"},
		{"the other end's kernel sent less", then(wrap(contract.StreamDown, 0, work), func(s, _ *record.Worker) { s.Close.Reading.Counts.SentBytes -= work / 2 }), "the server sent 100000 bytes"},
	})
	judged := examined(t, synthetic.Options{}, func(r *record.Record) { r.Workers[1].Ready.Foreign = true })
	if judged.Status != trial.Valid || !slices.Equal(judged.Flags, []string{trial.Unverified}) || !strings.Contains(judged.Reason, "client-1 wraps a program") {
		t.Errorf("%s: %v %s, want the flag unverified", judged.Status, judged.Flags, judged.Reason)
	}
}

func checkMiscounts(t *testing.T, cases []miscount) {
	t.Helper()
	for _, c := range cases {
		for _, clientFirst := range []bool{false, true} {
			judged := examined(t, synthetic.Options{Rate: 1000, Window: 2 * time.Second}, func(r *record.Record) {
				c.change(&r.Workers[0], &r.Workers[1])
				if clientFirst {
					r.Workers[0], r.Workers[1] = r.Workers[1], r.Workers[0]
				}
			})
			status := trial.Valid
			if c.want != "" {
				status = trial.StatusInvalid
			}
			if judged.Status != status || !strings.Contains(judged.Reason, c.want) {
				t.Errorf("%s: %s, %q; want %s, %q", c.name, judged.Status, judged.Reason, status, c.want)
			}
		}
	}
}

// More was in flight than there was room for: the service times or the rate are wrong.
func TestLittlesLaw(t *testing.T) {
	judged := examined(t, synthetic.Options{}, func(r *record.Record) {
		r.Workers[1].Setup.Load.Connections = 40
	})
	if judged.Status != trial.StatusInvalid || !strings.Contains(judged.Reason, "exchanges in flight at once, in 40 slots") {
		t.Errorf("%s: %q", judged.Status, judged.Reason)
	}
}

// A closed loop's slots are in an exchange or between two: a rate whose times leave
// room for more is not the rate of these times.
func TestLittlesLawOfARate(t *testing.T) {
	for _, c := range []struct {
		name       string
		busy, idle float64 // shares of the slots' time
		more       float64 // exchanges inside beyond those that completed
		want       string
	}{
		{"all of the time", 1, 0, 0, ""},
		{"all of the time, the waits between included", 0.8, 0.2, 30, ""},
		{"a fifth is missing", 0.8, 0, 0, "keep 40.02 slots in use, and it has 50"},
		{"more than the edges can hold", 1, 0, 101, "fell inside"},
	} {
		judged := examined(t, synthetic.Options{}, func(r *record.Record) {
			g := r.Workers[1].Result
			n := g.Counts.Exchanges
			slotNs := float64(50*(g.ToNs-g.FromNs)) / float64(n)
			g.Service = synthetic.Histogram(map[time.Duration]int64{time.Duration(c.busy * slotNs): n + g.Drained})
			g.Inside = &contract.Inside{Exchanges: float64(n), Cycles: float64(n) + c.more, IdleNs: int64(c.idle * slotNs * float64(n+g.Drained))}
		})
		if status := map[bool]string{true: trial.Valid, false: trial.StatusInvalid}[c.want == ""]; judged.Status != status || !strings.Contains(judged.Reason, c.want) {
			t.Errorf("%s: %s %q, want %s %q", c.name, judged.Status, judged.Reason, status, c.want)
		}
		if used := judged.Values.At("slots_in_use"); c.want == "" && math.Abs(used-50) > 0.5 {
			t.Errorf("%s: %v slots in use, want 50", c.name, used)
		}
	}
}

func TestLittlesLawOfABacklog(t *testing.T) {
	checkMiscounts(t, []miscount{
		{"50 slots in 2 s and 25 more", func(_, c *record.Worker) { drained(c, 25*time.Second) }, ""},
		{"more than they can in 2 s and 15 more", func(_, c *record.Worker) { drained(c, 15*time.Second) }, "service times of client-1"},
	})
}

// Clients of a fixed amount of work end each in its own time: what one of them
// did in a tenth of the other's is neither held against it, nor lends its
// empty slots to the other.
func TestLittlesLawIsOfEachClient(t *testing.T) {
	for _, c := range []struct {
		name   string
		busy   float64 // share of its slots that the one that ended first had in use
		status string
		want   string
	}{
		{"all of its slots", 1, trial.Valid, ""},
		{"more than its slots", 1.2, trial.StatusInvalid, "service times of client-2"},
	} {
		trial := examined(t, synthetic.Options{Clients: 2}, func(r *record.Record) {
			for i := range r.Workers[1:] {
				g := &r.Workers[1+i]
				g.Setup.Load.Amount = g.Result.Counts.Exchanges
				g.AtResult, g.Close = g.Close.Meter, nil
			}
			first := r.Workers[2].Result
			window := (first.ToNs - first.FromNs) / 10
			first.ToNs = first.FromNs + window
			first.Drained = 0
			n, slots := first.Counts.Exchanges, r.Workers[2].Setup.Load.Connections
			first.Service = synthetic.Histogram(map[time.Duration]int64{time.Duration(c.busy * float64(int64(slots)*window/n)): n})
		})
		if trial.Status != c.status || !strings.Contains(trial.Reason, c.want) {
			t.Errorf("%s: %s %q, want %s %q", c.name, trial.Status, trial.Reason, c.status, c.want)
		}
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
	judged := examined(t, synthetic.Options{}, func(r *record.Record) {
		fixedAmount(r)
		for i := range r.Workers[1].Ticks { // the load tails off: connections end one by one
			r.Workers[1].Ticks[i].Exchanges -= int64(i * i * 300)
		}
	})
	if judged.Status != trial.Valid || len(judged.Flags) != 0 || judged.Limit != trial.Latency || judged.Values.At("work_s") != 2 {
		t.Errorf("%s: %s %v, limit %s, values %v", judged.Status, judged.Reason, judged.Flags, judged.Limit, judged.Values)
	}
	for _, name := range []string{"server.cpu_us_per_exchange", "client.cpu_us_per_exchange", "server.cores", "server.alloc_bytes_per_exchange"} {
		if a, b := judged.Values.At(name), whole.Values.At(name); b == 0 || a < 0.999*b || a > 1.001*b {
			t.Errorf("%s = %v of a fixed amount, %v of the same in a window", name, a, b)
		}
	}
	if _, ok := whole.Values.Of("work_s"); ok {
		t.Error("a fixed window has a time for its work")
	}
	short := examined(t, synthetic.Options{Bare: true}, func(r *record.Record) {
		fixedAmount(r)
		r.Workers[0].Close.Reading.Counts.ReceivedBytes -= 1_000_000
	})
	if short.Status != trial.StatusInvalid || !strings.Contains(short.Reason, "the server received") || strings.Contains(short.Reason, "/s") {
		t.Errorf("%s: %s", short.Status, short.Reason)
	}
	busy := examined(t, synthetic.Options{}, func(r *record.Record) {
		fixedAmount(r)
		from, to := r.Workers[0].Open.Meter, r.Workers[0].Close.Meter
		to.Threads[1].CPUNs = from.Threads[1].CPUNs + 1_970_000_000 // of 2 s of work, asked after 2.9 s
	})
	if busy.Limit != trial.ServerCore || !strings.Contains(busy.LimitProof, "98.5 %") {
		t.Errorf("limit %s: %s", busy.Limit, busy.LimitProof)
	}
}
