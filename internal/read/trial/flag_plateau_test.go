package trial_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// gathered has n exchanges of a trial last for took, the others for 500 µs, on
// connections whose least round trip is 20 µs.
func gathered(t *testing.T, r *record.Record, n int64, took ...time.Duration) (server, client *record.Worker) {
	t.Helper()
	server, client = &r.Workers[0], &r.Workers[1]
	old, err := hist.Decode(client.Result.Service)
	if err != nil {
		t.Fatal(err)
	}
	h := hist.New()
	for _, d := range took {
		h.Record(d.Nanoseconds(), n/int64(len(took)))
	}
	h.Record(500_000, old.Count()-h.Count())
	if client.Result.Service, err = h.Encode(); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*record.Worker{server, client} {
		w.Open.Meter.TCP = &contract.TCP{Sockets: 50}
		w.Close.Meter.TCP = &contract.TCP{
			Sockets: 50, BusyNs: 1_000_000, SentSegments: old.Count(), RTTNs: 60_000, MinRTTNs: 20_000, SegmentBytes: 65536,
		}
	}
	return server, client
}

// between spreads as many instants evenly from one to another.
func between(from, to time.Duration, n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = from + (to-from)*time.Duration(i)/time.Duration(n)
	}
	return all
}

// gathering is a trial with a band of service times, and the flag that follows.
type gathering struct {
	name   string
	n      int64
	took   []time.Duration
	change func(server, client *record.Worker)
	want   string // "" for none
	proof  []string
}

func gatherings() []gathering {
	const ms = time.Millisecond
	twoSegments := func(w *record.Worker) {
		w.Close.Meter.TCP.SentSegments *= 2
		w.Close.Meter.TCP.RTTNs = (20 * ms).Nanoseconds()
	}
	resent := func(n int64) func(server, client *record.Worker) {
		return func(_, client *record.Worker) { client.Close.Meter.TCP.Retransmits = n }
	}
	return []gathering{
		{
			"40 ms, the server sends in parts", 40, []time.Duration{42 * ms}, func(s, _ *record.Worker) { twoSegments(s) }, trial.PlateauDelayedACK,
			[]string{"40 ms plateau (Nagle × delayed ACK)", "of the exchanges took 39.0 ms to 54.0 ms", "the server sent 2.0 segments per exchange and waited 20.0 ms for acknowledgements where the least round trip was 20.0 µs", "set TCP_NODELAY"},
		},
		{
			"40 ms, the client sends in parts", 40, []time.Duration{42 * ms}, func(_, c *record.Worker) { twoSegments(c) }, trial.PlateauDelayedACK,
			[]string{"the client sent 2.0 segments"},
		},
		{"40 ms of computing", 40, []time.Duration{42 * ms}, func(_, _ *record.Worker) {}, "", nil},
		{"40 ms in one segment whose acknowledgement waits for the answer", 40, []time.Duration{42 * ms}, func(s, _ *record.Worker) {
			s.Close.Meter.TCP.RTTNs = (20 * ms).Nanoseconds()
		}, "", nil},
		{"40 ms over a way of 40 ms", 40, []time.Duration{42 * ms}, func(s, c *record.Worker) {
			twoSegments(s)
			s.Close.Meter.TCP.MinRTTNs, c.Close.Meter.TCP.MinRTTNs = (40 * ms).Nanoseconds(), (40 * ms).Nanoseconds()
		}, "", nil},
		{"40 ms, of which losses account", 40, []time.Duration{42 * ms}, func(s, c *record.Worker) {
			twoSegments(s)
			resent(30)(s, c)
		}, "", nil},
		{"40 ms of a server without an account", 40, []time.Duration{42 * ms}, func(s, _ *record.Worker) {
			twoSegments(s)
			s.Open.Meter.TCP, s.Close.Meter.TCP = nil, nil
		}, "", nil},
		{"around 40 ms, spread", 400, between(20*ms, 70*ms, 50), func(s, _ *record.Worker) { twoSegments(s) }, "", nil},
		{"too few at 40 ms", 9, []time.Duration{42 * ms}, func(s, _ *record.Worker) { twoSegments(s) }, "", nil},
		{"200 ms with as many losses", 20, []time.Duration{204 * ms}, resent(20), trial.PlateauRetransmit, []string{
			"200 ms plateau (retransmission timeout)", "the kernels sent 20 segments again in the window, and 20 exchanges lasted so long",
		}},
		{"200 ms with few losses", 20, []time.Duration{204 * ms}, resent(9), "", nil},
		{"1 ms", 12_000, []time.Duration{1100 * time.Microsecond}, func(_, _ *record.Worker) {}, trial.PlateauTimer, []string{
			"1 ms plateau (looks like a timer)", "the least round trip was 20.0 µs and the busiest thread had 4",
		}},
		{"1 ms beside a busy thread", 12_000, []time.Duration{1100 * time.Microsecond}, func(s, _ *record.Worker) {
			from, to := s.Open.Meter, s.Close.Meter
			to.Threads[0].CPUNs = from.Threads[0].CPUNs + (to.AtNs-from.AtNs)*6/10
		}, "", nil},
		{"1 ms over a way as long", 12_000, []time.Duration{1100 * time.Microsecond}, func(s, c *record.Worker) {
			s.Close.Meter.TCP.MinRTTNs, c.Close.Meter.TCP.MinRTTNs = 1_000_000, 1_000_000
		}, "", nil},
	}
}

func TestPlateausAreNamed(t *testing.T) {
	for _, c := range gatherings() {

		trial := examined(t, synthetic.Options{}, func(r *record.Record) {
			server, client := gathered(t, r, c.n, c.took...)
			c.change(server, client)
		})
		var got []string
		for _, flag := range trial.Flags {
			if strings.HasPrefix(flag, "plateau") {
				got = append(got, flag)
			}
		}
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: flags %v (%s), want %q", c.name, got, trial.Reason, c.want)
		}
		for _, part := range c.proof {
			if !strings.Contains(trial.Reason, part) {
				t.Errorf("%s: %q lacks %q", c.name, trial.Reason, part)
			}
		}
	}
}
