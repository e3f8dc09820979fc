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
	streamMessages = 10
	streamBytes    = 100 // of each
	streamFirst    = 5 * time.Millisecond
	streamEvery    = 10 * time.Millisecond
	streamBlocks   = 4
)

// streamed holds what clients tell of replies that come in parts to what a server of this
// program's own wrote: gaps to the instants at which it did, first events to a plain client
// that asks it beside them, as those have the way of the request in them.
func streamed(ctx context.Context, p *pipeline) ([]answer, error) {
	const most = 100.0 // µs
	e, err := newEmitting()
	if err != nil {
		return nil, err
	}
	defer e.server.Close()
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
			e.begin()
			shown, err := apart.streamMedians(ctx, client)
			if err != nil {
				return answers, err
			}
			gap := e.gap()
			known, err := e.ask(ctx)
			if err != nil {
				return answers, err
			}
			first, gaps = append(first, shown[0]-known), append(gaps, shown[1]-gap)
		}
		for _, of := range []struct {
			name string
			off  []float64
		}{{"first event less a plain client's", first}, {"gap less the server's own", gaps}} {
			off := stat.Median(of.off)
			answers = append(answers, answer{
				fmt.Sprintf("%s, median %s, median of %d blocks", client, of.name, streamBlocks),
				fmt.Sprintf("%+.1f µs (%+.1f to %+.1f)", off, slices.Min(of.off), slices.Max(of.off)), "within 100 µs", math.Abs(off) <= most,
			})
		}
	}
	return answers, nil
}

// streamMedians are the median times, in µs, to the first event and between events of a
// trial against the rig's server.
func (p *pipeline) streamMedians(ctx context.Context, client string) ([2]float64, error) {
	_, _, records, err := p.records(ctx, "server=go-http1", "client="+client, "connections=1", "request=0", "stream=down", "events=yes",
		fmt.Sprintf("chunk=%dB", streamBytes), fmt.Sprintf("response=%dB", streamMessages*streamBytes),
		"blocks=1", "warmup=100ms", "window=3s", "opt.client.verify=length")
	if err != nil {
		return [2]float64{}, err
	}
	for _, w := range records[0].Workers {
		if w.Role == contract.Client && w.Result != nil && w.Result.Events != nil {
			first, err := medianUs(w.Result.Events.First)
			gap, failed := medianUs(w.Result.Events.Gaps)
			return [2]float64{first, gap}, errors.Join(err, failed)
		}
	}
	return [2]float64{}, fmt.Errorf("the trial told no events: %+v", records[0].Failure)
}

// emitting is a server of this process's whose replies come in messages on a schedule. It keeps
// the gaps between those that left.
type emitting struct {
	address string
	server  *http.Server

	mu   sync.Mutex
	gaps []float64 // µs
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
func (e *emitting) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gaps = nil
}

// gap is the median of those that were kept, in µs.
func (e *emitting) gap() float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return stat.Median(e.gaps)
}

// ask returns the median time, in µs, from a request to the first message of its reply, as
// net/http has it.
func (e *emitting) ask(ctx context.Context) (float64, error) {
	const replies = 30
	var transport http.Transport
	defer transport.CloseIdleConnections()
	var first []float64
	message := make([]byte, streamBytes)
	for range replies {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.address, nil)
		if err != nil {
			return 0, err
		}
		sent := time.Now()
		reply, err := transport.RoundTrip(request)
		if err != nil {
			return 0, err
		}
		_, err = io.ReadFull(reply.Body, message)
		first = append(first, float64(time.Since(sent))/1e3)
		_, failed := io.Copy(io.Discard, reply.Body)
		if err := errors.Join(err, failed, reply.Body.Close()); err != nil {
			return 0, err
		}
	}
	return stat.Median(first), nil
}

func (e *emitting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	_, _ = io.Copy(io.Discard, r.Body)
	flush, message, last := http.NewResponseController(w).Flush, strings.Repeat("x", streamBytes), came
	for k := range streamMessages {
		time.Sleep(time.Until(came.Add(streamFirst + time.Duration(k)*streamEvery)))
		at := time.Now()
		if _, err := io.WriteString(w, message); err != nil || flush() != nil {
			return // the client is gone
		}
		if k > 0 {
			e.mu.Lock()
			e.gaps = append(e.gaps, float64(at.Sub(last))/1e3)
			e.mu.Unlock()
		}
		last = at
	}
}
