package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/stat"
	"netdyno/internal/run/rig"
)

const (
	streamMessages = 4
	streamBytes    = 100                  // of each
	streamFirst    = 5 * time.Millisecond // a reply's first one is held, and this
	streamPlanted  = 5 * time.Millisecond // much longer in every other trial
	streamEvery    = 5 * time.Millisecond
	streamBlocks   = 4
)

// streamed holds what clients tell of replies that come in parts to what a server of this
// program's own wrote, and when: gaps between messages, and by how much first events come later
// where the server holds them for longer. The way of a request is in both of those.
func streamed(ctx context.Context, p *pipeline) ([]answer, error) {
	const most = 100.0 // µs
	e, err := newEmitting()
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.server.Close() }() // nothing is left to be answered
	external, err := rig.NewExternal(ctx, []string{e.address}, "")
	if err != nil {
		return nil, err
	}
	apart := p.on(external)
	apart.bench.Hosts = external.Hosts()
	apart.bench.Hosts[0].CPUs = []int{runtime.NumCPU() - 1}
	var answers []answer
	for _, client := range []string{"go-http1", "http1-uring"} {
		var first, gaps []float64 // shown − known, by block in µs
		for range streamBlocks {
			short, err := apart.streamErrors(ctx, e, client, streamFirst)
			if err != nil {
				return answers, err
			}
			long, err := apart.streamErrors(ctx, e, client, streamFirst+streamPlanted)
			if err != nil {
				return answers, err
			}
			first, gaps = append(first, long[0]-short[0]), append(gaps, short[1], long[1])
		}
		for _, of := range []struct {
			name string
			off  []float64
		}{{fmt.Sprintf("first event held %v longer", streamPlanted), first}, {"gap", gaps}} {
			off := stat.Median(of.off)
			answers = append(answers, answer{
				fmt.Sprintf("%s: median %s, less the server's, %d blocks", client, of.name, streamBlocks),
				fmt.Sprintf("%+.1f µs (%+.1f to %+.1f)", off, slices.Min(of.off), slices.Max(of.off)), "within 100 µs", math.Abs(off) <= most,
			})
		}
	}
	return answers, nil
}

// streamErrors returns by how much, in µs, the median times to the first event and between events
// of a trial against the rig's server, e, are off from its own.
func (p *pipeline) streamErrors(ctx context.Context, e *emitting, client string, held time.Duration) ([2]float64, error) {
	e.begin(held)
	_, _, records, err := p.records(ctx, "server=go-http1", "client="+client, "connections=1", "request=0", "stream=down", "events=yes",
		fmt.Sprintf("chunk=%dB", streamBytes), fmt.Sprintf("response=%dB", streamMessages*streamBytes),
		"blocks=1", "warmup=100ms", "window=2s", "opt.client.verify=length")
	if err != nil {
		return [2]float64{}, err
	}
	for _, w := range records[0].Workers {
		if w.Role == contract.Client && w.Result != nil && w.Result.Events != nil {
			first, err := medianUs(w.Result.Events.First)
			gap, failed := medianUs(w.Result.Events.Gaps)
			return e.less(first, gap), errors.Join(err, failed)
		}
	}
	return [2]float64{}, fmt.Errorf("the trial told no events: %+v", records[0].Failure)
}

// emitting is a server of this process's whose replies come in messages on a schedule. It keeps
// when each left.
type emitting struct {
	address string
	server  *http.Server

	mu          sync.Mutex
	held        time.Duration // the first message, from its request on
	first, gaps []float64     // µs
}

func newEmitting() (*emitting, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &emitting{address: l.Addr().String()}
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: time.Minute}
	go func() { _ = e.server.Serve(l) }() // until it is closed
	return e, nil
}

// begin forgets what was kept.
func (e *emitting) begin(held time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held, e.first, e.gaps = held, nil, nil
}

// less returns by how much medians differ from its own.
func (e *emitting) less(first, gap float64) [2]float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return [2]float64{first - stat.Median(e.first), gap - stat.Median(e.gaps)}
}

func (e *emitting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	_, _ = io.Copy(io.Discard, r.Body)
	e.mu.Lock()
	held := e.held
	e.mu.Unlock()
	flush, message, last := http.NewResponseController(w).Flush, strings.Repeat("x", streamBytes), came
	for k := range streamMessages {
		time.Sleep(time.Until(came.Add(held + time.Duration(k)*streamEvery)))
		at := time.Now()
		if _, err := io.WriteString(w, message); err != nil || flush() != nil {
			return // the client is gone
		}
		us := float64(at.Sub(last)) / 1e3
		e.mu.Lock()
		if last = at; k == 0 {
			e.first = append(e.first, us)
		} else {
			e.gaps = append(e.gaps, us)
		}
		e.mu.Unlock()
	}
}
