package trial_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/hist"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A closed loop whose exchanges mostly wait for delayed acknowledgements is limited by
// them. Where the server's sockets are not read the client's own say what is likely.
func TestDelayedAcknowledgementsAreALimit(t *testing.T) {
	const took = 42 * time.Millisecond
	inParts := func(server, client *record.Worker) {
		server.Close.Meter.TCP.SentSegments *= 2
		server.Close.Meter.TCP.RTTNs = (20 * time.Millisecond).Nanoseconds()
	}
	unread := func(segments int64) func(server, client *record.Worker) {
		return func(server, client *record.Worker) {
			server.Open.Meter.TCP, server.Close.Meter.TCP = nil, nil
			client.Close.Meter.TCP.ReceivedSegments = segments * client.Close.Meter.TCP.SentSegments
		}
	}
	elsewhere := func(server, client *record.Worker) {
		unread(2)(server, client)
		server.Ready.Elsewhere = true
	}
	for _, c := range []struct {
		name   string
		share  float64 // of the exchanges
		change func(server, client *record.Worker)
		limit  bool
		words  string
	}{
		{"the server", 0.9, inParts, true, "42.0 ms of a reply's time are Nagle's algorithm and a delayed ACK on the server's side"},
		{"few of them", 0.001, inParts, false, ""},
		{"sockets not read", 0.9, unread(2), true, "likely, 42.0 ms"},
		{"a server elsewhere", 0.9, elsewhere, true, "likely, 42.0 ms"},
		{"not read, replies in one segment", 0.9, unread(1), false, ""},
	} {
		judged := examined(t, synthetic.Options{}, func(r *record.Record) {
			h, err := hist.Decode(r.Workers[1].Result.Service)
			if err != nil {
				t.Fatal(err)
			}
			server, client := gathered(t, r, int64(c.share*float64(h.Count())), took)
			c.change(server, client)
		})
		if (judged.Limit == trial.DelayedACK) != c.limit || !strings.Contains(judged.LimitProof, c.words) {
			t.Errorf("%s: %s (%s)", c.name, judged.Limit, judged.LimitProof)
		}
		if c.limit && !slices.Contains(judged.Flags, trial.PlateauDelayedACK) {
			t.Errorf("%s: flags %v lack %s", c.name, judged.Flags, trial.PlateauDelayedACK)
		}
	}
}
