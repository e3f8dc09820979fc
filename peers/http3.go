package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"netdyno/internal/metric"
)

const (
	http3Connections, http3Streams = "10", "10"
	http3Page                      = "block"
	http3Bytes                     = 1 << 10
)

// http3Peer is a load generator of HTTP/3.
type http3Peer struct {
	name     string
	argv     []string       // without the URL
	requests *regexp.Regexp // how many it says were answered
}

// http3Questions put our client of HTTP/3 beside others, in a closed loop at Caddy. No
// study can: the kernel counts no bytes of sockets of UDP, by which the requests of a load
// generator are shared out to a window. So its CPU time is that of its whole run, its
// handshakes too.
func (b *bed) http3Questions() []question {
	var all []question
	for _, p := range []http3Peer{
		// h2load as it was built with ngtcp2 and nghttp3. That of Debian 12 lacks them.
		{"h2load-h3", []string{"--alpn-list=h3", "-t", "1", "-c", http3Connections, "-m", http3Streams, "-D", b.wholeSeconds()}, regexp.MustCompile(`(?m)^requests: .* (\d+) succeeded`)},
		// Lasts half a minute longer than it is told, until its connections are idle.
		{"oha", []string{"--no-tui", "--insecure", "--http-version", "3", "-w", "-c", http3Connections, "-p", http3Streams, "-z", b.wholeSeconds() + "s"}, regexp.MustCompile(`\[200\]\s+(\d+) responses`)},
	} {
		all = append(all, question{
			name: "http3: Caddy, 1 KiB, ten connections of ten streams", unit: "client CPU, µs/request", hoped: "≤ 0.7",
			base: []subject{b.http3(p.name, p.measure)}, others: []subject{b.http3("netdyno go-http3", b.http3Trial)},
			needs: []string{p.name, caddy()}, ours: []string{"go-http3"},
		})
	}
	return all
}

// caddy is where make servers-there puts it.
func caddy() string {
	path, err := filepath.Abs(filepath.Join(".tools", "servers", "caddy"))
	if err != nil {
		return "caddy"
	}
	return path
}

// http3 is a subject that asks a Caddy of its own.
func (b *bed) http3(name string, measure func(ctx context.Context, port string) (figure, error)) subject {
	return subject{name, func(ctx context.Context) (figure, error) {
		config, err := filepath.Abs(filepath.Join("test", "servers", "apps", "Caddyfile"))
		if err != nil {
			return figure{}, err
		}
		if err := os.WriteFile(filepath.Join(b.temp, http3Page), bytes.Repeat([]byte("x"), http3Bytes), 0o644); err != nil {
			return figure{}, err
		}
		server, err := b.serve(ctx, func(port string) []string {
			return []string{"env", "PORT=" + port, "ROOT=" + b.temp, caddy(), "run", "--config", config}
		})
		if err != nil {
			return figure{}, err
		}
		defer server.end()
		if err := errors.Join(awaitPort(ctx, "udp", server.port), awaitCertificate(ctx, server.port)); err != nil {
			return figure{}, err
		}
		return measure(ctx, server.port)
	}}
}

// awaitCertificate waits until Caddy has made itself one, which it does after it listens.
func awaitCertificate(ctx context.Context, port string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it is not known to this host
	for {
		conn, err := dialer.DialContext(ctx, "tcp", "localhost:"+port)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("ask Caddy on port %s: %w", port, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (p http3Peer) measure(ctx context.Context, port string) (figure, error) {
	out, cpu, err := drive(ctx, append(append([]string{p.name}, p.argv...), "https://localhost:"+port+"/"+http3Page)...)
	if err != nil {
		return figure{}, err
	}
	found := p.requests.FindSubmatch(out)
	if found == nil {
		return figure{}, fmt.Errorf("%s printed no number of requests: %s", p.name, out)
	}
	requests, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil || requests == 0 {
		return figure{}, fmt.Errorf("%s printed %s requests: %s", p.name, found[1], out)
	}
	return figure{value: cpu.Seconds() * perMicro / requests}, nil
}

// http3Trial is one of ours.
func (b *bed) http3Trial(ctx context.Context, port string) (f figure, err error) {
	r, err := b.trial(ctx, true, "client=go-http3", "tls=yes", "request=0B", fmt.Sprintf("response=%dB", http3Bytes), "connections="+http3Connections, "inflight="+http3Streams,
		"server=address", "opt.server.address=localhost:"+port, "opt.server.wire=h3",
		"opt.client.host=localhost:"+port, "opt.client.sni=localhost", "opt.client.insecure=true", "opt.client.path=/"+http3Page, "opt.client.verify=length")
	if err != nil {
		return f, err
	}
	f.value, err = metricOf(r, metric.OfClient+metric.CPUPerExchange)
	return f, err
}
