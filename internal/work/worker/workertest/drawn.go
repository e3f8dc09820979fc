package workertest

import (
	"slices"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/load"
)

// Drawn are exchanges whose sizes are drawn each way, and those of an echo.
func Drawn() (both, echo contract.Exchange) {
	up := contract.Table{{1 << 30, 0, 0}, {3 << 30, 1, 4096}, {contract.TableEnd, 60_000, 200_000}}
	down := contract.Table{{2 << 30, 0, 300}, {contract.TableEnd, 100_000, 100_000}}
	some := contract.Table{{3 << 30, 1, 4096}, {contract.TableEnd, 60_000, 400_000}}
	both = contract.Exchange{UpBytes: up.Most(), DownBytes: down.Most(), UpSizes: up, DownSizes: down}
	return both, contract.Exchange{UpBytes: some.Most(), DownBytes: some.Most(), UpSizes: some, DownSizes: some}
}

// Draws runs a fixed amount of exchanges of drawn sizes on three connections, each with so
// many in flight, and checks that both ends moved what the seed says, to the byte. The
// setups lack exchange and load, the client's its peers too.
func Draws(t *testing.T, transports []load.Transport, server, client contract.Setup, inFlight int) {
	t.Helper()
	const connections, each = 3, 40
	server.Role, server.Listen, client.Role, client.Seed = contract.Server, "127.0.0.1:0", contract.Client, 11
	if server.Exchange.UpBytes == 0 {
		server.Exchange, _ = Drawn()
	}
	client.Exchange = server.Exchange
	client.Load = contract.Load{Connections: connections, InFlight: inFlight, Amount: each}
	s, c, _ := Pair(t, transports, server, client)
	up, down := moved(t, client, connections*each)
	s.Mark(1, true)
	before := verified(t, s, client)
	c.Start()
	r := c.Expect("result").Result
	if r.Counts.Exchanges != connections*each || len(r.Counts.Errors) > 0 || r.Counts.SentBytes != up || r.Counts.ReceivedBytes != down {
		t.Errorf("client counts %+v, want %d exchanges, %d bytes up and %d down", r.Counts, connections*each, up, down)
	}
	told := int64(connections * each)
	if len(client.Exchange.DownSizes) == 0 {
		told = 0
	}
	if lengths, err := hist.Decode(r.Lengths); err != nil || lengths.Count() != told {
		t.Errorf("%d lengths told, want %d (%v)", lengths.Count(), told, err)
	}
	got := contract.Counts{}
	for deadline := time.Now().Add(Timeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		now := s.Mark(1, true).Counts
		if got = (contract.Counts{ReceivedBytes: now.ReceivedBytes - before.ReceivedBytes, SentBytes: now.SentBytes - before.SentBytes}); got.ReceivedBytes >= up && got.SentBytes >= down {
			break
		}
	}
	if got.ReceivedBytes != up || got.SentBytes != down {
		t.Errorf("the server received %d bytes and sent %d, want %d and %d", got.ReceivedBytes, got.SentBytes, up, down)
	}
}

// verified returns what a server counts when a client of drawn sizes is ready. A server of
// wire echo does not see where an exchange ends, and counts what it sent after the client
// may have it: so this is what the seed says. On other wires one exchange was verified on
// each connection.
func verified(t testing.TB, server *Bench, client contract.Setup) contract.Counts {
	t.Helper()
	connections, each := int64(client.Load.Connections), int64(1)
	if !echoes(client.Exchange) {
		return server.Settled(contract.Counts{}, connections)
	}
	if client.Transport == "go-quic" { // one on each stream
		each = int64(client.Load.InFlight)
	}
	up, down := moved(t, client, connections)
	return contract.Counts{ReceivedBytes: each * up, SentBytes: each * down}
}

// echoes reports whether an answer is as long as what it answers.
func echoes(x contract.Exchange) bool { return slices.Equal(x.UpSizes, x.DownSizes) && x.Varies() }

// moved returns the payload bytes of a client's first n exchanges, each of which has been
// made. On wire echo, whose transport has no codec but bytes, an answer is as long as what
// it answers.
func moved(t testing.TB, setup contract.Setup, n int64) (up, down int64) {
	t.Helper()
	draws, err := load.DrawsOf(setup)
	if err != nil {
		t.Fatal(err)
	}
	echo := echoes(setup.Exchange)
	for i := range uint64(n) {
		x := draws.Of(i)
		up += x.Up
		if down += x.Down; echo {
			down += x.Up - x.Down
		}
	}
	return up, down
}
