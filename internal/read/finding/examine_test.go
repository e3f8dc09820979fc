package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// examined returns the findings about one synthetic trial after a change.
func examined(t *testing.T, o synthetic.Options, change func(*record.Record)) trial.Trial {
	t.Helper()
	o.Blocks, o.Connections, o.Arms = 1, []int{50}, []synthetic.Arm{{Name: "go-net"}}
	h, trials, records := synthetic.Run(o)
	change(&records[0])
	f := find(t, h, trials, records)
	return f.Cells[0].Arms[0].Trials[0]
}

// A rate paced by the client says nothing about servers; the CPU it cost does.
func TestServerVerdictFromClientLimitIsRefused(t *testing.T) {
	o := synthetic.Options{Blocks: 10, Connections: []int{50}, Primary: []string{"exchanges_per_s", "service_p50_us", "work_s", serverCPU}}
	h, trials, records := synthetic.Run(o)
	for i := range records {
		client := &records[i].Workers[1]
		client.Setup.Load.Amount = 1000
		from, to := client.Open.Meter, client.Close.Meter
		to.Threads[0].CPUNs = from.Threads[0].CPUNs + (to.AtNs - from.AtNs)
	}
	f := find(t, h, trials, records)
	for metric, want := range map[string]compare.Verdict{
		"exchanges_per_s": compare.Invalid, "service_p50_us": compare.Invalid, "work_s": compare.Invalid, serverCPU: compare.Better,
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
	if c := comparison(t, f, "connections=50", "exchanges_per_s", "go-epoll"); c.Verdict == compare.Invalid {
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
	if c := comparison(t, f, "connections=50", "response_p99_us", "asio"); c.Verdict != compare.Invalid || !strings.Contains(c.Reason, "asio was overloaded in 1 of 8 trials") {
		t.Errorf("%s: %s", c.Verdict, c.Reason)
	}
	if c := comparison(t, f, "connections=50", "response_p99_us", "go-epoll"); c.Verdict == compare.Invalid {
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
		if w.About == "delivery" && !(strings.Contains(w.Text, "in 2 of 2 cells") && strings.Contains(w.Advice, "(message: go-net, go-epoll; server chunks, client message: asio)")) {
			t.Errorf("delivery: %s", w.Text)
		}
	}
	if strings.Join(about, " ") != "delivery loopback" {
		t.Errorf("warnings about %v", about)
	}
}
