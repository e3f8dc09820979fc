package main

import "netdyno/internal/metric"

// echoQuestions put servers and clients of ours for wire echo beside each other, and
// beside themselves without a meter.
func (b *bed) echoQuestions() []question {
	const rate, cpu = metric.ExchangesPerS, metric.OfServer + metric.CPUPerExchange
	echo := func(connections, size string, args ...string) []string {
		return append([]string{"connections=" + connections, "request=" + size, "response=" + size}, args...)
	}
	both := func(transport, size string) subject {
		return b.ours("netdyno "+transport, rate, true, echo("50", size, "transport="+transport)...)
	}
	floors := []string{"go-epoll", "asio", "libevent", "uring"}
	rings := func(name, size string) question {
		return question{
			name: "rings: echo " + name + " × 50, uring against asio", unit: "exchanges/s", hoped: "≥ 1.0", ours: []string{"asio", "uring"},
			base: []subject{both("asio", size)}, others: []subject{both("uring", size)},
		}
	}
	atRate := func(server, connections string) subject {
		return b.ours("netdyno "+server, cpu, true, echo(connections, "100B", "server="+server, "rate=20000")...)
	}
	cost := func(connections, hoped string) question {
		return question{
			name: "cpu of the server at 20,000/s over " + connections + " connections", unit: "µs/exchange", hoped: hoped, ours: floors,
			base:   []subject{atRate("go-net", connections)},
			others: []subject{atRate("go-epoll", connections), atRate("asio", connections), atRate("libevent", connections), atRate("uring", connections)},
		}
	}
	goEpoll := b.ours("netdyno go-epoll", rate, true, echo("50", "100B", "server=go-epoll")...)
	return []question{
		rings("100 B", "100B"),
		rings("16 KiB", "16KiB"),
		cost("50", "≤ 0.8"),
		cost("10000", "≤ 0.7"),
		{
			name: "meter: metered against unmetered, 100 B × 50", unit: "exchanges/s", hoped: "≥ 0.99",
			base: []subject{b.ours("unmetered", rate, false, echo("50", "100B", "server=go-epoll")...)}, others: []subject{goEpoll},
		},
		{
			name: "same: go-epoll against itself, 100 B × 50", unit: "exchanges/s", hoped: "1.0: what this machine calls different when nothing differs",
			base: []subject{goEpoll}, others: []subject{goEpoll},
		},
	}
}
