package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// nginxQuestions drive the same nginx with our HTTP/1.1 clients and with the
// load generators that everybody has. One worker process on the server's CPU;
// every client on the other.
func (b *bed) nginxQuestions() []question {
	const block, small = 4 << 20, 1 << 10
	needs, ours := []string{"nginx", "wrk", "h2load", "hey"}, []string{"address", "go-http1", "fasthttp", "http1-uring", "http1-asio"}
	peers := func(bytes, connections int) []subject {
		return []subject{b.wrk(bytes, connections), b.h2load(bytes, connections), b.hey(bytes, connections)}
	}
	return []question{
		{
			name: "http 4 MiB blocks × 4 from nginx", unit: "MB/s", hoped: "≥ 1.0 with read=pooled", cost: "client CPU s/GB",
			base: peers(block, 4), needs: needs, ours: ours,
			others: []subject{
				b.ourHTTP("netdyno go-http1 read=pooled", block, 4, "client=go-http1", "opt.client.read=pooled"),
				b.ourHTTP("netdyno fasthttp", block, 4, "client=fasthttp"),
				b.ourHTTP("netdyno http1-uring", block, 4, "client=http1-uring"),
			},
		},
		{
			name: "http 1 KiB × 50 from nginx", unit: "MB/s", hoped: "≥ 0.9, nginx is the limit", cost: "client CPU s/GB",
			base: peers(small, 50), needs: needs, ours: ours,
			others: []subject{
				b.ourHTTP("netdyno http1-uring", small, 50, "client=http1-uring"),
				b.ourHTTP("netdyno http1-asio", small, 50, "client=http1-asio"),
				b.ourHTTP("netdyno fasthttp", small, 50, "client=fasthttp"),
				b.ourHTTP("netdyno go-http1", small, 50, "client=go-http1"),
			},
		},
	}
}

// clientQuestions ask what a request costs a client at a rate that all reach, and how
// fast clients are against a server that does as little as one can.
func (b *bed) clientQuestions() []question {
	const small, connections, rate = 1 << 10, 50, 8000
	needs, ours := []string{"nginx", "wrk", "h2load"}, []string{"address", "fasthttp", "http1-uring", "http1-asio"}
	offered := "rate=" + strconv.Itoa(rate)
	light := *b
	light.httpServer = light.onRings
	return []question{
		{
			name: "client CPU: http 1 KiB × 50 from nginx at 8,000/s", unit: "µs/request", hoped: "≤ 0.7 with http1-uring",
			base: []subject{perRequest(small, b.h2load(small, connections, "--rps", strconv.Itoa(rate/connections)))}, needs: needs, ours: ours,
			others: []subject{
				perRequest(small, called("wrk, which keeps no rate", b.wrk(small, connections))),
				perRequest(small, b.ourHTTP("netdyno http1-uring", small, connections, "client=http1-uring", offered)),
				perRequest(small, b.ourHTTP("netdyno http1-asio", small, connections, "client=http1-asio", offered)),
				perRequest(small, b.ourHTTP("netdyno fasthttp", small, connections, "client=fasthttp", offered)),
			},
		},
		{
			name: "http 1 KiB × 50 from http1-uring", unit: "MB/s", hoped: "≥ 1.5 with http1-uring", cost: "client CPU s/GB",
			base: []subject{light.wrk(small, connections), light.h2load(small, connections)}, needs: needs, ours: ours,
			others: []subject{
				light.ourHTTP("netdyno http1-uring", small, connections, "client=http1-uring"),
				light.ourHTTP("netdyno http1-asio", small, connections, "client=http1-asio"),
				light.ourHTTP("netdyno fasthttp", small, connections, "client=fasthttp"),
			},
		},
	}
}

// perRequest turns what a subject costs per GB into µs for a request, as its figure.
func perRequest(bytes int, of subject) subject {
	return subject{of.name, func(ctx context.Context) (figure, error) {
		f, err := of.measure(ctx)
		return figure{value: f.cost * float64(bytes) / bytesPerGB * 1e6}, err
	}}
}

func called(name string, of subject) subject { return subject{name, of.measure} }

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
		ask("rate", "blocks/s", "published: 4.0", "exchanges_per_s"),
		ask("CPU of the client", "s/GB", "below 1", "client.cpu_s_per_gb"),
		ask("allocated at the client", "B/block", "far below 1", "client.alloc_bytes_per_exchange"),
	}
}

// ourHTTP is a client of ours against nginx.
func (b *bed) ourHTTP(name string, bytes, connections int, args ...string) subject {
	return b.fromServer(name, bytes, func(ctx context.Context, address string) (figure, error) {
		r, err := b.trial(ctx, true, append([]string{
			"server=address", "opt.server.address=" + address, "opt.server.wire=http/1.1", "opt.client.path=/block", "opt.client.verify=length",
			"request=0B", "response=" + strconv.Itoa(bytes) + "B", "connections=" + strconv.Itoa(connections),
		}, args...)...)
		if err != nil {
			return figure{}, err
		}
		goodput, err := metricOf(r, "goodput_bytes_per_s")
		if err != nil {
			return figure{}, err
		}
		cost, err := metricOf(r, "client.cpu_s_per_gb")
		return figure{goodput / bytesPerMB, cost}, err
	})
}

const bytesPerMB, bytesPerGB = 1e6, 1e9

var wrkSays = said{
	requests: regexp.MustCompile(`(?m)^ *(\d+) requests in `), rate: regexp.MustCompile(`(?m)^Requests/sec: +([\d.]+)`),
	bad: regexp.MustCompile(`Non-2xx or 3xx responses: \d+|Socket errors: .*`),
}

func (b *bed) wrk(bytes, connections int) subject {
	return b.generator("wrk", bytes, wrkSays, "-t", "1", "-c", strconv.Itoa(connections), "-d", b.wholeSeconds()+"s")
}

var h2loadSays = said{
	requests: regexp.MustCompile(`(?m)^requests: .* (\d+) succeeded`), rate: regexp.MustCompile(`(?m)^finished in .*, ([\d.]+) req/s`),
	bad: regexp.MustCompile(`[1-9]\d* (failed|errored|timeout)|[1-9]\d* [345]xx`),
}

func (b *bed) h2load(bytes, connections int, more ...string) subject {
	return b.generator("h2load", bytes, h2loadSays, append(more, "--h1", "-t", "1", "-c", strconv.Itoa(connections), "-D", b.wholeSeconds())...)
}

var heySays = said{
	requests: regexp.MustCompile(`\[200\]\s+(\d+) responses`), rate: regexp.MustCompile(`Requests/sec:\s+([\d.]+)`),
	bad: regexp.MustCompile(`\[[345]\d\d\]\s+\d+ responses|Error distribution:(?s:.*)`),
}

func (b *bed) hey(bytes, connections int) subject {
	return b.generator("hey", bytes, heySays, "-cpus", "1", "-c", strconv.Itoa(connections), "-z", b.wholeSeconds()+"s")
}

// said is how a load generator prints what it did.
type said struct {
	requests, rate *regexp.Regexp // their first group is the number
	bad            *regexp.Regexp // answers that are no 200
}

// generator is somebody's HTTP load generator against nginx.
func (b *bed) generator(program string, bytes int, how said, args ...string) subject {
	return b.fromServer(program, bytes, func(ctx context.Context, address string) (figure, error) {
		argv := append(append([]string{program}, args...), "http://"+address+"/block")
		out, cpu, err := drive(ctx, argv...)
		if err != nil {
			return figure{}, err
		}
		if bad := how.bad.Find(out); bad != nil {
			return figure{}, fmt.Errorf("it had failures: %s", bad)
		}
		rate, rateErr := first(how.rate, out)
		requests, requestsErr := first(how.requests, out)
		if rateErr != nil || requestsErr != nil || rate <= 0 || requests <= 0 {
			return figure{}, fmt.Errorf("it printed neither a rate nor requests that we know: %s", out)
		}
		return figure{rate * float64(bytes) / bytesPerMB, cpu.Seconds() / (requests * float64(bytes)) * bytesPerGB}, nil
	})
}

func first(pattern *regexp.Regexp, text []byte) (float64, error) {
	found := pattern.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("%s is not in it", pattern)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// fromServer is a subject whose server is a fresh one that answers with that many
// random bytes.
func (b *bed) fromServer(name string, bytes int, measure func(ctx context.Context, address string) (figure, error)) subject {
	stand := b.nginx
	if b.httpServer != nil {
		stand = b.httpServer
	}
	return subject{name, func(ctx context.Context) (figure, error) {
		server, err := stand(ctx, bytes)
		if err != nil {
			return figure{}, err
		}
		defer server.end()
		return measure(ctx, "127.0.0.1:"+server.port)
	}}
}

// nginx serves one file at /block.
func (b *bed) nginx(ctx context.Context, bytes int) (*peer, error) {
	directory, err := b.content(bytes)
	if err != nil {
		return nil, err
	}
	var broken error
	server, err := b.serve(ctx, func(port string) []string {
		config := filepath.Join(b.temp, "nginx-"+port+".conf")
		broken = os.WriteFile(config, []byte(nginxConfig(b.temp, directory, port)), 0o600)
		return []string{"nginx", "-p", b.temp, "-c", config, "-e", "stderr"}
	})
	if broken != nil || err != nil {
		return nil, fmt.Errorf("start nginx: %w", errors.Join(broken, err))
	}
	return server, nil
}

// onRings is our server that takes least CPU; it answers any path.
func (b *bed) onRings(ctx context.Context, bytes int) (*peer, error) {
	return b.serve(ctx, func(port string) []string {
		return []string{
			filepath.Join(b.bin, "netdyno"), "listen", "transport=http1-uring", "placement=shared", "request=0B", "response=" + strconv.Itoa(bytes) + "B",
			"--bind", "127.0.0.1:" + port, "--out", filepath.Join(b.temp, "listen-"+port),
		}
	})
}

// content makes the file that nginx serves, once, and returns its directory.
func (b *bed) content(bytes int) (string, error) {
	directory := filepath.Join(b.temp, "content-"+strconv.Itoa(bytes))
	file := filepath.Join(directory, "block")
	if _, err := os.Stat(file); err == nil {
		return directory, nil
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return "", err
	}
	var seed [32]byte
	text := make([]byte, bytes)
	_, _ = rand.NewChaCha8(seed).Read(text) // never fails
	return directory, os.WriteFile(file, text, 0o600)
}

// nginxConfig is nginx in the foreground, one worker, nothing in its way: no
// log, files by sendfile, connections kept for ever. As root it stays root, for
// the content is its user's alone.
func nginxConfig(prefix, root, port string) string {
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n"
	}
	return user + `daemon off;
worker_processes 1;
pid ` + prefix + `/nginx-` + port + `.pid;
error_log stderr;
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_body_temp_path ` + prefix + `/body;
  proxy_temp_path ` + prefix + `/proxy;
  fastcgi_temp_path ` + prefix + `/fastcgi;
  uwsgi_temp_path ` + prefix + `/uwsgi;
  scgi_temp_path ` + prefix + `/scgi;
  server { listen 127.0.0.1:` + port + `; root ` + root + `; }
}
`
}
