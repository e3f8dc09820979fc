package load

import (
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"netdyno/internal/contract"
	"netdyno/internal/printable"
)

// mostKept bounds the different reasons that a client tells apart, whatever a server
// does; contract.MostReasons of them are reported.
const mostKept = 64

// reasons counts why exchanges failed. Equal causes have equal texts. Any goroutine
// may call add; a failure is rare enough for a lock.
type reasons struct {
	mu     sync.Mutex
	counts map[contract.Reason]int64 // by kind and text
	others int64
}

func (r *reasons) addReason(kind contract.ErrorKind, text string) {
	key := contract.Reason{Kind: kind, Text: clipped(text)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.counts[key]; !known && len(r.counts) >= mostKept {
		r.others++
		return
	}
	if r.counts == nil {
		r.counts = map[contract.Reason]int64{}
	}
	r.counts[key]++
}

// reasons are those of a window.
func (p phase) reasons() []contract.Reason { return p[0].times.reasons.most() }

// most returns the most frequent reasons, falling, and the sum of the others at the
// end.
func (r *reasons) most() []contract.Reason {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]contract.Reason, 0, len(r.counts)+1)
	for reason, n := range r.counts {
		reason.Count = n
		all = append(all, reason)
	}
	slices.SortFunc(all, func(a, b contract.Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
	})
	rest := r.others
	for ; len(all) > contract.MostReasons; all = all[:len(all)-1] {
		rest += all[len(all)-1].Count
	}
	if rest > 0 {
		all = append(all, contract.Reason{Text: contract.OtherReasons, Count: rest})
	}
	return all
}

// clipped makes a text printable and short.
func clipped(text string) string {
	text = printable.Text(text)
	if len(text) <= contract.MostReasonText {
		return text
	}
	return strings.ToValidUTF8(text[:contract.MostReasonText], "")
}

// ReasonError is an error of an exchange whose reason is not its whole text, because that
// has parts of one exchange alone, or advice.
type ReasonError struct {
	Err  error
	Text string // "429 Too Many Requests"
}

// Error implements error.
func (r *ReasonError) Error() string { return r.Err.Error() }

// Unwrap returns the error, whose kind it has.
func (r *ReasonError) Unwrap() error { return r.Err }

// ReasonOf returns why an exchange failed, in words that are the same for the same
// cause: addresses and ports are left out.
func ReasonOf(err error) string {
	var told *ReasonError
	if errors.As(err, &told) {
		return told.Text
	}
	for _, known := range []struct {
		is   error
		text string
	}{
		{syscall.ECONNRESET, "connection reset"}, {syscall.EPIPE, "connection reset"}, {syscall.ECONNREFUSED, "connection refused"},
		{syscall.EHOSTUNREACH, "no route to the host"}, {syscall.ENETUNREACH, "no route to the network"}, {syscall.ETIMEDOUT, "timed out"},
		{os.ErrDeadlineExceeded, "timed out"}, {io.ErrUnexpectedEOF, "connection closed within the reply"},
		{io.EOF, "connection closed"}, {net.ErrClosed, "connection closed"},
	} {
		if errors.Is(err, known.is) {
			return known.text
		}
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return "timed out"
	}
	return TextOf(err)
}
