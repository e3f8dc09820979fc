// Command record runs the studies of which test/answers keeps real runs, reduces their
// records to what an answer is made of, and rewrites them with their answers:
//
//	go run ./test/answers/record              # all of them, about half an hour
//	go run ./test/answers/record cost urls    # some of them
//	go run ./test/answers/record blocks-quick=results/DIR   # keep a run that was made
//
// It wants a machine on which nothing else runs, the programs in bin/, and root for the
// mesh, whose hosts are network namespaces. It ends at the first run that cannot be had.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/record"
)

const (
	kept  = "test/answers/testdata/recorded"
	plain = "serve-plain" // arguments that make this program a server
	plied = "serve-hashed"
)

// run is a run of which the records are kept: its name, and netdyno's arguments.
type run struct {
	name string
	args []string
}

var runs = []run{
	{"blocks-quick", []string{"run", "blocks-quick"}},
	{"buffers-quick", []string{"run", "buffers-quick"}},
	{"event-loops-quick", []string{"run", "event-loops-quick"}},
	{"line-rate-quick", []string{"run", "line-rate-quick", "--rig", "netns:2?rate=1Gbit"}},
	{"messages-quick", []string{"run", "messages-quick"}},
	{"mixed-quick", []string{"run", "mixed-quick", "--rig", "netns:2?rate=1Gbit"}},
	{"echo-servers", []string{"run", "transport=go-net,go-epoll,threads,asio", "connections=32", "placement=free", "blocks=6", "window=500ms",
		"compare.primary=exchanges_per_s,server.cpu_us_per_exchange,service_p50_us,service_p99_us"}},
	{"http1-or-grpc", []string{"run", "transport=go-http1,go-grpc", "response=1KiB", "rate=2k", "connections=20", "blocks=6"}},
	{"urls", []string{"run", plain, plied, "--name", "plain,hashed", "-c", "1,10,100", "blocks=6"}},
	{"capacity", []string{"capacity", "go-http1", "connections=50", "--time", "1m"}},
	{"cost", []string{"cost", "go-http1", "connections=10,100", "response=1KiB,16KiB,256KiB,1MiB", "blocks=6"}},
	{"mesh", []string{"mesh", "--rig", "netns:4?rate=200Mbit", "blocks=3"}},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) == 2 && (os.Args[1] == plain || os.Args[1] == plied) {
		exitOn(serve(ctx, os.Args[1] == plied))
		return
	}
	asked := map[string]string{} // by a run's name the directory of one that was made; "" to make it
	for _, arg := range os.Args[1:] {
		name, made, _ := strings.Cut(arg, "=")
		if !slices.ContainsFunc(runs, func(r run) bool { return r.name == name }) {
			exitOn(fmt.Errorf("no run %q is kept; those of main.go are", name))
		}
		asked[name] = made
	}
	for _, r := range runs {
		if made, ok := asked[r.name]; ok || len(asked) == 0 {
			exitOn(again(ctx, r, made))
		}
	}
	exitOn(command(ctx, "go", "test", "./test/answers", "-update").Run())
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c
}

// again runs what is kept, unless the directory of a run that was made is given, and keeps
// it anew.
func again(ctx context.Context, r run, made string) (err error) {
	dir, err := os.MkdirTemp("", "netdyno-record-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if made == "" {
		made = filepath.Join(dir, "run")
		if err := makeRun(ctx, r, made); err != nil {
			return fmt.Errorf("run %s: %w", r.name, err)
		}
	}
	if err := reduce(made, dir); err != nil {
		return fmt.Errorf("reduce %s: %w", r.name, err)
	}
	for _, file := range []string{"records", "trials"} {
		if err := packed(filepath.Join(dir, file+".jsonl"), filepath.Join(kept, r.name+"."+file+".jsonl.gz")); err != nil {
			return fmt.Errorf("keep %s: %w", r.name, err)
		}
	}
	return nil
}

// makeRun runs what is kept into a directory, beside the servers that it asks.
func makeRun(ctx context.Context, r run, out string) error {
	var args []string
	for _, arg := range r.args {
		if arg == plain || arg == plied {
			address, end, err := started(ctx, arg)
			if err != nil {
				return fmt.Errorf("start %s: %w", arg, err)
			}
			defer end()
			arg = "http://" + address + "/"
		}
		args = append(args, arg)
	}
	return command(ctx, "bin/netdyno", append(args, "--out", out)...).Run()
}

// reduce writes into dir the records and the plan of a run without its probes, and without
// the facts that no answer has.
func reduce(from, dir string) (err error) {
	read, err := record.Read(filepath.Join(from, "records.jsonl"))
	if err != nil {
		return err
	}
	trials, err := record.ReadTrials(filepath.Join(from, "trials.jsonl"))
	if err != nil {
		return err
	}
	h := read.Header
	h.Facts.Tools, h.Facts.Calibration = nil, nil
	for name, seat := range h.Facts.Seats {
		values := map[string]string{}
		for _, fact := range []string{"cpu.count", "cpu.model"} {
			values[fact] = seat.Values[fact]
		}
		seat.Values = values
		h.Facts.Seats[name] = seat
	}
	h.Facts.After, h.Asked, h.Allocations, h.Stopped = nil, nil, nil, nil // lines of their own
	file, err := record.Create(filepath.Join(dir, "records.jsonl"), h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if len(read.Header.Asked) > 0 {
		err = file.Ask(read.Header.Asked)
	}
	for _, a := range read.Header.Allocations {
		err = errors.Join(err, file.Allocate(a))
	}
	if read.Header.Stopped != nil {
		err = errors.Join(err, file.Stop(*read.Header.Stopped))
	}
	if err != nil {
		return err
	}
	for _, r := range read.Records {
		if !r.Trial.Probe {
			if err := file.Append(r); err != nil {
				return err
			}
		}
	}
	return record.WriteTrials(filepath.Join(dir, "trials.jsonl"), slices.DeleteFunc(trials, func(t record.Trial) bool { return t.Probe }))
}

// packed compresses a file.
func packed(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o644)
}

// started runs this program as a server, and returns its address and what ends it.
func started(ctx context.Context, as string) (address string, end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	server := exec.CommandContext(ctx, self, as)
	server.Stderr = os.Stderr
	said, err := server.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}
	if _, err := fmt.Fscanln(said, &address); err != nil {
		end()
		return "", nil, fmt.Errorf("read its address: %w", err)
	}
	return address, end, nil
}

// serve answers 1 KiB over HTTP; hashed works for it first.
func serve(ctx context.Context, hashed bool) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	body := []byte(strings.Repeat("k", 1<<10))
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if hashed {
			sum := sha256.Sum256(body)
			for range 100 {
				sum = sha256.Sum256(append(sum[:], body...))
			}
			w.Header().Set("X-Sum", hex.EncodeToString(sum[:]))
		}
		_, _ = w.Write(body) // a client that went away says so itself
	}))
}
