package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// relay passes on to upstream what comes at a port of the loopback, and burns so many µs
// of CPU time for each piece that a client sends. It ends at an interrupt, and says then
// what its control group has used.
func relay(us, port, upstream string) error {
	burnt, err := strconv.Atoi(us)
	if err != nil {
		return err
	}
	group, err := enterGroup()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return err
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt)
	go func() {
		<-end
		if used, err := group.leave(); err == nil {
			fmt.Fprintf(os.Stderr, "control group used %d ns\n", used)
		}
		_ = listener.Close()
	}()
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		server, err := net.Dial("tcp", upstream)
		if err != nil {
			return err
		}
		go pass(client, server, int64(burnt)*1000)
	}
}

// pass relays one connection both ways until either end closes it.
func pass(client, server net.Conn, burntNs int64) {
	defer func() { _ = errors.Join(client.Close(), server.Close()) }()
	go func() {
		_, _ = io.Copy(client, server) // its end is the connection's
		_ = client.Close()
	}()
	piece := make([]byte, 64<<10)
	for {
		n, err := client.Read(piece)
		if err != nil {
			return
		}
		burn(burntNs)
		if _, err := server.Write(piece[:n]); err != nil {
			return
		}
	}
}

// burn uses CPU time of its thread, by the thread's own clock.
func burn(ns int64) {
	if ns == 0 {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for until := threadNs() + ns - 3*readingNs/2; threadNs() < until; {
	}
}

// readingNs is what a reading of the clock takes: one is always spent beside what is seen,
// and half of one too many at the end.
var readingNs = func() int64 {
	const readings = 1000
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	from := threadNs()
	for range readings {
		_ = threadNs()
	}
	return (threadNs() - from) / readings
}()

func threadNs() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // the clock is there on Linux
	return t.Nano()
}

// controlGroup is one of this process alone.
type controlGroup struct {
	dir, account string
	beforeNs     int64 // used until it was entered
}

// enterGroup makes a control group whose account of CPU time is exact, of version 1 or 2,
// and moves this process there.
func enterGroup() (*controlGroup, error) {
	name := fmt.Sprintf("netdyno-truth-%d", os.Getpid())
	g := &controlGroup{dir: filepath.Join("/sys/fs/cgroup/cpuacct", name), account: "cpuacct.usage"}
	if _, err := os.Stat("/sys/fs/cgroup/cpuacct"); err != nil {
		g = &controlGroup{dir: filepath.Join("/sys/fs/cgroup", name), account: "cpu.stat"}
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used); err != nil {
		return nil, err
	}
	g.beforeNs = used.Nano()
	return g, g.takes(g.dir)
}

func (g *controlGroup) takes(dir string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0)
}

// leave returns what the group has used, and the process before it, in ns, and removes it.
func (g *controlGroup) leave() (int64, error) {
	if g == nil {
		return 0, errors.New("no control group")
	}
	text, err := os.ReadFile(filepath.Join(g.dir, g.account))
	if err != nil {
		return 0, err
	}
	if err := errors.Join(g.takes(filepath.Dir(g.dir)), syscall.Rmdir(g.dir)); err != nil {
		return 0, err
	}
	words := strings.Fields(string(text))
	if g.account == "cpu.stat" { // usage_usec N …
		us, err := strconv.ParseInt(words[1], 10, 64)
		return us*1000 + g.beforeNs, err
	}
	ns, err := strconv.ParseInt(words[0], 10, 64)
	return ns + g.beforeNs, err
}
