package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
)

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
