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

// beats gives a worker's meter what it saw: standstills in seconds after the opening.
func beats(w *record.Worker, held *contract.Stopped, spans ...[2]float64) {
	w.AtResult = nil
	for _, s := range spans {
		synthetic.Still(w, s[0], s[1])
		w.AtResult.Beat.Stood[len(w.AtResult.Beat.Stood)-1].Held = held
	}
}

// Meters tell of standstills from 2 % of the window on, whatever the replies were.
func TestStallsOfAClosedLoop(t *testing.T) {
	const server, client = 0, 1
	saw := func(end int, held *contract.Stopped, spans ...[2]float64) func(*record.Record) {
		return func(r *record.Record) { beats(&r.Workers[end], held, spans...) }
	}
	foreign := &contract.Stopped{PID: 4711, Name: "shop"}
	second := synthetic.Options{Window: time.Second}
	checkStalls(t, second, trial.StatusInvalid, []stood{
		{"a client for 30 ms of 1 s", saw(client, nil, [2]float64{0.4, 0.43}), "0.40–0.43 s"},
		{"a client for 380 ms of 1 s", saw(client, nil, [2]float64{0.4, 0.78}), "0.40–0.78 s"},
		{"a server", saw(server, nil, [2]float64{0.4, 0.5}), "0.40–0.50 s"},
		{"a program that is held", saw(server, foreign, [2]float64{0.4, 0.5}), "0.40–0.50 s"},
		{"across the opening", saw(client, nil, [2]float64{-0.1, 0.1}), "0.00–0.10 s"},
		{"across the closing", saw(client, nil, [2]float64{0.9, 1.2}), "0.90–1.00 s"},
		{"twice", saw(client, nil, [2]float64{0.2, 0.25}, [2]float64{0.6, 0.66}), "0.20–0.25 and 0.60–0.66 s"},
		{"for less than timers are late by", saw(client, nil, [2]float64{0.4, 0.42}), ""},
		{"before the window", saw(client, nil, [2]float64{-0.3, -0.1}), ""},
		{"a fixed amount", func(r *record.Record) {
			saw(client, nil, [2]float64{0.4, 0.5})(r)
			at := r.Workers[client].AtResult
			fixedAmount(r)
			r.Workers[client].AtResult.Beat = at.Beat
		}, "0.40–0.50 s"},
	})
	checkStalls(t, synthetic.Options{Window: 2 * time.Second}, trial.StatusInvalid, []stood{
		{"a client for 30 ms of 2 s", saw(client, nil, [2]float64{0.4, 0.43}), ""},
		{"a client for 45 ms of 2 s", saw(client, nil, [2]float64{0.4, 0.445}), "0.40–0.45 s"},
	})
	for _, c := range []struct {
		change func(*record.Record)
		want   string
	}{
		{saw(client, nil, [2]float64{0.4, 0.5}), "stood still 0.40–0.50 s after the window opened: client-1 and its meter did not run"},
		{saw(server, foreign, [2]float64{0.4, 0.5}), "a signal held shop (process 4711) of server"},
	} {
		if judged := examined(t, second, c.change); !strings.Contains(judged.Reason, c.want) {
			t.Errorf("%q does not say %q", judged.Reason, c.want)
		}
	}
}

// One of two clients that stands still is a standstill; what the other does is no
// excuse.
func TestAStallOfOneClient(t *testing.T) {
	checkStalls(t, synthetic.Options{Window: 4 * time.Second, Clients: 2}, trial.StatusInvalid, []stood{
		{"the second", func(r *record.Record) { synthetic.Still(&r.Workers[2], 1.2, 1.8) }, "1.20–1.80 s"},
		{"one after the other", func(r *record.Record) {
			synthetic.Still(&r.Workers[2], 1.2, 1.8)
			synthetic.Still(&r.Workers[1], 1.6, 2.2)
		}, "1.20–2.20 s"},
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
	if want := "stood still 1.20–1.80 s after the window opened"; !strings.Contains(judged.Reason, want) || judged.Limit != trial.Unknown || !strings.HasPrefix(judged.LimitProof, want) || judged.CPU != nil {
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
		{"just before the window, so that its backlog is worked off there", func(r *record.Record) { synthetic.Still(&r.Workers[1], -0.5, -0.1) }, "-0.50–-0.10 s"},
		{"long before the window", func(r *record.Record) { synthetic.Still(&r.Workers[1], -0.5, -0.45) }, ""},
	})
}

// What fell due before the window is no rate of the window's.
func TestABacklogRaisesNoRate(t *testing.T) {
	for _, c := range []struct {
		name  string
		share float64
		want  bool
	}{{"1 % more", 0.01, false}, {"6 % more", 0.06, true}, {"half as much again", 0.5, true}} {
		judged := examined(t, synthetic.Options{Rate: 1000, Window: 2 * time.Second}, func(r *record.Record) {
			s, c, extra := &r.Workers[0], &r.Workers[1], int64(2000*c.share)
			n := c.Result.Counts.Exchanges + extra
			c.Result.Counts.Exchanges, c.Result.Counts.SentBytes, c.Result.Counts.ReceivedBytes = n, 100*n, 100*n
			c.Result.Inside = &contract.Inside{Exchanges: float64(n), Cycles: float64(n), Due: 2000}
			s.Close.Reading.Counts.Exchanges += extra
			s.Close.Reading.Counts.SentBytes += 100 * extra
			s.Close.Reading.Counts.ReceivedBytes += 100 * extra
			c.Result.Service = synthetic.Histogram(map[time.Duration]int64{time.Millisecond: n + c.Result.Drained})
			waited(c, 2*time.Second)
		})
		rate, has := judged.Values.Of("exchanges_per_s")
		if most := 1000 * (1 + c.share); judged.Status != trial.Valid || slices.Contains(judged.Flags, trial.Backlog) != c.want || !has || c.want != (rate < most-1) || rate < 999.9 {
			t.Errorf("%s: %s with flags %v, a rate of %v: %s", c.name, judged.Status, judged.Flags, rate, judged.Reason)
		}
	}
}
