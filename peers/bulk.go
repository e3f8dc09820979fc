package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"netdyno/internal/metric"
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
