package target

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	_ "google.golang.org/grpc/encoding/gzip" // a reply may be packed by it, as for other clients
	"google.golang.org/grpc/stats"

	"netdyno/internal/quantity"
)

// timeoutHeader carries the deadline of a call, as the gRPC protocol has it.
const timeoutHeader = "grpc-timeout"

// errLate is the cause of a call's end at the deadline that the user gave.
var errLate = errors.New("the deadline of the call has passed")

// timeoutUnits are those of timeoutHeader. Source: gRPC over HTTP2 (PROTOCOL-HTTP2.md),
// TimeoutUnit.
var timeoutUnits = map[byte]time.Duration{
	'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond,
}

// isTimeout tells whether a header of the user's is timeoutHeader.
func isTimeout(header string) bool {
	name, _, _ := strings.Cut(header, ":")
	return strings.EqualFold(strings.TrimSpace(name), timeoutHeader)
}

// callDeadline is the deadline that the user's metadata gives each call; 0 for none.
func (t Target) callDeadline() (limit time.Duration, err error) {
	const mostDigits = 8
	for _, h := range t.Headers {
		if !isTimeout(h) {
			continue
		}
		_, value, _ := strings.Cut(h, ":")
		value = strings.TrimSpace(value)
		bad := fmt.Errorf("header %q: expected at most %d digits and a unit, one of H M S m u n: %s: 200m is 200 ms", quantity.Clip(h, 80), mostDigits, timeoutHeader)
		if value == "" {
			return 0, bad
		}
		digits, unit := value[:len(value)-1], timeoutUnits[value[len(value)-1]]
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || unit == 0 || n == 0 || len(digits) > mostDigits {
			return 0, bad
		}
		limit = time.Duration(n) * unit
	}
	return limit, nil
}

// packing learns whether a server packs its replies, and counts the requests. The library
// calls it on the goroutine that makes the call.
type packing struct {
	packed bool
	asked  *atomic.Int64
}

// TagRPC implements stats.Handler.
func (*packing) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (p *packing) HandleRPC(_ context.Context, s stats.RPCStats) {
	switch s := s.(type) {
	case *stats.InPayload:
		p.packed = s.CompressedLength != s.Length
	case *stats.OutHeader:
		p.asked.Add(1)
	}
}

// TagConn implements stats.Handler.
func (*packing) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (*packing) HandleConn(context.Context, stats.ConnStats) {}
