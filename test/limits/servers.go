package limits

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

//go:embed two_writes.py
var twoWritesProgram []byte

// twoWrites is a server in a process of its own, which netdyno starts and whose
// connections it can account for: it returns each message in two parts, in two
// writes, with Nagle's algorithm on.
func twoWrites(dir string) (levels []string, end func(), err error) {
	return program(dir, "two_writes.py", twoWritesProgram)
}

// program is a server in Python that netdyno starts.
func program(dir, name string, text []byte) (levels []string, end func(), err error) {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, nil, err
	}
	return []string{"server=exec", "opt.server.command=python3 " + path + " {host} {port}"}, func() {}, nil
}

//go:embed warming.py
var warmingProgram []byte

// gettingCheaper is an echo server, in a process of its own, whose messages cost half as
// much after every 1.4 s. Nothing of that shows in its rate where few are offered.
func gettingCheaper(dir string) (levels []string, end func(), err error) {
	return program(dir, "warming.py", warmingProgram)
}

//go:embed timer.py
var timerProgram []byte

// timer is an echo server, in a process of its own, that takes its millisecond
// for each message from a timer, as a loop does that polls.
func timer(dir string) (levels []string, end func(), err error) {
	return program(dir, "timer.py", timerProgram)
}

// fillCPUs runs a busy process for each CPU, as other programs of a host may be; alone ends
// them, also where the error says that one could not be started.
func fillCPUs(ctx context.Context) (alone func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var all []*exec.Cmd
	for range runtime.NumCPU() {
		busy := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err = busy.Start(); err != nil {
			break
		}
		all = append(all, busy)
	}
	return func() {
		cancel()
		for _, busy := range all {
			_ = busy.Wait() // killed, as asked
		}
	}, err
}

// slowReader is an echo server that reads little at a time and sleeps between reads, so
// that bytes wait in its receive buffer.
func slowReader(string) (levels []string, end func(), err error) {
	return echo(16<<10, 2*time.Millisecond)
}

// echo listens on loopback and returns what comes, at most so many bytes at a
// time and each after a rest. end waits until nothing of it is left.
func echo(most int, rest time.Duration) (levels []string, end func(), err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed by end
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			all.Go(func() { _ = returnSlowly(c, most, rest) }) // the client's account tells what became of it
		}
	})
	return []string{"server=address", fmt.Sprintf("opt.server.address=%s", l.Addr()), "opt.server.wire=echo"}, func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	}, nil
}

func returnSlowly(c net.Conn, most int, rest time.Duration) error {
	defer func() { _ = c.Close() }()
	buf := make([]byte, most)
	for {
		n, err := c.Read(buf)
		if n > 0 {
			time.Sleep(rest)
			if _, err := c.Write(buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
