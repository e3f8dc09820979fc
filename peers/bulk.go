package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
)

// The size of one write and one read, which is the default of iperf3 and of
// iperf2.
const bulkBuffer = 128 << 10

// bulkQuestions put what spares copies at one end of a stream beside plain writes. The
// client sends.
func (b *bed) bulkQuestions() []question {
	copies := func(streams int) question {
		q := question{
			name: fmt.Sprintf("copies: bulk %d streams by threads, against plain writes and reads", streams), unit: "bytes/s",
			hoped: "which wins where", cost: "CPU s/GB, both ends", ours: []string{"go-net", "threads"},
			base: []subject{b.stream("threads", streams)},
		}
		for _, option := range []string{"client.send=sendfile", "client.send=splice", "client.send=zerocopy",
			"server.receive=truncate", "server.receive=splice", "server.read_buffer=1MiB", "server.lowat=256KiB"} {
			q.others = append(q.others, b.stream("threads", streams, "opt."+option))
		}
		q.others = append(q.others, b.stream("go-net", streams, "opt.client.send=sendfile"))
		return q
	}
	return []question{copies(1), copies(4)}
}

// stream is a subject that runs a bulk trial of ours, one thread at each end.
func (b *bed) stream(transport string, streams int, options ...string) subject {
	name := strings.Join(append([]string{"netdyno", transport}, options...), " ")
	return subject{name, func(ctx context.Context) (figure, error) {
		r, err := b.trial(ctx, true, append(bulkLevels(transport, streams), options...)...)
		if err != nil {
			return figure{}, err
		}
		goodput, err := metricOf(r, metric.Goodput)
		if err != nil {
			return figure{}, err
		}
		sent, err := metricOf(r, metric.OfClient+metric.CPUPerGB)
		if err != nil {
			return figure{}, err
		}
		received, err := metricOf(r, metric.OfServer+metric.CPUPerGB)
		return figure{value: goodput, cost: sent + received}, err
	}}
}

// bulkLevels are those of a trial that sends as those programs do by default.
func bulkLevels(transport string, streams int) []string {
	return []string{
		"transport=" + transport, "stream=up", "request=" + strconv.Itoa(bulkBytes) + "B", "response=1B",
		fmt.Sprintf("chunk=%dB", bulkBuffer), "inflight=4", "connections=" + strconv.Itoa(streams),
	}
}

// bulkBytes are in one exchange of such a trial.
const bulkBytes = 4 << 20

// Of a full Ethernet frame of 1514 bytes, as tc counts it, TCP with timestamps
// carries 1448.
const payloadShare = 1448.0 / 1514

// linkQuestions hold the rig of namespaces to its word: a rated cable carries
// that rate, and one without a rate as much as the loopback.
func (b *bed) linkQuestions() []question {
	bulk := []string{"transport=go-net", "stream=down", "request=1B", "response=256KiB", "chunk=64KiB", "connections=4"}
	var all []question
	for _, rate := range []struct {
		text string
		bits float64
	}{{"100Mbit", 1e8}, {"1Gbit", 1e9}} {
		all = append(all, question{
			name: "link of " + rate.text, unit: "bytes/s", hoped: "0.97 to 1.03", ours: []string{"go-net"},
			base:   []subject{{"the rate less headers", func(context.Context) (figure, error) { return figure{value: rate.bits / 8 * payloadShare}, nil }}},
			others: []subject{b.across("netdyno go-net", append(bulk, "link.rate="+rate.text))},
		})
	}
	return append(all, question{
		name: "link unshaped, against loopback", unit: "bytes/s", hoped: "≥ 0.8", ours: []string{"go-net"},
		base: []subject{{"loopback", func(ctx context.Context) (figure, error) {
			return b.bulkOn(ctx, rig.Loopback{}, bulk)
		}}},
		others: []subject{b.across("two namespaces", bulk)},
	})
}

// across is a subject that runs a bulk trial between two namespaces.
func (b *bed) across(name string, args []string) subject {
	return subject{name, func(ctx context.Context) (f figure, err error) {
		on, err := namespaces.Build(namespaces.Options{Hosts: 2})
		if err != nil {
			return f, err
		}
		if f, err = b.bulkOn(ctx, on, args); err != nil {
			return f, err
		}
		return f, on.Close()
	}}
}

func (b *bed) bulkOn(ctx context.Context, on rig.Rig, args []string) (figure, error) {
	r, err := b.conduct(ctx, on, true, false, slices.Clone(args))
	if err != nil {
		return figure{}, err
	}
	goodput, err := metricOf(r, metric.Goodput)
	return figure{value: goodput}, err
}

// overhead measures what a trial takes besides its warm-up and its window.
func (b *bed) overhead(ctx context.Context) error {
	fmt.Println("\noverhead: of a trial beside warm-up and window (hoped: netns ≤ 500 ms)")
	on, err := namespaces.Build(namespaces.Options{Hosts: 3})
	if err != nil {
		return err
	}
	for _, at := range []rig.Rig{rig.Loopback{}, on} {
		var took []time.Duration
		for range 9 {
			r, err := b.conduct(ctx, at, true, false, []string{"transport=go-net", "connections=50", "clients=2", "window=200ms", "warmup=100ms"})
			if err != nil {
				return err
			}
			took = append(took, time.Duration(r.Timeline.EndNs)-300*time.Millisecond)
		}
		slices.Sort(took)
		fmt.Printf("  %-10s median %v (%v to %v)\n", at.Name(), took[4].Round(time.Millisecond), took[0].Round(time.Millisecond), took[8].Round(time.Millisecond))
	}
	return on.Close()
}
