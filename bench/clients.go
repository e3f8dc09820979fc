package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const perMicro = float64(time.Second / time.Microsecond)

// said is how a load generator prints what it did.
type said struct {
	requests, rate *regexp.Regexp // their first group is the number
	bad            *regexp.Regexp // answers that are no success
}

var (
	wrkSays = said{
		requests: regexp.MustCompile(`(?m)^ *(\d+) requests in `), rate: regexp.MustCompile(`(?m)^Requests/sec: +([\d.]+)`),
		bad: regexp.MustCompile(`Non-2xx or 3xx responses: \d+|Socket errors: .*`),
	}
	h2loadSays = said{
		requests: regexp.MustCompile(`(?m)^requests: .* (\d+) succeeded`), rate: regexp.MustCompile(`(?m)^finished in .*, ([\d.]+) req/s`),
		bad: regexp.MustCompile(`[1-9]\d* (failed|errored|timeout)|[1-9]\d* [345]xx`),
	}
	heySays = said{
		requests: regexp.MustCompile(`\[200\]\s+(\d+) responses`), rate: regexp.MustCompile(`Requests/sec:\s+([\d.]+)`),
		bad: regexp.MustCompile(`\[[345]\d\d\]\s+\d+ responses|Error distribution:(?s:.*)`),
	}
	ohaSays = said{
		requests: regexp.MustCompile(`\[200\]\s+(\d+) responses`), rate: regexp.MustCompile(`Requests/sec:\s+([\d.]+)`),
		bad: regexp.MustCompile(`\[[345]\d\d\]\s+\d+ responses|(?m)^ +\[\d+\] (?:[^a\d]|a[^b]).*`), // not those that its end aborts
	}
	fortioSays = said{
		requests: regexp.MustCompile(`(?m)^Code +200 : (\d+)`), rate: regexp.MustCompile(`(?m)^All done .*, ([\d.]+) qps`),
		bad: regexp.MustCompile(`(?m)^Code +(?:-1|[345]\d\d) : \d+`),
	}
	ghzSays = said{
		requests: regexp.MustCompile(`\[OK\]\s+(\d+) responses`), rate: regexp.MustCompile(`Requests/sec:\s+([\d.]+)`),
		bad: regexp.MustCompile(`\[(?:Unknown|InvalidArgument|Internal|Unimplemented|DeadlineExceeded|ResourceExhausted)\]\s+\d+ responses`),
	}
	sockperfSays = said{
		requests: regexp.MustCompile(`\[Total Run\] .*ReceivedMessages=(\d+)`), rate: regexp.MustCompile(`Latency is ([\d.]+) usec`),
		bad: regexp.MustCompile(`dropped messages = [1-9]`),
	}
)

// figure reads what a generator printed, and divides its CPU time.
func (s said) figure(out []byte, cpu time.Duration) (figure, error) {
	if bad := s.bad.Find(out); bad != nil {
		return figure{}, fmt.Errorf("it had failures: %s", bad)
	}
	rate, rateErr := first(s.rate, out)
	requests, requestsErr := first(s.requests, out)
	if rateErr != nil || requestsErr != nil || rate <= 0 || requests <= 0 {
		return figure{}, fmt.Errorf("it printed neither a rate nor requests that we know: %s", out)
	}
	return figure{value: rate, cost: cpu.Seconds() / requests * perMicro}, nil
}

func first(pattern *regexp.Regexp, text []byte) (float64, error) {
	found := pattern.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("%s is not in it", pattern)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// generator is a load generator of somebody else's. argv makes its arguments for a
// port, and for a rate that is 0 where it is to go as fast as it can.
func generator(program, get string, how said, paced bool, argv func(port string, rate float64) []string) client {
	return client{name: program, program: program, get: get, paced: paced, drive: func(ctx context.Context, port string, rate float64) (figure, error) {
		out, remarks, cpu, err := driven(ctx, append([]string{program}, argv(port, rate)...))
		if err != nil {
			return figure{}, err
		}
		return how.figure(append(out, remarks...), cpu)
	}}
}

// per is a rate's share for one of some connections, as a whole number of requests.
func per(rate float64, connections int) string { return strconv.Itoa(int(rate) / connections) }

// withRate adds a flag and its value where there is a rate.
func withRate(args []string, rate float64, flag, value string) []string {
	if rate <= 0 {
		return args
	}
	return append(args, flag, value)
}

func block(scheme, port string) string { return scheme + "://127.0.0.1:" + port + "/block" }

// http1Peers are the load generators that everybody has, for HTTP/1.1. With https as the
// scheme they take any certificate, as they do by themselves or by a flag.
func (b *bed) http1Peers(scheme string, connections int) []client {
	c, seconds := strconv.Itoa(connections), b.wholeSeconds()
	return []client{
		generator("wrk", "apt-get install wrk", wrkSays, false, func(port string, _ float64) []string {
			return []string{"-t", "1", "-c", c, "-d", seconds + "s", block(scheme, port)}
		}),
		generator("h2load", "apt-get install nghttp2-client", h2loadSays, true, func(port string, rate float64) []string {
			return append(withRate([]string{"--h1", "-t", "1", "-c", c, "-D", seconds}, rate, "--rps", per(rate, connections)), block(scheme, port))
		}),
		generator("hey", "apt-get install hey", heySays, true, func(port string, rate float64) []string {
			return append(withRate([]string{"-cpus", "1", "-c", c, "-z", seconds + "s"}, rate, "-q", per(rate, connections)), block(scheme, port))
		}),
		generator("oha", getOha, ohaSays, true, func(port string, rate float64) []string {
			return append(withRate([]string{"--no-tui", "--insecure", "-w", "-c", c, "-z", seconds + "s"}, rate, "-q", fmt.Sprint(rate)), block(scheme, port))
		}),
		generator("fortio", getFortio, fortioSays, true, func(port string, rate float64) []string {
			return []string{"load", "-quiet", "-k", "-c", c, "-t", seconds + "s", "-qps", fmt.Sprint(rate), block(scheme, port)}
		}),
	}
}

const (
	getOha    = "make bench-peers, which takes cargo"
	getFortio = "make bench-peers"
	getGhz    = "make bench-peers"
)

// h2Peers are those that speak HTTP/2 without encryption.
func (b *bed) h2Peers(connections, streams int) []client {
	c, n, seconds := strconv.Itoa(connections), strconv.Itoa(streams), b.wholeSeconds()
	return []client{
		generator("h2load", "apt-get install nghttp2-client", h2loadSays, true, func(port string, rate float64) []string {
			return append(withRate([]string{"-t", "1", "-c", c, "-m", n, "-D", seconds}, rate, "--rps", per(rate, connections)), block("http", port))
		}),
		generator("oha", getOha, ohaSays, true, func(port string, rate float64) []string {
			return append(withRate([]string{"--no-tui", "--http2", "-w", "-c", c, "-p", n, "-z", seconds + "s"}, rate, "-q", fmt.Sprint(rate)), block("http", port))
		}),
	}
}

// ghz calls our service with an empty message.
func (b *bed) ghz(connections, calls int) client {
	return generator("ghz", getGhz, ghzSays, true, func(port string, rate float64) []string {
		return append(withRate([]string{
			"--insecure", "--proto", filepath.Join("internal", "work", "netdynov1", "exchange.proto"), "--call", "netdyno.v1.Exchange.Unary", "-d", "{}",
			"-c", strconv.Itoa(connections * calls), "--connections", strconv.Itoa(connections), "-z", b.wholeSeconds() + "s", "--duration-stop", "wait",
		}, rate, "--rps", fmt.Sprint(int(rate))), "127.0.0.1:"+port)
	})
}

// sockperf plays ping-pong on one connection with its own server. Of a round trip it
// prints half the time.
func (b *bed) sockperf(bytes int) client {
	c := generator("sockperf", "apt-get install sockperf", sockperfSays, false, func(port string, _ float64) []string {
		return []string{"ping-pong", "--tcp", "-i", "127.0.0.1", "-p", port, "-t", b.wholeSeconds(), "-m", strconv.Itoa(bytes)}
	})
	halves := c.drive
	c.drive = func(ctx context.Context, port string, rate float64) (figure, error) {
		f, err := halves(ctx, port, rate)
		f.value = perMicro / (2 * f.value)
		return f, err
	}
	return c
}

// bareEcho is a bare client of a library, against whichever echo server.
func (b *bed) bareEcho(program string, connections, size int) client {
	path := filepath.Join(b.peers, program)
	return client{name: program, program: path, get: "make bench builds it where its library is", drive: func(ctx context.Context, port string, _ float64) (figure, error) {
		out, _, err := drive(ctx, path, "client", port, strconv.Itoa(connections), strconv.Itoa(size), fmt.Sprint(b.window.Seconds()))
		if err != nil {
			return figure{}, err
		}
		said, err := bareSaid(out)
		return figure{value: said.Exchanges / said.Seconds, cost: said.CPU / said.Exchanges * perMicro}, err
	}}
}

// withServer gives a peer's client that peer's server.
func (b *bed) withServer(c client, argv func(port string) []string) client {
	against := c.drive
	c.own, c.drive = true, func(ctx context.Context, _ string, rate float64) (figure, error) {
		server, err := b.serve(ctx, argv)
		if err != nil {
			return figure{}, err
		}
		defer server.end()
		return against(ctx, server.port, rate)
	}
	return c
}

// worker is a client of ours, against a server that stands at a port.
// Behind the transport's name its name may have settings of the client.
func (b *bed) worker(name string, args func(port string) []string) client {
	return client{name: name, paced: true, drive: func(ctx context.Context, port string, rate float64) (figure, error) {
		return b.offering(ctx, false, rate, append(levelsOf(name), args(port)...))
	}}
}

// levelsOf are the levels that a client's name stands for.
func levelsOf(name string) []string {
	levels := []string{"client=" + transportOf(name)}
	for _, setting := range strings.Fields(name)[1:] {
		levels = append(levels, "opt.client."+setting)
	}
	return levels
}

// transportOf is the transport that a client's name begins with.
func transportOf(name string) string {
	transport, _, _ := strings.Cut(name, " ")
	return transport
}

// pair is a client of ours with its own server.
func (b *bed) pair(name string, args ...string) client {
	return client{name: name, paced: true, own: true, drive: func(ctx context.Context, _ string, rate float64) (figure, error) {
		return b.offering(ctx, false, rate, slices.Concat(levelsOf(name), []string{"server=" + transportOf(name)}, args))
	}}
}

// profiled is a client of ours with its own server, both with profilers on.
func (b *bed) profiled(name string, args ...string) client {
	return client{name: name, paced: true, own: true, drive: func(ctx context.Context, _ string, rate float64) (figure, error) {
		return b.offering(ctx, true, rate, append(levelsOf(name), args...))
	}}
}

// offering measures exchanges at a rate, or as fast as they go with 0.
func (b *bed) offering(ctx context.Context, profiled bool, rate float64, levels []string) (figure, error) {
	if rate > 0 {
		levels = append(levels, "rate="+strconv.FormatFloat(rate, 'f', 0, 64))
	}
	return b.two(ctx, profiled, "exchanges_per_s", "client.cpu_us_per_exchange", levels...)
}

// two measures a trial's rate and cost.
func (b *bed) two(ctx context.Context, profiled bool, value, cost string, levels ...string) (f figure, err error) {
	r, err := b.conduct(ctx, pinned{}, true, profiled, levels)
	if err != nil {
		return f, err
	}
	if f.value, err = metricOf(r, value); err != nil {
		return f, err
	}
	f.cost, err = metricOf(r, cost)
	return f, err
}
