package baidu

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker/workertest"
)

// exchanges returns what one slot does for each exchange with a server of our own.
func exchanges(t testing.TB, exchange contract.Exchange, payload, connection string) load.Call {
	t.Helper()
	setup := contract.Setup{Exchange: exchange, Options: map[string]any{"payload": payload}}
	s := workertest.Server(t, Transport{}, setup)
	setup.Options["connection"] = connection
	setup = workertest.ClientSetup(t, Transport{}, setup, s.Ready().Addresses[0])
	c, err := newClient(setup)
	if err != nil {
		t.Fatal(err)
	}
	workertest.Open(t, c)
	return workertest.Loaded(t, setup, c.call(0, 0))
}

func blocks(n int64) contract.Exchange { return contract.Exchange{UpBytes: n, DownBytes: n} }

// Each end makes the message that it decodes into, as generated code does, and
// the content of one that has some; nothing else is allocated.
func TestAnExchangeAllocatesItsMessagesAlone(t *testing.T) {
	for _, connection := range []string{connectionSingle, connectionPooled} {
		for payload, most := range map[string]float64{payloadBlock: 4, payloadAttachment: 2} {
			call := exchanges(t, blocks(1000), payload, connection)
			// Every goroutine's allocations are counted, the least of several is ours.
			got := most + 1
			for range 3 {
				got = min(got, workertest.Allocations(t, call))
			}
			if got > most {
				t.Errorf("%s, %s: %v allocations in an exchange, both ends together; want at most %v", connection, payload, got, most)
			}
		}
	}
}
