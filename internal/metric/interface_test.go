package metric_test

import (
	"math"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/record"
)

func TestTheLinksShareIsThatOfTheBusiestCable(t *testing.T) {
	r := handMade(t)
	r.Trial.Levels = map[string]string{"link.rate": "8Mbit/s"}
	for i := range r.Workers {
		r.Workers[i].Seat = []string{"a", "b", "c"}[i]
	}
	// Every seat receives 500 kB/s; the server's cable carries twice that.
	busy, _ := r.Workers[0].Close.Meter.Interfaces.Of("eth0")
	busy.SentBytes += 750_000
	r.Workers[0].Close.Meter.Interfaces.Set("eth0", busy)
	checkValues(t, r, map[string]float64{
		"link_rate_share":       1, // 1 MB/s of 8 Mbit/s at the server
		"link_rx_bytes_per_s":   1_000_000,
		"link_tx_bytes_per_s":   500_000,
		"link_rx_packets_per_s": 1000,
		"link_tx_packets_per_s": 500,
	})
	// A card that is slower than the link was asked to be is the nominal rate.
	w := record.NewWindow(r)
	w.Nominal = map[string]float64{"b/eth0": 5e6, "c/eth0": 1e9}
	m, err := metric.Named("link_rate_share")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := m.In(w); !ok || math.Abs(got-1) > 1e-9 {
		t.Errorf("with a card of 5 Mbit/s that receives 4 Mbit/s: %v, %t; the server's is fuller", got, ok)
	}
	w.Nominal["b/eth0"] = 2e6
	if got, ok := m.In(w); !ok || math.Abs(got-2) > 1e-9 {
		t.Errorf("with a card of 2 Mbit/s that receives 4 Mbit/s: %v, %t", got, ok)
	}
	r.Trial.Levels["link.rate"] = "max"
	checkValues(t, r, map[string]float64{"link_rate_share": math.NaN()})
}

// A kernel that hands an interface 44 segments as one packet counts their headers
// once; the link carries each.
func TestTheLinksShareCountsTheHeadersOfEveryPacket(t *testing.T) {
	const segments, whole = 44.0, 44*1448 + 66.0
	r := handMade(t)
	r.Trial.Levels = map[string]string{"link.rate": "8Mbit/s"}
	for i := range r.Workers {
		r.Workers[i].Seat = []string{"a", "b", "c"}[i]
	}
	server := &r.Workers[0]
	length := float64(server.Close.Meter.AtNs-server.Open.Meter.AtNs) / 1e9
	before, _ := server.Open.Meter.Interfaces.Of("eth0")
	busy := before
	busy.SentBytes += int64(100 * whole)
	busy.SentPackets += 100
	server.Close.Meter.Interfaces.Set("eth0", busy)
	share := func(bytes float64) map[string]float64 {
		return map[string]float64{"link_rate_share": bytes * 8 / length / 8e6}
	}
	checkValues(t, r, share(100*whole)) // nothing says how large the segments were
	for _, edge := range []*record.Edge{server.Open, server.Close} {
		edge.Meter.TCP = &contract.TCP{Sockets: 1, SegmentBytes: 1448}
	}
	checkValues(t, r, share(100*segments*(1448+66)))
	busy.SentPackets = before.SentPackets + 100*44 // the interface counted each
	busy.SentBytes = before.SentBytes + 100*44*1514
	server.Close.Meter.Interfaces.Set("eth0", busy)
	checkValues(t, r, share(100*segments*1514))
	server.Open.Meter.TCP = nil
	before.Queue, busy.Queue = &contract.Queue{SentBytes: 7}, &contract.Queue{SentBytes: 7 + 100*44*1530}
	server.Open.Meter.Interfaces.Set("eth0", before)
	server.Close.Meter.Interfaces.Set("eth0", busy)
	checkValues(t, r, share(100*segments*1530))
}

func TestConnectionsAreToldApart(t *testing.T) {
	r := accounted(t)
	each := func(i int, meter *contract.Meter, received ...int64) {
		meter.TCP.Sockets, meter.TCP.Each = len(received), nil
		for k, n := range received {
			meter.TCP.Each = append(meter.TCP.Each, contract.TCPSocket{Inode: int64(100*i + k), ReceivedBytes: n, AckedBytes: 2 * n})
		}
	}
	for i := 1; i <= 2; i++ {
		each(i, r.Workers[i].Open.Meter, 10, 20)
		each(i, r.Workers[i].Close.Meter, 10+int64(1000*i), 20+int64(3000*i))
	}
	checkValues(t, r, map[string]float64{"slowest_connection_bytes_per_s": 1000, "fastest_connection_bytes_per_s": 6000})
	for i := 1; i <= 2; i++ { // upwards what was acknowledged counts
		r.Workers[i].Setup.Exchange.Stream = contract.StreamUp
	}
	checkValues(t, r, map[string]float64{"slowest_connection_bytes_per_s": 2000, "fastest_connection_bytes_per_s": 12_000})
	absent := map[string]float64{"slowest_connection_bytes_per_s": math.NaN(), "fastest_connection_bytes_per_s": math.NaN()}
	r.Workers[2].Close.Meter.TCP.Each[0].Inode = 7 // another connection in its place
	checkValues(t, r, absent)
	r.Workers[2].Close.Meter.TCP.Each = nil
	checkValues(t, r, absent)
}

func TestTheRuntimesOwnFigures(t *testing.T) {
	r := handMade(t)
	r.Workers[0].Open.Reading.Runtime.GCCycles = 3
	end := r.Workers[0].Close.Reading.Runtime
	end.GCPauseNs, end.GCCycles, end.Goroutines, end.HeapSysBytes, end.StackSysBytes = 500_000, 7, 51, 4<<20, 640<<10
	r.Workers[0].Close.Meter.Process.Threads = 9
	checkValues(t, r, map[string]float64{
		"server.gc_cycles_per_s": 4, "server.gc_pause_us_per_cycle": 125, "server.goroutines": 51,
		"server.heap_sys_bytes": 4 << 20, "server.stack_sys_bytes": 640 << 10, "server.threads": 9,
		"client.goroutines": math.NaN(), "client.threads": math.NaN(),
	})
	end.GCCycles = 3 // none in the window: a pause of nothing is no figure
	checkValues(t, r, map[string]float64{"server.gc_cycles_per_s": 0, "server.gc_pause_us_per_cycle": math.NaN()})
}
