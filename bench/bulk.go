package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The size of one write and one read, which is the default of iperf3 and of
// iperf2.
const bulkBuffer = 128 << 10

// bulkQuestions put one-way streams beside the programs that everybody fills a
// link with, in their default direction: the client sends.
func (b *bed) bulkQuestions() []question {
	ask := func(streams int) question {
		q := question{
			name: fmt.Sprintf("bulk %d streams, against iperf3 and iperf2", streams), unit: "bytes/s",
			hoped: "the best of ours ≥ 1.0", cost: "CPU s/GB, both ends", needs: []string{"iperf3", "iperf"},
			ours: []string{"go-net", "go-epoll", "asio", "libevent", "uring"},
			base: []subject{b.iperf3(streams), b.iperf2(streams)},
		}
		for _, transport := range q.ours {
			q.others = append(q.others, b.stream(transport, streams))
		}
		return q
	}
	return []question{ask(1), ask(4)}
}

// stream is a subject that runs a bulk trial of ours, one thread at each end.
func (b *bed) stream(transport string, streams int) subject {
	return subject{"netdyno " + transport, func(ctx context.Context) (figure, error) {
		r, err := b.trial(ctx, true, "transport="+transport, "stream=up", "request=4MiB", "response=1B",
			fmt.Sprintf("chunk=%dB", bulkBuffer), "inflight=4", "connections="+strconv.Itoa(streams))
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
		return figure{goodput, sent + received}, err
	}}
}

// iperf3 is a subject that counts what its server received.
func (b *bed) iperf3(streams int) subject {
	return subject{"iperf3", func(ctx context.Context) (figure, error) {
		server, err := b.serve(ctx, func(port string) []string {
			return []string{"iperf3", "-s", "-B", "127.0.0.1", "-p", port}
		})
		if err != nil {
			return figure{}, err
		}
		defer server.end()
		out, sending, err := drive(ctx, "iperf3", "-J", "-c", "127.0.0.1", "-p", server.port,
			"-P", strconv.Itoa(streams), "-l", strconv.Itoa(bulkBuffer), "-t", b.wholeSeconds())
		if err != nil {
			return figure{}, err
		}
		var said struct {
			End struct {
				SumReceived struct {
					Bytes         float64
					BitsPerSecond float64 `json:"bits_per_second"`
				} `json:"sum_received"`
			}
		}
		if err := json.Unmarshal(out, &said); err != nil || !(said.End.SumReceived.Bytes > 0) {
			return figure{}, fmt.Errorf("iperf3 printed %q: %w", out, err)
		}
		server.end()
		cpu := sending + server.cpu()
		return figure{said.End.SumReceived.BitsPerSecond / 8, cpu.Seconds() / said.End.SumReceived.Bytes * 1e9}, nil
	}}
}

// iperf2 is a subject that counts what its client sent, as the program reports
// it: at most what lies in socket buffers too much.
func (b *bed) iperf2(streams int) subject {
	return subject{"iperf2", func(ctx context.Context) (figure, error) {
		server, err := b.serve(ctx, func(port string) []string {
			return []string{"iperf", "-s", "-B", "127.0.0.1", "-p", port}
		})
		if err != nil {
			return figure{}, err
		}
		defer server.end()
		out, sending, err := drive(ctx, "iperf", "-y", "C", "-c", "127.0.0.1", "-p", server.port,
			"-P", strconv.Itoa(streams), "-l", strconv.Itoa(bulkBuffer), "-t", b.wholeSeconds())
		if err != nil {
			return figure{}, err
		}
		bytes, rate, err := sumOfCSV(string(out), streams)
		if err != nil {
			return figure{}, fmt.Errorf("iperf printed %q: %w", out, err)
		}
		server.end()
		cpu := sending + server.cpu()
		return figure{rate / 8, cpu.Seconds() / bytes * 1e9}, nil
	}}
}

// sumOfCSV adds up bytes and bits per second, the last two fields of iperf2's
// comma-separated report, over its lines, one for each stream.
func sumOfCSV(out string, streams int) (bytes, bits float64, err error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
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
		bytes, bits = bytes+n, bits+rate
	}
	if !(bytes > 0 && bits > 0) {
		err = fmt.Errorf("%v bytes at %v bits per second", bytes, bits)
	}
	return bytes, bits, err
}
