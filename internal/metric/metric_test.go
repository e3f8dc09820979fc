package metric_test

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// handMade is a trial whose figures can be checked on paper: two clients of
// 1000 and 500 exchanges in 1 s, a server of 0.3 cores.
func handMade(t *testing.T) *record.Record {
	t.Helper()
	meter := func(atNs, cpuNs int64, set ...int) *contract.Meter {
		passed := atNs - 10_000_000_000
		return &contract.Meter{
			AtNs: atNs, CPUSet: set,
			Interfaces: contract.Interfaces{
				{Name: "eth0", Interface: contract.Interface{ReceivedBytes: passed / 2_000, ReceivedPackets: passed / 2_000_000, SentBytes: passed / 4_000, SentPackets: passed / 4_000_000}},
				{Name: "lo", Interface: contract.Interface{ReceivedBytes: passed / 10_000, SentBytes: passed / 10_000}},
			},
			Process: contract.Process{CPUNs: cpuNs, RSSBytes: 1000, PeakRSSBytes: 2000, VoluntarySwitches: passed / 1_000_000, InvoluntarySwitches: passed / 2_000_000},
			CPUs: []contract.CPU{
				{ID: 0, UserNs: passed / 10, SystemNs: passed / 10, SoftIRQNs: passed / 20, StealNs: passed / 100, IdleNs: passed},
				{ID: 1, UserNs: passed / 5, IdleNs: passed},
			},
		}
	}
	second := int64(1_000_000_000)
	from, to := 10*second, 11*second
	r := &record.Record{Outcome: record.OK}
	r.Workers = append(r.Workers, record.Worker{
		Name: "server", Role: contract.Server,
		Idle: &record.Edge{
			Reading: contract.Reading{Runtime: &contract.Runtime{HeapBytes: 300}},
			Meter:   &contract.Meter{Process: contract.Process{RSSBytes: 700}},
		},
		Open: &record.Edge{
			Reading: contract.Reading{AtNs: from, Counts: contract.Counts{ReceivedBytes: 100}, Runtime: &contract.Runtime{}},
			Meter:   meter(from, 0, 0),
		},
		Close: &record.Edge{
			Reading: contract.Reading{
				AtNs: to, Counts: contract.Counts{ReceivedBytes: 150_100},
				Runtime: &contract.Runtime{GCCycles: 2, GCCPUNs: 30_000_000, GCPauseNs: 500_000, AllocBytes: 3000, AllocObjects: 150, HeapBytes: 400},
			},
			Meter: meter(to, 300_000_000, 0),
		},
	})
	for i, n := range []int64{1000, 500} {
		h := hist.New()
		h.Record(int64(i+1)*100_000, n) // 100 µs at the first client, 200 µs at the second
		text, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		r.Workers = append(r.Workers, record.Worker{
			Name: "client", Role: contract.Client,
			Idle: &record.Edge{Meter: &contract.Meter{Process: contract.Process{RSSBytes: 30}}},
			Setup: &contract.Setup{
				Exchange: contract.Exchange{UpBytes: 100, DownBytes: 200},
				Load:     contract.Load{Connections: 1, Rate: 1000},
			},
			Open:  &record.Edge{Reading: contract.Reading{AtNs: from}, Meter: meter(from, 0, 1)},
			Close: &record.Edge{Reading: contract.Reading{AtNs: to}, Meter: meter(to, 100_000_000, 1)},
			Result: &contract.Result{
				FromNs: from, ToNs: to, Service: text, Response: text, Lag: text,
				Counts: contract.Counts{Exchanges: n, SentBytes: n * 100, ReceivedBytes: n * 200},
				Own:    map[string]float64{"received_bytes": 3 * float64(n), "messages": float64(n) / 5},
			},
		})
	}
	return r
}

// absentByHand are the metrics that handMade has no inputs for.
var absentByHand = map[string]bool{
	"service_p999_us": true, "response_p999_us": true, // 1500 values leave 1.5 beyond
	"client.gc_cycles_per_s": true, "client.gc_pause_us_per_cycle": true, "client.gc_cpu_share": true, "client.gc_pause_us_per_s": true, "client.alloc_bytes_per_exchange": true, "client.allocs_per_exchange": true,
	"client.heap_bytes": true, "client.idle_heap_bytes": true,
	"work_s":       true, // the window was fixed
	"slots_in_use": true, // an open loop
}

// byHand are the figures of handMade, worked out on paper.
var byHand = map[string]float64{
	"exchanges_per_s":     1500,
	"goodput_bytes_per_s": 300_000, "event_bytes": 15,
	"offered_share":                   0.75,
	"error_share":                     0,
	"unfinished":                      0,
	"service_mean_us":                 (1000*100 + 500*200) / 1500.0,
	"service_p50_us":                  100, // averaging the clients' medians would give 150
	"service_p90_us":                  200,
	"service_p95_us":                  200,
	"service_p99_us":                  200,
	"response_mean_us":                400.0 / 3,
	"response_p50_us":                 100,
	"response_p90_us":                 200,
	"response_p95_us":                 200,
	"response_p99_us":                 200,
	"lag_p99_us":                      200,
	"server.cpu_us_per_exchange":      0.3e6 / 1500,
	"client.cpu_us_per_exchange":      0.2e6 / 1500,
	"host.cpu_us_per_exchange":        0.45e6 / 1500, // one host seen by three meters counts once
	"server.cpu_s_per_gb":             0.3 / 300_000 * 1e9,
	"client.cpu_s_per_gb":             0.2 / 300_000 * 1e9,
	"server.cores":                    0.3,
	"client.cores":                    0.2,
	"host.softirq_share":              0.05 / 2.46,
	"host.steal_share":                0.01 / 2.46,
	"server.rss_bytes":                1000,
	"client.rss_bytes":                2000,
	"server.peak_rss_bytes":           2000,
	"client.peak_rss_bytes":           4000,
	"server.switches_per_exchange":    1500.0 / 1500,
	"client.switches_per_exchange":    2,
	"server.gc_cpu_share":             0.1,
	"server.gc_pause_us_per_s":        500,
	"server.gc_cycles_per_s":          2,
	"server.gc_pause_us_per_cycle":    250,
	"server.alloc_bytes_per_exchange": 2,
	"server.allocs_per_exchange":      0.1,
	"server.heap_bytes":               400,
	"server.idle_rss_bytes":           700,
	"client.idle_rss_bytes":           60,
	"server.idle_heap_bytes":          300,
	"link_bytes_per_exchange":         750_000 / 1500.0, // one interface seen by two meters counts once
	"link_packets_per_exchange":       750 / 1500.0,
	"link_rx_bytes_per_s":             500_000, // likewise
	"link_tx_bytes_per_s":             250_000,
	"link_rx_packets_per_s":           500,
	"link_tx_packets_per_s":           250,
}

func TestMetricsByHand(t *testing.T) {
	r := handMade(t)
	for name, expected := range byHand {
		m, err := metric.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := m.Value(r)
		if !ok || math.Abs(got-expected) > 0.001*math.Abs(expected) {
			t.Errorf("%s = %v, %v; want %v", name, got, ok, expected)
		}
	}
	for _, m := range metric.All() {
		v, ok := m.Value(r)
		if absentByHand[m.Name] && ok {
			t.Errorf("%s = %v, want absent", m.Name, v)
		}
		if _, known := byHand[m.Name]; !known && !absentByHand[m.Name] && ok {
			t.Errorf("%s = %v is not checked here", m.Name, v)
		}
		if m.Doc == "" || m.Formula == "" || m.Unit == "" {
			t.Errorf("%s is not documented: %+v", m.Name, m)
		}
	}
}

// Absent inputs give no figure, never 0.
func TestMetricsOfNothing(t *testing.T) {
	broken := handMade(t)
	broken.Workers[2].Result = nil
	for _, r := range []*record.Record{{}, {Workers: make([]record.Worker, 3)}, broken} {
		for _, m := range metric.All() {
			if v, ok := m.Value(r); ok && (v == 0 || strings.Contains(m.Name, "exchange") || strings.Contains(m.Name, "service")) {
				t.Errorf("%s = %v without its inputs", m.Name, v)
			}
		}
	}
}

// What asks for a stream, or confirms it, is not what goodput is about.
func TestGoodputGoesTheStreamsWay(t *testing.T) {
	for _, c := range []struct {
		stream   contract.Stream
		up, down int64
		want     float64
	}{
		{contract.StreamUp, 100, 100, 150_000},
		{contract.StreamDown, 100, 100, 300_000},
		{contract.StreamBoth, 100, 100, 450_000},
		{"", 1000, 1, 150_000},
		{"", 1, 1000, 300_000},
	} {
		r := handMade(t)
		for i := range r.Workers {
			if s := r.Workers[i].Setup; s != nil {
				s.Exchange.Stream, s.Exchange.UpBytes, s.Exchange.DownBytes = c.stream, c.up, c.down
			}
		}
		if got := value(t, "goodput_bytes_per_s", r); got != c.want {
			t.Errorf("stream %q of %d bytes up and %d down: goodput %v, want %v", c.stream, c.up, c.down, got, c.want)
		}
	}
}

// value returns a metric of a record; NaN when it is absent.
func value(t *testing.T, name string, r *record.Record) float64 {
	t.Helper()
	m, err := metric.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := m.Value(r)
	if !ok {
		return math.NaN()
	}
	return v
}

func checkValues(t *testing.T, r *record.Record, want map[string]float64) {
	t.Helper()
	for name, expected := range want {
		got := value(t, name, r)
		if math.IsNaN(got) != math.IsNaN(expected) || math.Abs(got-expected) > 1e-9*math.Abs(expected) {
			t.Errorf("%s = %v, want %v", name, got, expected)
		}
	}
}

// A fixed amount of work is closed by each client's own result, and the server
// is asked later: what one exchange cost must not depend on how much later.
func TestAmountComparesTotals(t *testing.T) {
	r := handMade(t)
	for i := range r.Workers[1:] {
		w := &r.Workers[i+1]
		w.Setup.Load.Amount = 10
		w.AtResult, w.Close = w.Close.Meter, nil
	}
	early := &r.Workers[2] // done after half the time, with half its CPU used
	early.Result.ToNs -= 500_000_000
	early.AtResult.AtNs -= 500_000_000
	early.AtResult.Process.CPUNs /= 2
	server := r.Workers[0].Close // asked a whole second late
	server.Reading.AtNs += 1_000_000_000
	server.Meter.AtNs += 1_000_000_000
	checkValues(t, r, map[string]float64{
		"work_s":                          1,
		"exchanges_per_s":                 1000 + 500/0.5,
		"server.cpu_us_per_exchange":      0.3e6 / 1500,
		"client.cpu_us_per_exchange":      0.15e6 / 1500,
		"server.cpu_s_per_gb":             0.3 / 300_000 * 1e9,
		"server.cores":                    0.3,
		"server.gc_cpu_share":             0.1,
		"server.alloc_bytes_per_exchange": 2,
		"server.switches_per_exchange":    1,
		"link_bytes_per_exchange":         500,
	})
	r.Workers[2].Result = nil
	checkValues(t, r, map[string]float64{"work_s": math.NaN(), "server.cpu_us_per_exchange": math.NaN()})
}

// What is metered of a worker that only stands for a server elsewhere is not
// that server's.
// Whoever exchanged has spent CPU time: where none passed, another's was read.
func TestNoCostIsZero(t *testing.T) {
	r := handMade(t)
	for i := range r.Workers {
		if w := &r.Workers[i]; w.Role == contract.Server {
			w.Close.Meter.Process.CPUNs = w.Open.Meter.Process.CPUNs
		}
	}
	for name, want := range map[string]bool{
		"server.cpu_us_per_exchange": false, "server.cpu_s_per_gb": false, "client.cpu_us_per_exchange": true,
	} {
		m, err := metric.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if value, ok := m.In(record.NewWindow(r)); ok != want {
			t.Errorf("%s is %v, %v; want a value: %v", name, value, ok, want)
		}
	}
}

// Python's runtime tells of collections, and not of what was allocated: no figure is better
// than 0, which would win every comparison.
func TestWhatARuntimeDoesNotCountIsAbsent(t *testing.T) {
	r := handMade(t)
	r.Workers[0].Close.Reading.Runtime = &contract.Runtime{GCCycles: 2, GCPauseNs: 500_000}
	if got := value(t, "server."+metric.GCPausePerCycle, r); got != 250 {
		t.Errorf("a pause is %v µs, expected 250", got)
	}
	for _, name := range []string{metric.AllocPerExchange, "allocs_per_exchange"} {
		m, err := metric.Named("server." + name)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := m.Value(r); ok {
			t.Errorf("%s is %v, expected none", name, got)
		}
	}
}

func TestServerElsewhereHasNoProcessMetrics(t *testing.T) {
	r := handMade(t)
	r.Workers[0].Ready = &contract.Ready{Elsewhere: true}
	for _, m := range metric.All() {
		if v, ok := m.Value(r); ok && strings.HasPrefix(m.Name, "server.") {
			t.Errorf("%s = %v of a server elsewhere", m.Name, v)
		}
	}
	checkValues(t, r, map[string]float64{"exchanges_per_s": 1500, "client.cpu_us_per_exchange": 0.2e6 / 1500, "host.steal_share": 0.01 / 2.46})
}

func TestLoopbackCarriesEachPacketOnce(t *testing.T) {
	r := handMade(t)
	for i := range r.Workers[1:] {
		r.Workers[i+1].Open.Meter.Interfaces.Delete("eth0")
		r.Workers[i+1].Close.Meter.Interfaces.Delete("eth0")
	}
	checkValues(t, r, map[string]float64{"link_bytes_per_exchange": 100_000 / 1500.0})
	r.Workers[2].Seat = "second" // another host or namespace, with a loopback of its own
	checkValues(t, r, map[string]float64{"link_bytes_per_exchange": 200_000 / 1500.0})
	r.Workers[2].Open.Meter.Interfaces = nil
	checkValues(t, r, map[string]float64{"link_bytes_per_exchange": math.NaN()})
}

func TestTwoHostsAreBothCounted(t *testing.T) {
	r := handMade(t)
	for i := range r.Workers[1:] {
		for _, e := range []*record.Edge{r.Workers[i+1].Open, r.Workers[i+1].Close} {
			for c := range e.Meter.CPUs {
				e.Meter.CPUs[c].IdleNs += 7_000_000_000_000
			}
		}
	}
	m, err := metric.Named("host.cpu_us_per_exchange")
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := m.Value(r); !ok || math.Abs(v-0.9e6/1500) > 1e-6 {
		t.Fatalf("host CPU = %v, %v; want both hosts'", v, ok)
	}
}

// A client of whose 1000 completed exchanges 990 fell inside by their service time and
// 995 by their slots' cycles: costs are divided by the one, rates made of the other.
func TestAnExchangeThatSpansAnEdgeCountsByItsShare(t *testing.T) {
	r := handMade(t)
	whole := map[string]float64{}
	names := []string{"exchanges_per_s", "goodput_bytes_per_s", "client.cpu_us_per_exchange", "client.cpu_s_per_gb"}
	for _, name := range names {
		whole[name] = valueOf(t, r, name)
	}
	for i := range r.Workers[1:] {
		result := r.Workers[1+i].Result
		n := float64(result.Counts.Exchanges)
		result.Inside = &contract.Inside{Exchanges: 0.99 * n, Cycles: 0.995 * n, IdleNs: result.Counts.Exchanges * 50_000}
		r.Workers[1+i].Setup.Load.Rate = 0
	}
	for name, want := range map[string]float64{
		"exchanges_per_s": 0.995, "client.cpu_us_per_exchange": 1 / 0.99, "client.cpu_s_per_gb": 1 / 0.99,
	} {
		if got := valueOf(t, r, name) / whole[name]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v of that of whole exchanges, want %v", name, got, want)
		}
	}
	// 1000 × 0.995/s × (100 + 50) µs and 500 × 0.995/s × (200 + 50) µs
	if got := valueOf(t, r, "slots_in_use"); math.Abs(got-0.995*(0.150+0.125)) > 1e-3 {
		t.Errorf("%v slots in use", got)
	}
}

// Of a random schedule an open loop is compared with what it drew.
func TestAchievedIsOfWhatFellDue(t *testing.T) {
	r := handMade(t)
	for i := range r.Workers[1:] {
		g := &r.Workers[1+i]
		n := float64(g.Result.Counts.Exchanges)
		g.Setup.Load.Rate, g.Setup.Load.Arrival = 1.1*n, contract.Poisson
		g.Result.Inside = &contract.Inside{Exchanges: 0.9 * n, Cycles: n, Due: 1.25 * n}
	}
	if got := valueOf(t, r, "exchanges_per_s"); math.Abs(got-0.9*1500) > 1e-6 {
		t.Errorf("a rate of %v/s, want what fell inside: idle slots have no exchange", got)
	}
	if got := valueOf(t, r, "offered_share"); math.Abs(got-0.8) > 1e-9 {
		t.Errorf("achieved %v of what fell due, want 0.8", got)
	}
}

func valueOf(t *testing.T, r *record.Record, name string) float64 {
	t.Helper()
	m, err := metric.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := m.Value(r)
	if !ok {
		t.Fatalf("no %s", name)
	}
	return v
}

// The stages of both clients' exchanges are one distribution, in which an exchange without a
// first byte counts at its age.
func TestStages(t *testing.T) {
	times := func(us int64, n int64) string {
		h := hist.New()
		h.Record(us*1000, n)
		text, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	r := handMade(t)
	r.Workers[1].Result.Stages = &contract.Stages{Connect: times(100, 30), Handshake: times(1000, 30), Resumed: 15, FirstByte: times(10, 900), Waiting: times(5000, 100)}
	r.Workers[2].Result.Stages = &contract.Stages{Connect: times(200, 10), Handshake: times(3000, 10), FirstByte: times(10, 500)}
	for name, want := range map[string]float64{
		"connect_p50_us": 100, "connect_mean_us": 125, "connect_p99_us": math.NaN(), "handshake_p50_us": 1000, "handshake_mean_us": 1500,
		"resumed_share": 15.0 / 40, "first_byte_p50_us": 10, "first_byte_p99_us": 5000, "first_event_p50_us": math.NaN(),
	} {
		if got := value(t, name, r); math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 0.001*want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
}
