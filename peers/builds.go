package main

import (
	"context"
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/run/bench"
)

// renamed are the transports that an earlier build calls otherwise.
var renamed = map[string]string{"baidu-std": "brpc"}

// workloads are what two builds of our workers are compared on: small exchanges
// over each transport, and bulk over those that stream.
var workloads = []struct {
	name       string
	transports []string
	args       []string
}{
	{"small", []string{"go-net", "go-epoll", "netpoll", "asio", "libevent", "uring", "go-http1", "go-http2", "fasthttp", "gin",
		"go-grpc", "go-connect", "go-connect-grpc", "grpcpp", "baidu-std", "http1-uring", "http1-asio", "h2-uring", "grpc-nghttp2"},
		[]string{"request=100B", "response=100B", "connections=50"}},
	{"bulk", []string{"go-net", "go-epoll", "asio", "libevent", "uring", "go-grpc", "grpcpp"},
		[]string{"stream=up", "request=1MiB", "response=1B", "connections=4", "inflight=2"}},
}

// buildQuestions asks whether the workers in bin/ are as fast as those of an
// earlier build in the directory before. Both are led and metered by this build,
// so that the workers alone differ.
func (b *bed) buildQuestions(ctx context.Context, before string) []question {
	then := *b
	then.catalog = bench.Discover(ctx, []string{before})
	var asked []question
	for _, w := range workloads {
		for _, transport := range w.transports {
			old := transport
			if name := renamed[old]; name != "" && len(then.unoffered([]string{old})) > 0 {
				old = name
			}
			if len(b.unoffered([]string{transport})) > 0 || len(then.unoffered([]string{old})) > 0 {
				continue
			}
			asked = append(asked, question{
				name:   fmt.Sprintf("builds: %s %s, this build against %s", transport, w.name, before),
				unit:   "exchanges/s",
				hoped:  "rate ≥ 1.0, cost ≤ 1.0, within the interval",
				base:   []subject{then.rated(old+" before", ends(old, w.args))},
				others: []subject{b.rated(transport, ends(transport, w.args))},
				cost:   "CPU µs/exchange, both ends",
			})
		}
	}
	return asked
}

// ends names both ends of a trial: gin is a server alone.
func ends(transport string, args []string) []string {
	if transport == "gin" {
		return append(slices.Clone(args), "server=gin", "client=go-http1")
	}
	return append(slices.Clone(args), "transport="+transport)
}

// rated measures a trial's rate, and what an exchange costs both ends in CPU.
func (b *bed) rated(name string, args []string) subject {
	return subject{name, func(ctx context.Context) (figure, error) {
		r, err := b.trial(ctx, true, args...)
		if err != nil {
			return figure{}, err
		}
		var f figure
		if f.value, err = metricOf(r, metric.ExchangesPerS); err != nil {
			return f, err
		}
		for _, end := range []string{"server", "client"} {
			cost, err := metricOf(r, end+"."+metric.CPUPerExchange)
			if err != nil {
				return f, err
			}
			f.cost += cost
		}
		return f, nil
	}}
}
