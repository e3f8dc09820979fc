package trial_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// mute takes a client's ticks of a while.
func mute(c *record.Worker, from, to float64) {
	c.Ticks = slices.DeleteFunc(c.Ticks, func(tick contract.Tick) bool {
		at := float64(tick.AtNs-c.Result.FromNs) / 1e9
		return at > from && at < to
	})
}

// stood is a change to an honest trial and when it then stood still.
type stood struct {
	name   string
	change func(*record.Record)
	want   string // "" for nowhere
}

func checkStalls(t *testing.T, o synthetic.Options, status string, cases []stood) {
	t.Helper()
	for _, c := range cases {
		judged := examined(t, o, c.change)
		want := status
		if c.want == "" {
			want = trial.Valid
		}
		if got := trial.StallTimes(judged.Stalls); got != c.want || judged.Status != want {
			t.Errorf("%s: %s, stood still %q (%s); want %s, %q", c.name, judged.Status, got, judged.Reason, want, c.want)
		}
	}
}

func TestStallsOfAClosedLoop(t *testing.T) {
	const client = 1
	checkStalls(t, synthetic.Options{Window: 4 * time.Second}, trial.StatusInvalid, []stood{
		{"honest", func(*record.Record) {}, ""},
		{"for 0.7 s", func(r *record.Record) { synthetic.Still(&r.Workers[client], 1.2, 1.8) }, "1.10–1.70 s"},
		{"for two ticks", func(r *record.Record) { synthetic.Still(&r.Workers[client], 1.2, 1.6) }, "1.10–1.50 s"},
		{"for one tick", func(r *record.Record) { synthetic.Still(&r.Workers[client], 1.2, 1.4) }, ""},
		{"twice", func(r *record.Record) {
			synthetic.Still(&r.Workers[client], 0.6, 1.2)
			synthetic.Still(&r.Workers[client], 2.4, 3.2)
		}, "0.50–1.10 and 2.30–3.10 s"},
		{"while draining", func(r *record.Record) { synthetic.Still(&r.Workers[client], 3.95, 6) }, ""},
		{"without a tick, and with less than a client does in that time", func(r *record.Record) {
			c := &r.Workers[client]
			mute(c, 1.2, 2)
			for i := range c.Ticks {
				if c.Ticks[i].AtNs-c.Result.FromNs > 2_000_000_000 {
					c.Ticks[i].Exchanges -= 48_000 // of 60,000 a second
				}
			}
			c.Close.Reading.Counts.Exchanges -= 48_000
		}, "1.10–2.10 s"},
		{"only its ticks", func(r *record.Record) { mute(&r.Workers[client], 1.2, 2) }, ""},
		{"exchanges that usually take so long", func(r *record.Record) {
			c := &r.Workers[client]
			synthetic.Still(c, 1.2, 1.8)
			c.Setup.Load.Connections = 1 << 20
			c.Result.Service = synthetic.Histogram(map[time.Duration]int64{400 * time.Millisecond: c.Result.Counts.Exchanges + c.Result.Drained})
		}, ""},
		{"a pause that is declared", func(r *record.Record) {
			synthetic.Still(&r.Workers[client], 1.2, 1.8)
			r.Workers[client].Setup.Load.ThinkNs = 1e9
		}, ""},
		{"while its server received", func(r *record.Record) {
			c, s := &r.Workers[client], &r.Workers[0]
			s.Ticks = slices.Clone(c.Ticks)
			synthetic.Still(c, 1.2, 1.8)
		}, ""},
		{"a foreign client whose reader's buffer still fills", func(r *record.Record) {
			c := &r.Workers[client]
			synthetic.Still(c, 1.2, 1.8)
			for i := range c.Ticks[8:11] {
				c.Ticks[8+i].Exchanges += int64(1+i) * 1000 // of 12,000 between ticks
			}
			c.Ready.Foreign, c.Result.Service, c.Result.Drained = true, "", 0
		}, "1.10–1.70 s"},
		{"while its server's kernel took probes", func(r *record.Record) {
			c, s := &r.Workers[client], &r.Workers[0]
			synthetic.Still(c, 1.2, 1.8)
			s.Ticks = slices.Clone(c.Ticks)
			for i := range s.Ticks {
				s.Ticks[i].ReceivedBytes += int64(i)
			}
		}, "1.10–1.70 s"},
		{"on a link that is to lose packets", func(r *record.Record) {
			synthetic.Still(&r.Workers[client], 1.2, 1.8)
			r.Trial.Levels["link.loss"] = "1%"
		}, ""},
		{"for longer than lost packets explain", func(r *record.Record) {
			synthetic.Still(&r.Workers[client], 1.2, 2.8)
			r.Trial.Levels["link.loss"] = "1%"
		}, "1.10–2.70 s"},
		{"a fixed amount", func(r *record.Record) { synthetic.Still(&r.Workers[client], 1.2, 1.8); fixedAmount(r) }, "1.10–1.70 s"},
	})
}

// beats gives a worker's meter what it saw: standstills in seconds after the opening.
func beats(w *record.Worker, held *contract.Stopped, spans ...[2]float64) {
	opened := w.Open.Meter.AtNs
	b := &contract.Beat{EveryNs: 10_000_000}
	for _, s := range spans {
		b.Stood = append(b.Stood, contract.Standstill{FromNs: opened + int64(1e9*s[0]), ToNs: opened + int64(1e9*s[1]), Held: held})
	}
	w.AtResult = &contract.Meter{AtNs: w.Close.Meter.AtNs, Beat: b}
}

// slow gives a client one exchange that took so long.
func slow(c *record.Worker, longest time.Duration) {
	n := c.Result.Counts.Exchanges + c.Result.Drained
	c.Result.Service = synthetic.Histogram(map[time.Duration]int64{500 * time.Microsecond: n - 1, longest: 1})
}

// Progress shows no standstill of less than two ticks. Meters do, from 2 % of the
// window on, if a client's exchanges felt it.
func TestShortStalls(t *testing.T) {
	const server, client = 0, 1
	saw := func(end int, held *contract.Stopped, longest time.Duration, spans ...[2]float64) func(*record.Record) {
		return func(r *record.Record) {
			beats(&r.Workers[end], held, spans...)
			slow(&r.Workers[client], longest)
		}
	}
	foreign := &contract.Stopped{PID: 4711, Name: "shop"}
	second := synthetic.Options{Window: time.Second}
	checkStalls(t, second, trial.StatusInvalid, []stood{
		{"a client for 30 ms of 1 s", saw(client, nil, 30*time.Millisecond, [2]float64{0.4, 0.43}), "0.40–0.43 s"},
		{"a client for 380 ms of 1 s", saw(client, nil, 380*time.Millisecond, [2]float64{0.4, 0.78}), "0.40–0.78 s"},
		{"a server", saw(server, nil, 100*time.Millisecond, [2]float64{0.4, 0.5}), "0.40–0.50 s"},
		{"a program that is held", saw(server, foreign, 100*time.Millisecond, [2]float64{0.4, 0.5}), "0.40–0.50 s"},
		{"across the opening", saw(client, nil, 200*time.Millisecond, [2]float64{-0.1, 0.1}), "0.00–0.10 s"},
		{"across the closing", saw(client, nil, 200*time.Millisecond, [2]float64{0.9, 1.2}), "0.90–1.00 s"},
		{"twice", saw(client, nil, 60*time.Millisecond, [2]float64{0.2, 0.25}, [2]float64{0.6, 0.66}), "0.20–0.25 and 0.60–0.66 s"},
		{"for less than timers are late by", saw(client, nil, 30*time.Millisecond, [2]float64{0.4, 0.42}), ""},
		{"before the window", saw(client, nil, time.Second, [2]float64{-0.3, -0.1}), ""},
		{"a meter alone, which no exchange felt", saw(client, nil, 40*time.Millisecond, [2]float64{0.4, 0.5}), ""},
	})
	checkStalls(t, synthetic.Options{Window: 2 * time.Second}, trial.StatusInvalid, []stood{
		{"a client for 30 ms of 2 s", saw(client, nil, 30*time.Millisecond, [2]float64{0.4, 0.43}), ""},
		{"a client for 45 ms of 2 s", saw(client, nil, 45*time.Millisecond, [2]float64{0.4, 0.445}), "0.40–0.45 s"},
	})
	for _, c := range []struct {
		change func(*record.Record)
		want   string
	}{
		{saw(client, nil, 100*time.Millisecond, [2]float64{0.4, 0.5}), "nothing moved 0.40–0.50 s after the window opened: client-1 and its meter did not run"},
		{saw(server, foreign, 100*time.Millisecond, [2]float64{0.4, 0.5}), "a signal held shop (process 4711) of server"},
	} {
		if judged := examined(t, second, c.change); !strings.Contains(judged.Reason, c.want) {
			t.Errorf("%q does not say %q", judged.Reason, c.want)
		}
	}
}

// In an open loop a short standstill is felt by what falls due meanwhile.
func TestAShortStallOfAnOpenLoopTakesItsRates(t *testing.T) {
	o := synthetic.Options{Rate: 20_000, Window: time.Second}
	checkStalls(t, o, trial.Valid, []stood{
		{"felt", func(r *record.Record) {
			c := &r.Workers[1]
			beats(c, nil, [2]float64{0.4, 0.5})
			c.Result.Lag = synthetic.Histogram(map[time.Duration]int64{time.Millisecond: 18_000, 100 * time.Millisecond: 2_000})
		}, "0.40–0.50 s"},
		{"nothing fell due", func(r *record.Record) { beats(&r.Workers[1], nil, [2]float64{0.4, 0.5}) }, ""},
	})
}

// A slow load completes little, and stands still by nothing of that.
func TestSlowLoadsDoNotStandStill(t *testing.T) {
	checkStalls(t, synthetic.Options{Window: 4 * time.Second, Rate: 12, Connections: []int{4}, Bare: true}, trial.Valid, []stood{
		{"12 exchanges a second", func(r *record.Record) {
			c := &r.Workers[1]
			for i := range 20 {
				c.Ticks = append(c.Ticks, contract.Tick{AtNs: c.Result.FromNs + int64(i)*200_000_000, Exchanges: c.Open.Reading.Counts.Exchanges + int64(i/4)*10})
			}
		}, ""},
	})
}

// One of two clients that stands still is a standstill; what the other does is no
// excuse.
func TestAStallOfOneClient(t *testing.T) {
	checkStalls(t, synthetic.Options{Window: 4 * time.Second, Clients: 2}, trial.StatusInvalid, []stood{
		{"the second", func(r *record.Record) { synthetic.Still(&r.Workers[2], 1.2, 1.8) }, "1.10–1.70 s"},
		{"one after the other", func(r *record.Record) {
			synthetic.Still(&r.Workers[2], 1.2, 1.8)
			synthetic.Still(&r.Workers[1], 1.6, 2.2)
		}, "1.10–2.10 s"},
	})
}

// In an open loop a stall stays in the response times, and takes the rates.
func TestAStallOfAnOpenLoopLeavesItsResponseTimes(t *testing.T) {
	o := synthetic.Options{Rate: 20_000, Window: 4 * time.Second}
	whole := examined(t, o, func(*record.Record) {})
	judged := examined(t, o, func(r *record.Record) { synthetic.Still(&r.Workers[1], 1.2, 1.8) })
	if judged.Status != trial.Valid || !slices.Contains(judged.Flags, trial.Stalled) || !judged.Partial() || whole.Partial() {
		t.Fatalf("%s with flags %v: %s", judged.Status, judged.Flags, judged.Reason)
	}
	if want := "nothing moved 1.10–1.70 s after the window opened"; !strings.Contains(judged.Reason, want) || judged.Limit != trial.Unknown || judged.LimitProof != want || judged.CPU != nil {
		t.Errorf("reason %q, limit %s (%s), CPU %v", judged.Reason, judged.Limit, judged.LimitProof, judged.CPU)
	}
	for name, value := range whole.Values.All() {
		got, has := judged.Values.Of(name)
		keeps := strings.HasPrefix(name, "response_") || strings.HasSuffix(name, "rss_bytes") || strings.HasSuffix(name, "heap_bytes") || strings.HasSuffix(name, "_sys_bytes") ||
			strings.HasSuffix(name, ".threads") || strings.HasSuffix(name, ".goroutines") ||
			slices.Contains([]string{"lag_p99_us", "unfinished", "error_share", "arrival_gap_cv"}, name)
		if has != keeps || has && got != value {
			t.Errorf("%s is %v (%v) of a trial that stood still, %v of a whole one", name, got, has, value)
		}
	}
	checkStalls(t, o, trial.Valid, []stood{
		{"stopped, and caught up", func(r *record.Record) {
			c := &r.Workers[1]
			mute(c, 1.2, 2)
			c.Result.Lag = synthetic.Histogram(map[time.Duration]int64{time.Millisecond: 79_000, 850 * time.Millisecond: 1_007})
		}, "1.10–2.10 s"},
		{"only its ticks", func(r *record.Record) { mute(&r.Workers[1], 1.2, 2) }, ""},
	})
}

// What fell due before the window is no rate of the window's.
func TestABacklogLeavesNoRate(t *testing.T) {
	o := synthetic.Options{Rate: 1000, Window: 2 * time.Second}
	more := func(share float64) func(*record.Record) {
		return func(r *record.Record) {
			s, c := &r.Workers[0], &r.Workers[1]
			n := c.Result.Counts.Exchanges
			extra := int64(share * float64(n))
			c.Result.Counts.Exchanges, c.Result.Counts.SentBytes, c.Result.Counts.ReceivedBytes = n+extra, 100*(n+extra), 100*(n+extra)
			s.Close.Reading.Counts.Exchanges += extra
			s.Close.Reading.Counts.SentBytes += 100 * extra
			s.Close.Reading.Counts.ReceivedBytes += 100 * extra
			c.Result.Service = synthetic.Histogram(map[time.Duration]int64{time.Millisecond: n + extra + c.Result.Drained})
			waited(c, 2*time.Second)
		}
	}
	for _, c := range []struct {
		name  string
		share float64
		want  bool
	}{{"4 % more, which its slots held", 0.04, false}, {"6 % more", 0.06, true}, {"half as much again", 0.5, true}} {
		judged := examined(t, o, more(c.share))
		_, rated := judged.Values.Of("exchanges_per_s")
		if judged.Status != trial.Valid || slices.Contains(judged.Flags, trial.Backlog) != c.want || rated == c.want {
			t.Errorf("%s: %s with flags %v, a rate %v: %s", c.name, judged.Status, judged.Flags, rated, judged.Reason)
		}
	}
}
