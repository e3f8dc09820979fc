package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A server that ran before the run has figures where it was metered, and else none
// and one line that says why.
func TestAServerThatRanBefore(t *testing.T) {
	for _, why := range []string{"", "its socket belongs to user www-data"} {
		header, trials, records := synthetic.Run(synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}}, Blocks: 3, Seed: 1})
		for i := range records {
			for j := range records[i].Workers {
				if w := &records[i].Workers[j]; w.Role == contract.Server {
					stand(w, why)
				}
			}
		}
		f, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		figures := 0
		for _, m := range f.Cells[0].Arms[0].Metrics {
			if m.Metric == "server.cpu_us_per_exchange" || m.Metric == "server.rss_bytes" {
				figures++
			}
		}
		var lines []string
		for _, w := range f.Warnings {
			if w.About == finding.AboutServer {
				lines = append(lines, w.Text)
			}
		}
		switch {
		case why == "" && (figures != 2 || len(lines) > 0):
			t.Errorf("metered: %d figures, %q", figures, lines)
		case why != "" && (figures > 0 || len(lines) != 1 || !strings.HasSuffix(lines[0], " are missing: "+why)):
			t.Errorf("not metered: %d figures, %q", figures, lines)
		}
	}
}

// The answer and one line say that a server asked others while it served.
func TestAServerThatAsksOthers(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}}, Blocks: 3, Seed: 1})
	const address = "127.0.0.1:80"
	for i := range records {
		for j := range records[i].Workers {
			if w := &records[i].Workers[j]; w.Role == contract.Server {
				stand(w, "")
				w.Ready.Addresses = []string{address}
				w.Close.Meter.Attached.Onward = &contract.Onward{Connections: 3, Bytes: 1 << 30, To: []string{"127.0.0.1:9000"}}
			}
		}
	}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range f.Warnings {
		if w.About == finding.AboutServer {
			lines = append(lines, w.Text)
		}
	}
	want := "on " + address + ", nginx asked 127.0.0.1:9000 while it served (3 connections, at least 1.00 GiB): what lies behind it is not in its CPU and memory"
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("%q, want %q once", lines, want)
	}
}

// stand makes of a server's worker one that stands for a server elsewhere.
func stand(w *record.Worker, why string) {
	ready := *w.Ready
	ready.Elsewhere, ready.Foreign = true, true
	w.Ready = &ready
	if w.AtReady == nil {
		w.AtReady = &contract.Meter{}
	}
	for _, m := range []*contract.Meter{w.AtReady, w.Idle.Meter, w.Open.Meter, w.Close.Meter} {
		m.Attached = &contract.Attached{PIDs: []int{7}, Names: []string{"nginx"}, Why: why}
	}
}
