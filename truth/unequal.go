package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// unequal is a server in a process of its own, of one thread. It computes so many iterations
// for each request, and then holds a share of the replies, drawn at random, by a timer of the
// kernel's.
type unequal struct {
	iterations int
	held       time.Duration
	percent    int // of the replies that are held

	timer int
	due   []dueReply // in the order in which they are due
}

type dueReply struct {
	fd int
	at time.Time
}

// unequalServer is the argument by which this program is one, before what serveUnequal takes.
const unequalServer = "unequal"

// start starts the process.
func (u unequal) start(ctx context.Context) (url string, stop func() error, err error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = l.Close() }() // the process has a copy
	listener, err := l.File()
	own, failed := os.Executable()
	if err := errors.Join(err, failed); err != nil {
		return "", nil, err
	}
	defer func() { _ = listener.Close() }() // as above
	c := exec.CommandContext(ctx, own, unequalServer, fmt.Sprint(u.iterations, int64(u.held), u.percent))
	c.ExtraFiles, c.Stderr = []*os.File{listener}, os.Stderr
	end, err := c.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	stop = func() error { return errors.Join(end.Close(), c.Wait()) }
	return "http://" + l.Addr().String() + "/", stop, c.Start()
}

// serveUnequal is the process. It ends when its input does.
func serveUnequal(arg string) error {
	var u unequal
	if _, err := fmt.Sscan(arg, &u.iterations, &u.held, &u.percent); err != nil {
		return err
	}
	const first = 3 // of ExtraFiles
	l, err := net.FileListener(os.NewFile(first, "listener"))
	if err != nil {
		return err
	}
	s, err := newOneThread(l.(*net.TCPListener))
	if err != nil {
		return err
	}
	u.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	failed := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, u.timer, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(u.timer)})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	s.reply, s.after = u.reply, u.release
	s.gone = func(fd int) { u.due = slices.DeleteFunc(u.due, func(d dueReply) bool { return d.fd == fd }) }
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // of which only the end matters
		s.close()
	}()
	s.serve()
	return nil
}

func (u *unequal) reply(fd int) {
	due := time.Now().Add(u.held)
	iterate(u.iterations)
	if rand.IntN(100) < u.percent {
		u.due = append(u.due, dueReply{fd, due})
		return
	}
	_, _ = unix.Write(fd, smallReply) // a client that is gone is seen by the next read
}

// release sends the replies that are due, and sets the timer for the next.
func (u *unequal) release() {
	for len(u.due) > 0 && !u.due[0].at.After(time.Now()) {
		_, _ = unix.Write(u.due[0].fd, smallReply) // as above
		u.due = u.due[1:]
	}
	if len(u.due) > 0 {
		left := max(time.Until(u.due[0].at), 1) // 0 would stop it
		_ = unix.TimerfdSettime(u.timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(left))}, nil)
	}
}

var iterated uint64 // so that the compiler leaves the computing in

func iterate(n int) {
	x := iterated
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	iterated = x
}

// iterationsPerUs is how many iterations this machine makes in a µs of a thread's CPU time: the
// most of some tries, as other work only slows them down.
func iterationsPerUs() (most float64) {
	const tries, n = 20, 1_000_000
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range tries {
		from := threadNs()
		iterate(n)
		most = max(most, n*1e3/float64(threadNs()-from))
	}
	return most
}
