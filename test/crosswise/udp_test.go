package crosswise_test

import (
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/test/trials"
)

// Over UDP the books of both ends close too, those of the interfaces included, and
// the kernel's account of UDP is there in the place of TCP's.
func TestTransportsOverUDPAgree(t *testing.T) {
	b := benchtest.Built(t)
	for name, args := range map[string][]string{
		"http3":     {"transport=go-http3", "request=100B", "response=100000B"},
		"quic":      {"transport=go-quic", "request=30000B", "response=30000B"},
		"quic both": {"transport=go-quic", "stream=both", "request=100000B", "response=70000B", "chunk=4KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			args = append(args, "tls=yes", "connections=4", "inflight=3", "blocks=1", "amount=30", "placement=free")
			r, judged := trials.First(t, b, args...)
			if judged.Status != trial.Valid {
				t.Fatalf("%s: %s", judged.Status, judged.Reason)
			}
			for _, w := range r.Workers {
				s, ok := record.SpanOf(&w)
				if !ok || s.To.Meter.TCP != nil || s.To.Meter.UDP == nil || s.To.Meter.UDP.Sockets == 0 {
					t.Errorf("%s: the account at its end is %+v", w.Name, s.To.Meter)
				}
			}
			if several, ok := value(t, &r, "udp_datagrams_per_send"); !ok || several < 1 {
				t.Errorf("%v datagrams per send (%t), expected at least 1", several, ok)
			}
		})
	}
}

// A receive buffer that holds a dozen datagrams drops some of a block that is sent in
// one go, and the account says at which end.
func TestDropsOfUDPShowWhereTheyAre(t *testing.T) {
	b := benchtest.Built(t)
	r, _ := trials.First(t, b, "transport=go-http3", "tls=yes", "request=0B", "response=4MiB", "connections=2",
		"blocks=1", "amount=10", "placement=free", "opt.client.receive_buffer=16KiB")
	at := map[string]float64{}
	for _, end := range []string{"client", "server"} {
		var ok bool
		if at[end], ok = value(t, &r, end+".udp_drops_per_s"); !ok {
			t.Fatalf("no account of the %s: %+v", end, r.Failure)
		}
	}
	if at["client"] == 0 || at["server"] > at["client"] {
		t.Errorf("drops per second: %v, expected them at the client", at)
	}
}

func value(t *testing.T, r *record.Record, name string) (float64, bool) {
	t.Helper()
	m, err := metric.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return m.Value(r)
}
