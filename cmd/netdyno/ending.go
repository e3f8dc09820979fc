package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// promptEnd is how long a command may take to end that holds nothing but
	// memory: it may be in the middle of a computation or of a blocked write.
	promptEnd = 2 * time.Second
	// orderlyEnd is how long a command may take to end that has workers to end, hosts to
	// give back and a report to write. Each of these steps has a bound of its own;
	// orderlyEnd covers what nobody thought of.
	orderlyEnd = 2 * time.Minute
	// sameSignal is how close two signals are one: timeout(1) sends its own to the
	// process and then to the group that the process is in.
	sameSignal = 250 * time.Millisecond
)

// ending turns SIGINT, SIGTERM, SIGHUP and SIGQUIT into an orderly end: the first
// ends the command's context, another one ends the process at once, and so does a
// bound on the time between. A terminal that goes away says so more than once,
// so that a repeated SIGHUP hurries nothing. A SIGHUP that was ignored when we
// started, by nohup(1), stays so, and a SIGQUIT, by a shell's &.
type ending struct {
	signals chan os.Signal
	held    atomic.Bool
}

var ends = ending{signals: make(chan os.Signal, 8)} // more at once are echoes

// stoppedError is the cause of a context that a signal has ended.
type stoppedError struct{ by os.Signal }

func (e *stoppedError) Error() string { return fmt.Sprintf("stopped by a signal (%v)", e.by) }

// Is makes it a cancelled context's error, which it takes the place of.
func (e *stoppedError) Is(target error) bool { return target == context.Canceled }

// watch returns a context that the first signal ends.
func (e *ending) watch(parent context.Context) context.Context {
	signal.Notify(e.signals, syscall.SIGINT, syscall.SIGTERM)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(e.signals, s)
		}
	}
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		first := <-e.signals
		cancel(&stoppedError{first})
		e.hurry(first, time.Now())
	}()
	return ctx
}

// hurry ends the process when it is told to again, or takes too long.
func (e *ending) hurry(first os.Signal, since time.Time) {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case again := <-e.signals:
			if again != syscall.SIGHUP && time.Since(since) > sameSignal {
				dieBy(again)
			}
		case <-look.C:
			if most := e.bound(); time.Since(since) > most {
				fmt.Fprintf(stderr, "netdyno: did not end within %v of the signal (%v); what was measured is kept\n", most, first)
				dieBy(first)
			}
		}
	}
}

func (e *ending) bound() time.Duration {
	if e.held.Load() {
		return orderlyEnd
	}
	return promptEnd
}

// hold says that there is something to give back from here on: the time for an
// orderly end is longer, and a reader of our output that is gone no longer ends
// us, such as the tee(1) behind us that Ctrl-C has ended first.
func (e *ending) hold() {
	e.held.Store(true)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// dieBy ends the process by a signal, as its parent would expect, and the kernel
// ends the workers.
func dieBy(by os.Signal) {
	number, _ := by.(syscall.Signal) // signal.Notify sends no other kind
	if number == syscall.SIGQUIT {   // by which the runtime would print every goroutine's stack
		os.Exit(128 + int(number))
	}
	signal.Reset(by)
	_ = syscall.Kill(os.Getpid(), number) // it is ours
	time.Sleep(time.Second)               // a signal that is ignored, or on its way
	os.Exit(128 + int(number))
}
