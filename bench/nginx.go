package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"netdyno/test/programs"
)

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

// nginx serves one file at /block, nothing in its way: by sendfile, connections kept
// for ever. With " http2" as its protocol it speaks HTTP/2 alone.
func (b *bed) nginx(ctx context.Context, bytes int, protocol string) (*peer, error) {
	directory, err := b.content(bytes)
	if err != nil {
		return nil, err
	}
	var broken error
	server, err := b.serve(ctx, func(port string) []string {
		var argv []string
		argv, broken = programs.Nginx{
			Own: filepath.Join(b.temp, "nginx-"+port), Root: directory, Listen: "127.0.0.1:" + port + protocol,
			Events: "worker_connections 4096;",
			HTTP:   "sendfile on; tcp_nopush on; keepalive_requests 1000000000; keepalive_timeout 1h;",
		}.Command()
		return argv
	})
	if broken != nil || err != nil {
		return nil, fmt.Errorf("start nginx: %w", errors.Join(broken, err))
	}
	return server, nil
}

// onRings is our HTTP server that takes least CPU; it answers any path.
func (b *bed) onRings(ctx context.Context, bytes int, more ...string) (*peer, error) {
	return b.listen(ctx, append([]string{"transport=http1-uring", "request=0B", "response=" + strconv.Itoa(bytes) + "B"}, more...)...)
}

// listen is a server of ours that stands by itself.
func (b *bed) listen(ctx context.Context, levels ...string) (*peer, error) {
	directory, err := os.MkdirTemp(b.temp, "listen-") // a port may come again
	if err != nil {
		return nil, err
	}
	return b.serve(ctx, func(port string) []string {
		argv := append([]string{filepath.Join(b.bin, "netdyno"), "listen", "placement=shared"}, levels...)
		return append(argv, "--bind", "127.0.0.1:"+port, "--out", filepath.Join(directory, "run"))
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
