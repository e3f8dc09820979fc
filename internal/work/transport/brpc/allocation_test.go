package brpc

import (
	"fmt"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// pair connects one connection to a server of our own; options are given on top
// of the defaults, as the worker gives them.
func pair(t testing.TB, exchange contract.Exchange, given map[string]any) *client {
	t.Helper()
	setup := contract.Setup{Exchange: exchange, Role: contract.Server, Listen: "127.0.0.1:0", Options: map[string]any{}}
	for _, o := range options {
		setup.Options[o.Name] = o.Default
		if v, ok := given[o.Name]; ok {
			setup.Options[o.Name] = v
		}
		if n, ok := setup.Options[o.Name].(int); ok {
			setup.Options[o.Name] = int64(n)
		}
	}
	s, err := Transport{}.Server(setup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	setup.Role, setup.Peers = contract.Client, s.Ready().Addresses
	setup.Load.Connections = 1
	c, err := Transport{}.Client(setup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*client)
}

// exchanges returns what one slot does for each exchange.
func exchanges(t testing.TB, exchange contract.Exchange, given map[string]any) load.Call {
	t.Helper()
	c := pair(t, exchange, given)
	slot, call := &c.Load().Slots(0)[0], c.call(0, 0)
	c.Load().Start()
	c.Load().Open(load.Now())
	return func() (int64, error) {
		slot.Next(load.Now())
		sent := load.Now()
		n, err := call()
		if err == nil {
			slot.Done(sent, load.Now(), n)
		}
		return n, err
	}
}

func blocks(n int64) contract.Exchange { return contract.Exchange{UpBytes: n, DownBytes: n} }

// Each end makes the message that it decodes into, as generated code does, and
// the content of one that has some; nothing else is allocated.
func TestAnExchangeAllocatesItsMessagesAlone(t *testing.T) {
	for _, connection := range []string{connectionSingle, connectionPooled} {
		for payload, most := range map[string]float64{payloadBlock: 4, payloadAttachment: 2} {
			call := exchanges(t, blocks(1000), map[string]any{"connection": connection, "payload": payload})
			// Every goroutine's allocations are counted, the least of several is ours.
			got := most + 1
			for range 3 {
				got = min(got, testing.AllocsPerRun(200, func() {
					if _, err := call(); err != nil {
						t.Fatal(err)
					}
				}))
			}
			if got > most {
				t.Errorf("%s, %s: %v allocations in an exchange, both ends together; want at most %v", connection, payload, got, most)
			}
		}
	}
}

// BenchmarkExchange times exchanges one after the other, both ends in one process.
func BenchmarkExchange(b *testing.B) {
	for _, size := range []int64{100, 64 << 10, 1 << 20} {
		for _, connection := range []string{connectionSingle, connectionPooled} {
			for _, payload := range []string{payloadBlock, payloadAttachment} {
				b.Run(fmt.Sprintf("%d/%s/%s", size, connection, payload), func(b *testing.B) {
					call := exchanges(b, blocks(size), map[string]any{"connection": connection, "payload": payload})
					b.SetBytes(2 * size)
					b.ReportAllocs()
					for b.Loop() {
						if _, err := call(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
