package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
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
		goodput, err := metricOf(r, "goodput_bytes_per_s")
		if err != nil {
			return figure{}, err
		}
		sent, err := metricOf(r, "client.cpu_s_per_gb")
		if err != nil {
			return figure{}, err
		}
		received, err := metricOf(r, "server.cpu_s_per_gb")
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

// filler is a program that fills a link, and how its client's report is read.
type filler struct {
	name, program string
	format        []string // arguments for the report
	sum           func(report []byte, streams int) (bytes, bitsPerS float64, err error)
}

var (
	iperf3 = filler{"iperf3", "iperf3", []string{"-J"}, sumOfJSON}
	iperf2 = filler{"iperf2", "iperf", []string{"-y", "C"}, sumOfCSV}
)

// filled is what such a program moved, and what that took the sending end.
type filled struct {
	bytes, bitsPerS float64
	sending         time.Duration
}

// fill runs both ends of such a program.
func (b *bed) fill(ctx context.Context, f filler, streams int, more ...string) (filled, error) {
	server, err := b.serve(ctx, func(port string) []string {
		return []string{f.program, "-s", "-B", "127.0.0.1", "-p", port}
	})
	if err != nil {
		return filled{}, err
	}
	defer server.end()
	argv := append(append([]string{f.program}, f.format...), more...)
	out, sending, err := drive(ctx, append(argv, "-c", "127.0.0.1", "-p", server.port,
		"-P", strconv.Itoa(streams), "-l", strconv.Itoa(bulkBuffer), "-t", b.wholeSeconds())...)
	if err != nil {
		return filled{}, err
	}
	bytes, rate, err := f.sum(out, streams)
	if err != nil {
		return filled{}, fmt.Errorf("%s printed %q: %w", f.program, out, err)
	}
	return filled{bytes, rate, sending}, nil
}

// sumOfJSON reads what iperf3's server received of all streams.
func sumOfJSON(report []byte, _ int) (bytes, bitsPerS float64, err error) {
	var said struct {
		End struct {
			SumReceived struct {
				Bytes         float64
				BitsPerSecond float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		}
	}
	if err := json.Unmarshal(report, &said); err != nil {
		return 0, 0, err
	}
	sum := said.End.SumReceived
	return sum.Bytes, sum.BitsPerSecond, moved(sum.Bytes, sum.BitsPerSecond)
}

// sumOfCSV adds up bytes and bits per second, the last two fields of iperf2's
// comma-separated report, over its lines, one for each stream: what its client
// sent, at most what lies in socket buffers too much.
func sumOfCSV(report []byte, streams int) (bytes, bitsPerS float64, err error) {
	lines := strings.Split(strings.TrimSpace(string(report)), "\n")
	if len(lines) != streams {
		return 0, 0, fmt.Errorf("%d lines, expected one for each of %d streams", len(lines), streams)
	}
	for _, line := range lines {
		fields := strings.Split(line, ",")
		if len(fields) < 2 {
			return 0, 0, errors.New("expected comma-separated fields")
		}
		n, err := strconv.ParseFloat(fields[len(fields)-2], 64)
		if err != nil {
			return 0, 0, err
		}
		rate, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			return 0, 0, err
		}
		bytes, bitsPerS = bytes+n, bitsPerS+rate
	}
	return bytes, bitsPerS, moved(bytes, bitsPerS)
}

// moved is the error of a report that says that nothing was.
func moved(bytes, bitsPerS float64) error {
	if !(bytes > 0 && bitsPerS > 0) {
		return fmt.Errorf("%v bytes at %v bits per second, expected some", bytes, bitsPerS)
	}
	return nil
}
