package workertest

import (
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
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
// both ends counted exactly that amount. The server must be one that counts an exchange
// before it answers.
func Amount(t testing.TB, server, client *Bench, setup contract.Setup) {
	t.Helper()
	opened := server.Mark(1, true).Counts
	client.Mark(1, true)
	client.Start()
	r := client.Expect("result").Result
	counted := server.Mark(2, false).Counts
	x, want := setup.Exchange, setup.Load.Amount*int64(setup.Load.Connections)
	if r.Counts.Exchanges != want || len(r.Counts.Errors) > 0 || r.Unfinished != 0 {
		t.Errorf("client counts %+v, %d unfinished; want %d exchanges", r.Counts, r.Unfinished, want)
	}
	if x.Codec == "" && (r.Counts.SentBytes != want*x.UpBytes || r.Counts.ReceivedBytes != want*x.DownBytes) {
		t.Errorf("client sent %d and received %d bytes in %d exchanges", r.Counts.SentBytes, r.Counts.ReceivedBytes, want)
	}
	got := contract.Counts{
		Exchanges:     counted.Exchanges - opened.Exchanges,
		ReceivedBytes: counted.ReceivedBytes - opened.ReceivedBytes,
		SentBytes:     counted.SentBytes - opened.SentBytes,
	}
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
