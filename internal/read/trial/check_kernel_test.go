package trial_test

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// carry makes the kernel's account of a worker what the worker says, and a
// header on top of it.
func carry(workers ...*record.Worker) {
	for _, w := range workers {
		for _, edge := range []*record.Edge{w.Idle, w.Open, w.Close} {
			said := edge.Reading.Counts
			edge.Meter.TCP = &contract.TCP{Sockets: 50, ReceivedBytes: said.ReceivedBytes + 5000, AckedBytes: said.SentBytes + 5001}
		}
	}
}

func TestConsistencyByTheKernelsAccount(t *testing.T) {
	const messages = 2 * 50 * 100 // two per slot, in bytes: more than 1 % of what either end did
	short := func(change func(server, client *contract.TCP)) func(s, c *record.Worker) {
		return func(s, c *record.Worker) {
			carry(s, c)
			change(s.Close.Meter.TCP, c.Close.Meter.TCP)
		}
	}
	checkMiscounts(t, []miscount{
		{"honest", short(func(_, _ *contract.TCP) {}), ""},
		{"the server read what never came", short(func(s, _ *contract.TCP) { s.ReceivedBytes -= 5000 + messages + 1 }), "server received "},
		{"the client read what never came", short(func(_, c *contract.TCP) { c.ReceivedBytes -= 5000 + messages + 1 }), "client-1 received "},
		{"the client sent what never went", short(func(_, c *contract.TCP) { c.AckedBytes /= 2 }), "client-1 sent "},
		{"the server sent what never went", short(func(s, _ *contract.TCP) { s.AckedBytes = 0 }), "server sent "},
		{"what a library may hold", short(func(s, c *contract.TCP) {
			s.ReceivedBytes -= 5000 + messages
			c.AckedBytes -= 5001 + messages
		}), ""},
		{"written and not yet acknowledged", short(func(s, _ *contract.TCP) { s.AckedBytes, s.SendQueuedBytes = 0, s.AckedBytes }), ""},
		{"connections that went", short(func(s, _ *contract.TCP) { s.ReceivedBytes, s.Sockets = 0, 49 }), ""},
		{"connections that changed before the window", func(s, c *record.Worker) {
			carry(s, c)
			s.Close.Meter.TCP.ReceivedBytes = 0
			s.Idle.Meter.TCP.Sockets = 49
		}, ""},
		{"no account of the start", func(s, c *record.Worker) {
			carry(s, c)
			s.Close.Meter.TCP.ReceivedBytes = 0
			s.Idle.Meter.TCP = nil
		}, ""},
		{"connections made anew", func(s, c *record.Worker) {
			carry(s, c)
			c.Close.Meter.TCP.ReceivedBytes = 0
			c.Result.Counts.Redialled = 1
		}, ""},
		{"a codec's messages may be compressed", func(s, c *record.Worker) {
			carry(s, c)
			c.Close.Meter.TCP.ReceivedBytes = 0
			c.Setup.Exchange.Message = &contract.Structure{Name: "complex"}
		}, ""},
		{"a server's replies may be packed", func(s, c *record.Worker) {
			carry(s, c)
			c.Close.Meter.TCP.ReceivedBytes = 0
			c.Setup.Options = map[string]any{"packed_replies": true}
		}, ""},
		{"connections that carry no messages", func(s, c *record.Worker) {
			carry(s, c)
			for _, w := range []*record.Worker{s, c} {
				w.Ready.Path, w.Close.Meter.TCP.ReceivedBytes, w.Close.Meter.TCP.AckedBytes = &contract.Path{}, 9, 9
			}
		}, ""},
		{"a foreign server counts nothing", func(s, c *record.Worker) {
			carry(s, c)
			s.Ready.Foreign = true
			s.Close.Meter.TCP.ReceivedBytes = 0
		}, ""},
	})
}

// A meter that read late saw another window than the client's.
func TestConsistencyOfInterfacesReadLate(t *testing.T) {
	seen := func(bytes int64) func(s, c *record.Worker) { // of 200,000 payload bytes in 2 s
		return func(_, c *record.Worker) {
			lo, _ := c.Open.Meter.Interfaces.Of("lo")
			lo.ReceivedBytes += bytes
			c.Close.Meter.Interfaces.Set("lo", lo)
		}
	}
	late := func(do func(s, c *record.Worker)) func(s, c *record.Worker) {
		return func(s, c *record.Worker) {
			do(s, c)
			c.Close.Meter.SkewNs = 100_000_000 // 5 % of the window
		}
	}
	checkMiscounts(t, []miscount{
		{"in time, all of it", seen(200_000), ""},
		{"in time, 4 % less", seen(192_000), "interfaces"},
		{"late by as much", late(seen(192_000)), ""},
		{"through shared memory", func(s, c *record.Worker) {
			seen(0)(s, c)
			c.Ready.Path = &contract.Path{Over: contract.PathShm}
		}, ""},
		{"over TCP by a library's choice, 4 % less", func(s, c *record.Worker) {
			seen(192_000)(s, c)
			c.Ready.Path = &contract.Path{Over: contract.PathTCP}
		}, "interfaces"},
		{"late, and much less", late(seen(180_000)), "interfaces"},
	})
}
