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

// streamed holds what clients tell of replies that come in parts to the instants at which a
// server of this program's own wrote them.
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
			known := e.medians()
			first, gaps = append(first, shown[0]-known[0]), append(gaps, shown[1]-known[1])
		}
		for _, of := range []struct {
			name string
			off  []float64
		}{{"first event", first}, {"gap", gaps}} {
			off := stat.Median(of.off)
			answers = append(answers, answer{
				fmt.Sprintf("%s, median %s less the server's own, median of %d blocks", client, of.name, streamBlocks),
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
// when each left.
type emitting struct {
	address string
	server  *http.Server

	mu          sync.Mutex
	first, gaps []float64 // µs
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
	e.first, e.gaps = nil, nil
}

// medians are those of the times to a reply's first message, and of those between two.
func (e *emitting) medians() [2]float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return [2]float64{stat.Median(e.first), stat.Median(e.gaps)}
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
