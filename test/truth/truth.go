// Package truth holds the instrument to answers that are known beforehand. Real
// clients drive real servers of the workers in a directory through a relay that
// adds delays and stalls of its own; what the records say of service and
// response times is compared with what was injected.
package truth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// Error is one figure beside its truth.
type Error struct {
	Case     string        // what was injected, into which transport, in which loop
	Figure   string        // "service p99"
	Asked    time.Duration // of the relay, or what follows from that
	Truth    time.Duration // what it injected by its own clock; of a stall the same as Asked
	Measured time.Duration
	Path     time.Duration // median of the same path without injection, not subtracted
}

// Share returns how far the figure is from its truth, as a share of that;
// positive when it is too long.
func (e Error) Share() float64 { return float64(e.Measured)/float64(e.Truth) - 1 }

func (e Error) String() string {
	us := func(d time.Duration) time.Duration { return d.Round(time.Microsecond) }
	return fmt.Sprintf("%s, %s: %v for %v (%+.2f %%; asked for %v, the path alone %v)", e.Case, e.Figure,
		us(e.Measured), us(e.Truth), 100*e.Share(), us(e.Asked), us(e.Path))
}

// Bound is the error of a percentile that the instrument promises at most.
const Bound = 0.02

// Transports are those of the cases: goroutines, C++ and its own loop, and two
// protocols with frames of their own.
var Transports = []string{"go-net", "asio", "go-http1", "go-grpc"}

// Measure carries out the cases of some transports with the programs in directory
// bin and returns every figure. Three at a time take a quarter of a minute: they wait
// nearly all of it, and a case whose relay another made late is carried out again. The
// error is of the cases that could not be carried out; ErrBusy where the machine was
// never quiet enough for some and nothing else is wrong.
func Measure(ctx context.Context, bin string, transports ...string) ([]Error, error) {
	s, err := newStage(ctx, bin)
	if err != nil {
		return nil, err
	}
	cases := []func() ([]Error, error){func() ([]Error, error) { return s.stall(ctx) }} // the longest first
	for _, transport := range transports {
		for _, l := range loops {
			cases = append(cases, func() ([]Error, error) { return s.delays(ctx, transport, l) })
		}
	}
	if err := settled(ctx); err != nil {
		return nil, err
	}
	figures, failures := make([][]Error, len(cases)), make([]error, len(cases))
	var group errgroup.Group
	group.SetLimit(3)
	for i, carryOut := range cases {
		group.Go(func() error {
			figures[i], failures[i] = carryOut()
			return nil
		})
	}
	_ = group.Wait() // the failures are kept one by one
	all := slices.Concat(figures...)
	busy := func(err error) bool { return errors.Is(err, ErrBusy) }
	if failed := errors.Join(slices.DeleteFunc(slices.Clone(failures), busy)...); failed != nil {
		return all, failed
	}
	return all, errors.Join(failures...)
}

// delay is what the cases of delay inject. The two values make the percentiles
// differ; a path of 0.2 ms, and a shared machine's pauses of some milliseconds,
// are small beside both.
var delay = Injection{Common: 250 * time.Millisecond, Rare: 750 * time.Millisecond, RareEvery: 20, Jitter: 0.003}

// The loads of the cases of delay: enough exchanges for a p99, and in the open
// loop a period of each connection that the longest delay fits into.
var (
	closedLoop = []string{"connections=120", "window=4s"}
	openLoop   = []string{"connections=400", "rate=400", "window=4s"}
	bareLoop   = []string{"connections=8", "rate=400", "window=1s"}
)

var quantiles = []struct {
	name  string
	share float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}

// loop is a load, and the times that are told of it.
type loop struct {
	name  string
	load  []string
	sorts []string
}

var loops = []loop{
	{"closed loop", closedLoop, []string{record.Service}},
	{"open loop", openLoop, []string{record.Service, record.Response}},
}

// delays measures one transport in one loop.
func (s *stage) delays(ctx context.Context, transport string, l loop) ([]Error, error) {
	name := fmt.Sprintf("%s, %v and every %dth %v, %s", transport, delay.Common, delay.RareEvery, delay.Rare, l.name)
	o, err := s.undisturbed(ctx, append([]string{"transport=" + transport}, l.load...), delay)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", transport, l.name, err)
	}
	var all []Error
	for _, sort := range l.sorts {
		for _, q := range quantiles {
			measured, err := percentileOf(o.window, sort, q.share)
			if err != nil {
				return nil, err
			}
			truth, err := tail(o.held, q.share)
			if err != nil {
				return nil, err
			}
			all = append(all, Error{name, sort + " " + q.name, delay.Percentile(q.share), truth, measured, o.path})
		}
	}
	return all, nil
}

func percentileOf(w *record.Window, sort string, q float64) (time.Duration, error) {
	h, has := w.Histogram(sort)
	if !has {
		return 0, fmt.Errorf("the record has no %s times", sort)
	}
	return tail(h, q)
}

func tail(h *hist.Histogram, q float64) (time.Duration, error) {
	ns, enough := h.Percentile(q)
	if !enough {
		return 0, fmt.Errorf("%d times are too few for the percentile %v", h.Count(), 100*q)
	}
	return time.Duration(ns), nil
}

// The stall with which every load generator is tried here (specification §8). It delays
// 29 % of the exchanges, so that no compared percentile (p50, p90, p99) stands where
// undelayed and delayed exchanges meet: there the path's own time would decide the
// percentile.
var stalling = Queue{
	Slots: 100, Rate: 400,
	// Services of 50 ms, beside which a path of 0.3 ms is small.
	Injection: Injection{Common: 50 * time.Millisecond, Stall: 2 * time.Second},
}

const (
	stallWindow = 8500 * time.Millisecond
	warmup      = 300 * time.Millisecond
)

// stall measures one stall in an open loop: the response times must show every
// exchange that fell due meanwhile.
func (s *stage) stall(ctx context.Context) ([]Error, error) {
	injected := stalling.Injection
	// The exchanges of the warm-up and a second of the window, and one to verify
	// each connection.
	injected.StallAt = int64(stalling.Slots) + int64(stalling.Rate*(warmup+time.Second).Seconds())
	o, err := s.undisturbed(ctx, []string{
		"transport=go-net", fmt.Sprintf("connections=%d", stalling.Slots), fmt.Sprintf("rate=%v", stalling.Rate), "window=" + stallWindow.String(),
	}, injected)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("go-net, stalled once for %v, open loop", stalling.Stall)
	truth := stalling.Responses(stallWindow)
	all := []Error{{name, record.Response + " mean", mean(truth), mean(truth), 0, o.path}}
	if h, has := o.window.Histogram(record.Response); has {
		all[0].Measured = time.Duration(h.MeanNs())
	}
	for _, q := range quantiles {
		measured, err := percentileOf(o.window, record.Response, q.share)
		if err != nil {
			return nil, err
		}
		want := percentile(truth, q.share)
		all = append(all, Error{name, record.Response + " " + q.name, want, want, measured, o.path})
	}
	return all, nil
}

func mean(all []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(len(all))
}
