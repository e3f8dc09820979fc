package flow_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/gonet"
	"netdyno/internal/work/worker/workertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A slot that is freed while the writer waits for another's due may be due
// before it, and must not wait for it.
func TestFreedSlotsDoNotWaitForLaterDues(t *testing.T) {
	const soon, late, wanted = int64(time.Second), int64(5 * time.Second), 3
	setup := contract.Setup{
		Exchange: contract.Exchange{UpBytes: 10, DownBytes: 10},
		Load:     contract.Load{Connections: 1, InFlight: 2, Rate: 2, Arrival: contract.Poisson},
	}
	// A seed by which one slot has several dues soon and the other none for long.
	for fits := false; !fits; {
		setup.Seed++
		l, err := load.New(setup, 1)
		if err != nil {
			t.Fatal(err)
		}
		slots, last := l.Slots(0), int64(0)
		for range wanted {
			last, _ = slots[0].Next(0)
		}
		other, _ := slots[1].Next(0)
		fits = last < soon && other > late
	}
	server := workertest.Server(t, gonet.Transport{}, setup)
	client := workertest.Client(t, gonet.Transport{}, setup, server.Ready().Addresses[0])
	client.Load().Start()
	ended := make(chan error)
	go func() { ended <- client.Run() }()
	for begun := time.Now(); client.Load().Counts().Exchanges < wanted; time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Duration(late)*9/10 {
			t.Errorf("%d exchanges, want the %d that were due within a second", client.Load().Counts().Exchanges, wanted)
			break
		}
	}
	client.Load().End(load.Now())
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
