package foreign_test

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/work/worker/workertest"
)

// leaving is a server of HTTP/2 that ends connections in mid-run, as servers do after
// so many requests or so long a time.
type leaving struct {
	counting
	accepted atomic.Int64
	policy   goodbye
}

// goodbye says when a connection ends and how. The zero value never ends one.
type goodbye struct {
	name      string
	after     int  // requests that are answered
	unseen    int  // further requests that are read and never looked at
	early     int  // of the first connections, those that end at once
	twice     bool // the first GOAWAY names no stream, as a server does that means to drain
	code      http2.ErrCode
	dropped   bool // the last request looked at has no reply
	lingering bool // the client closes
}

// unlimited is the last stream of a GOAWAY that only announces the end (RFC 9113, section 6.8).
const unlimited = 1<<31 - 1

func (s *leaving) serve(conn net.Conn) {
	if _, err := io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface))); err != nil {
		return
	}
	p := workertest.NewH2Peer(conn)
	if p.WriteSettings() != nil {
		return
	}
	if s.accepted.Add(1) <= int64(s.policy.early) {
		_ = p.WriteGoAway(0, s.policy.code, nil)
		s.linger(p)
		return
	}
	for n := 1; ; n++ {
		stream, more := p.Request()
		if !more {
			return
		}
		last := n == s.policy.after
		s.taken.Add(1)
		if last && s.policy.twice {
			_ = p.WriteGoAway(unlimited, http2.ErrCodeNo, nil)
		}
		if last {
			_ = p.SetReadDeadline(time.Now().Add(50 * time.Millisecond)) // the load may have fewer left
			for n, more := 0, true; more && n < s.policy.unseen; n++ {
				_, more = p.Request()
			}
			_ = p.SetReadDeadline(time.Time{})
			_ = p.WriteGoAway(stream, s.policy.code, []byte("see you"))
		}
		if last && s.policy.dropped {
			return
		}
		p.Reply(stream, 5, 5)
		if last {
			s.linger(p)
			return
		}
	}
}

// linger reads until the client has closed; or says after a moment that it will send no
// more, and reads on: a close with bytes unread would take back what it has replied.
func (s *leaving) linger(p *workertest.H2Peer) {
	if !s.policy.lingering {
		_ = p.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, _ = io.Copy(io.Discard, p.Conn)
		if half, ok := p.Conn.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
		_ = p.SetReadDeadline(time.Now().Add(5 * time.Second))
	}
	_, _ = io.Copy(io.Discard, p.Conn)
}

// A client of HTTP/2 goes on with another connection when a server leaves one (RFC
// 9113, section 6.8), and what the server did not look at is sent again.
func TestServersThatLeaveHTTP2(t *testing.T) {
	for _, client := range []struct {
		name string
		args []string
	}{
		{"go-http2", nil}, {"go-http2", []string{"opt.client.pool=none"}}, {"h2-uring", nil}, {"h2-asio", nil},
	} {
		name := strings.Join(append([]string{client.name}, client.args...), " ")
		t.Run(name, func(t *testing.T) {
			need(t, nil, "address", client.name)
			once := func(t *testing.T, policy goodbye, more ...string) (*leaving, record.Record) {
				t.Helper()
				s := &leaving{policy: policy}
				s.address = workertest.Serve(t, s.serve)
				return s, trial(t, append(append([]string{"client=" + client.name, "server=address", "opt.server.wire=h2c", "opt.server.address=" + s.address,
					"opt.client.verify=status", "response=5B", "amount=50", "request=0B"}, client.args...), more...)...)
			}
			for _, streams := range []string{"inflight=1", "inflight=4"} {
				steady, r := once(t, goodbye{}, streams)
				steady.agrees(t, r, steady.taken.Load()-100, false)
				verified := steady.taken.Load() - 100
				for _, c := range []goodbye{
					{name: "after 17", after: 17},
					{name: "the client closes", after: 17, lingering: true},
					{name: "announced before", after: 17, twice: true},
					{name: "with an error", after: 17, code: http2.ErrCodeEnhanceYourCalm},
					{name: "three in flight", after: 17, unseen: 3},
					{name: "three in flight, with an error", after: 17, unseen: 3, code: http2.ErrCodeEnhanceYourCalm},
					{name: "at once, twice", early: 2, after: 40},
				} {
					if c.unseen > 0 && streams == "inflight=1" {
						continue
					}
					t.Run(streams+", "+c.name, func(t *testing.T) {
						t.Parallel()
						s, r := once(t, c, streams)
						s.agrees(t, r, verified, true)
					})
				}
			}
			t.Run("drops what it has looked at", func(t *testing.T) {
				_, r := once(t, goodbye{after: 17, dropped: true}, "max_errors=50%")
				failures(t, r, contract.Peer, "GOAWAY")
			})
		})
	}
}

// failures demands a trial that went on after exchanges that failed for that reason
// alone.
func failures(t *testing.T, r record.Record, kind contract.ErrorKind, says string) {
	t.Helper()
	if r.Outcome != record.OK {
		t.Fatalf("the trial is %s: %+v", r.Outcome, r.Failure)
	}
	for _, w := range r.Workers {
		if w.Role != contract.Client || w.Result == nil {
			continue
		}
		counts := w.Result.Counts
		if failed := counts.Errors[kind]; failed == 0 || counts.Exchanges+failed != 100 {
			t.Errorf("%d exchanges and %v errors; want some errors, and both to be all 100", counts.Exchanges, counts.Errors)
		}
		for _, reason := range w.Result.Reasons {
			if reason.Kind != kind || !strings.Contains(reason.Text, says) {
				t.Errorf("reason %+v; want one of kind %s that says %q", reason, kind, says)
			}
		}
	}
}
