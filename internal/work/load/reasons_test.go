package load

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"

	"netdyno/internal/contract"
)

func TestReasonVectors(t *testing.T) {
	var vectors []struct {
		Name              string
		Failures, Reasons []contract.Reason
	}
	if err := readVectors("reasons.json", &vectors); err != nil || len(vectors) < 6 {
		t.Fatalf("%d vectors, %v; expected at least 6", len(vectors), err)
	}
	for _, v := range vectors {
		l := newLoad(t, contract.Load{Connections: 1})
		l.Start()
		l.Open(Now())
		s, total := &l.Slots(0)[0], int64(0)
		for _, f := range v.Failures {
			for range f.Count {
				_, _ = s.Next(Now())
				s.Fail(Failure(f.Kind, errors.New(f.Text)))
				total++
			}
		}
		r := resultOf(t, l, Now())
		if !slices.Equal(r.Reasons, v.Reasons) {
			t.Errorf("%s: %+v, want %+v", v.Name, r.Reasons, v.Reasons)
		}
		for _, n := range r.Counts.Errors {
			total -= n
		}
		if total != 0 {
			t.Errorf("%s: the counts by kind are off by %d", v.Name, total)
		}
	}
}

// What fails before the window opens is none of its reasons.
func TestReasonsAreTheWindows(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 1})
	l.Start()
	s := &l.Slots(0)[0]
	_, _ = s.Next(Now())
	s.Fail(io.EOF)
	l.Open(Now())
	if r := resultOf(t, l, Now()); len(r.Reasons) > 0 || len(r.Counts.Errors) > 0 {
		t.Errorf("reasons %+v, errors %v", r.Reasons, r.Counts.Errors)
	}
}

// Equal causes have equal texts: ports and addresses differ from one connection to
// the next.
func TestReasonsHaveNoAddresses(t *testing.T) {
	read := func(err error) error {
		return &net.OpError{Op: "read", Net: "tcp", Addr: &net.TCPAddr{Port: 4711}, Err: os.NewSyscallError("read", err)}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{read(syscall.ECONNRESET), "connection reset"},
		{fmt.Errorf("read the reply: %w after 3 of 5 bytes", io.ErrUnexpectedEOF), "connection closed within the reply"},
		{read(os.ErrDeadlineExceeded), "timed out"},
		{PassingError{read(syscall.ECONNREFUSED)}, "connection refused"},
		{Failure(contract.Invalid, errors.New("the reply has 11 bytes, expected 9")), "the reply has 11 bytes, expected 9"},
		{&ReasonError{Failure(contract.Invalid, errors.New("the reply has status 429 (slow down, caller 17)")), "429 Too Many Requests"}, "429 Too Many Requests"},
	} {
		if got := ReasonOf(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
