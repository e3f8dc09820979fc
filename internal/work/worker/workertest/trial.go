package workertest

import (
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/hist"
	"netdyno/internal/work/load"
)

// Listen starts a worker as a server and returns its first address.
func Listen(t testing.TB, transports []load.Transport, setup contract.Setup) (server *Bench, address string) {
	t.Helper()
	server = Start(t, transports...)
	return server, server.Setup(setup).Addresses[0]
}

// Pair starts a worker for each end of a trial, with the same transports, and
// connects the client, whose setup lacks its peers. It fails the test unless
// the server listens on as many ports as it was asked for and every connection
// is verified. It also returns what the client says when it is ready.
func Pair(t testing.TB, transports []load.Transport, server, client contract.Setup) (s, c *Bench, ready contract.Ready) {
	t.Helper()
	s, c = Start(t, transports...), Start(t, transports...)
	client.Peers = s.Setup(server).Addresses
	if want := max(1, server.Listeners); len(client.Peers) != want {
		t.Fatalf("the server listens on %v, want %d addresses", client.Peers, want)
	}
	ready = c.Setup(client)
	if want := client.Load.Connections; ready.Connections != want || ready.Verified != want {
		t.Fatalf("ready %+v, want %d connections verified", ready, want)
	}
	return s, c, ready
}

// Amount has a ready client run the fixed amount of its setup, and fails the test unless
// both ends counted exactly that amount. It returns the client's result.
func Amount(t testing.TB, server, client *Bench, setup contract.Setup) contract.Result {
	t.Helper()
	connections := int64(setup.Load.Connections)
	opened := server.verified(setup)
	client.Mark(1, true)
	client.Start()
	r := client.Expect("result").Result
	x, want := setup.Exchange, setup.Load.Amount*connections
	if share := setup.Load.ActiveShare; share > 0 {
		want = int64(share * float64(want))
	}
	if r.Counts.Exchanges != want || len(r.Counts.Errors) > 0 || r.Unfinished != 0 {
		t.Errorf("client counts %+v, %d unfinished, reasons %+v; want %d exchanges", r.Counts, r.Unfinished, r.Reasons, want)
	}
	up, down := want*x.UpBytes, want*x.DownBytes
	if x.Varies() { // as all slots do as many, exchanges 0 to want − 1 were made
		up, down = 0, 0
		upSizes, downSizes := draw.NewDrawer(x.UpSizes, setup.Seed, draw.Up), draw.NewDrawer(x.DownSizes, setup.Seed, draw.Down)
		for i := range uint64(want) {
			up, down = up+upSizes.Draw(i), down+downSizes.Draw(i)
		}
	}
	if x.Codec == "" && (r.Counts.SentBytes != up || r.Counts.ReceivedBytes != down) {
		t.Errorf("client sent %d and received %d bytes in %d exchanges", r.Counts.SentBytes, r.Counts.ReceivedBytes, want)
	}
	counted, got := server.moved(opened, contract.Counts{Exchanges: want, ReceivedBytes: r.Counts.SentBytes, SentBytes: r.Counts.ReceivedBytes})
	if got.Exchanges != want || got.ReceivedBytes != r.Counts.SentBytes || got.SentBytes != r.Counts.ReceivedBytes {
		t.Errorf("server counts %+v, client %+v, want the same at both ends", got, r.Counts)
	}
	if len(counted.Errors) > 0 {
		t.Errorf("server counts errors %v", counted.Errors)
	}
	service, err := hist.Decode(r.Service)
	if err != nil {
		t.Errorf("the service times: %v", err)
	} else if service.Count() != want {
		t.Errorf("%d service times of %d exchanges", service.Count(), want)
	}
	return *r
}

// verified reads a server until it has counted the exchanges by which a client that is ready
// verified its connections, or Timeout has passed.
func (b *Bench) verified(client contract.Setup) contract.Counts {
	b.t.Helper()
	each := 1
	if client.Transport == "go-quic" {
		each = max(1, client.Load.InFlight) // one on each stream
	}
	return b.Settled(contract.Counts{}, int64(each*client.Load.Connections))
}

// moved reads a server until it has moved as much as is due since an earlier reading, or
// Timeout has passed, and returns its reading and the difference: it may count a reply after
// the client has it.
func (b *Bench) moved(since, due contract.Counts) (now, moved contract.Counts) {
	b.t.Helper()
	for deadline := time.Now().Add(Timeout); ; time.Sleep(5 * time.Millisecond) {
		now = b.Mark(2, false).Counts
		moved = contract.Counts{
			Exchanges: now.Exchanges - since.Exchanges, ReceivedBytes: now.ReceivedBytes - since.ReceivedBytes, SentBytes: now.SentBytes - since.SentBytes,
		}
		if moved.Exchanges >= due.Exchanges && moved.ReceivedBytes >= due.ReceivedBytes && moved.SentBytes >= due.SentBytes || time.Now().After(deadline) {
			return now, moved
		}
	}
}

// Refused starts a worker, gives it a setup and returns the error that it
// answers; another answer fails the test.
func Refused(t testing.TB, transports []load.Transport, setup contract.Setup) *contract.Error {
	t.Helper()
	b := Start(t, transports...)
	b.Send(contract.Message{Setup: &setup})
	return b.Expect("error").Error
}

// Until opens windows of a server until it has counted so many exchanges since
// it listens: how long that takes is the machine's affair.
func (b *Bench) Until(exchanges int64) contract.Counts {
	b.t.Helper()
	for deadline := time.Now().Add(Timeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if c := b.Mark(1, true).Counts; c.Exchanges >= exchanges {
			return c
		}
	}
	b.t.Fatalf("the server has not counted %d exchanges in %v", exchanges, Timeout)
	return contract.Counts{}
}

// Says fails the test unless there is an error with all those words in its text.
func Says(t testing.TB, what string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want one with %q", what, words)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error %q lacks %q", what, err, word)
		}
	}
}

// WithDefaults returns the given options with the defaults of those that are
// declared and not given, as a worker completes them.
func WithDefaults(declared []contract.Option, given map[string]any) map[string]any {
	all := map[string]any{}
	for _, o := range declared {
		all[o.Name] = o.Default
		if n, ok := o.Default.(int); ok {
			all[o.Name] = int64(n)
		}
	}
	for name, value := range given {
		all[name] = value
	}
	return all
}
