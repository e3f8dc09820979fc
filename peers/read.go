package main

import "netdyno/internal/metric"

// readQuestions ask what reading a body into a pooled buffer saves.
func (b *bed) readQuestions() []question {
	of := func(name, metric, read string) subject {
		return b.ours(name, metric, true, "transport=go-http1", "request=0B", "response=4MiB", "connections=4", "opt.read="+read)
	}
	ask := func(what, unit, hoped, metric string) question {
		return question{
			name: "read: pooled against ReadAll, 4 MiB, " + what, unit: unit, hoped: hoped,
			base: []subject{of("read=all", metric, "all")}, others: []subject{of("read=pooled", metric, "pooled")},
			ours: []string{"go-http1"},
		}
	}
	return []question{
		ask("rate", "blocks/s", "published: 4.0", metric.ExchangesPerS),
		ask("CPU of the client", "s/GB", "below 1", metric.OfClient+metric.CPUPerGB),
		ask("allocated at the client", "B/block", "far below 1", metric.OfClient+metric.AllocPerExchange),
	}
}
