// Package workertest holds the bench's end of the contract for tests of
// workers that run in the same process.
package workertest

import (
	"io"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker"
)

// Timeout bounds every wait.
const Timeout = 20 * time.Second

// Bench drives one worker. The test's goroutine owns it.
type Bench struct {
	t      testing.TB
	stdin  *io.PipeWriter
	writer *contract.Writer
	lines  chan contract.Message
	exit   chan int
	Ticks  int
}

// Start runs a worker with the given transports until the test ends.
func Start(t testing.TB, transports ...load.Transport) *Bench {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	b := &Bench{t: t, stdin: inW, writer: contract.NewWriter(inW), lines: make(chan contract.Message, 4096), exit: make(chan int, 1)}
	go func() {
		b.exit <- worker.Run("test", inR, outW, transports)
		_ = outW.Close() // ends the reader
	}()
	go func() {
		defer close(b.lines)
		for r := contract.NewReader(outR); ; {
			m, err := r.Read()
			if err != nil {
				return
			}
			b.lines <- m
		}
	}()
	t.Cleanup(func() { b.End() })
	b.Expect("hello")
	return b
}

// Send sends one message.
func (b *Bench) Send(m contract.Message) {
	b.t.Helper()
	if err := b.writer.Write(m); err != nil {
		b.t.Fatalf("send %s: %v", m.Name(), err)
	}
}

// Next returns the next message that is not a tick.
func (b *Bench) Next() contract.Message {
	b.t.Helper()
	timeout := time.After(Timeout)
	for {
		select {
		case m, ok := <-b.lines:
			if !ok {
				b.t.Fatal("the worker has ended")
			}
			if m.Tick == nil {
				return m
			}
			b.Ticks++
		case <-timeout:
			b.t.Fatal("the worker says nothing")
		}
	}
}

// Expect returns the next message, which must have the name.
func (b *Bench) Expect(name string) contract.Message {
	b.t.Helper()
	m := b.Next()
	if m.Name() != name {
		b.t.Fatalf("got %s (%+v), want %s", m.Name(), m.Error, name)
	}
	return m
}

// Setup gives the worker its trial and returns its ready.
func (b *Bench) Setup(s contract.Setup) contract.Ready {
	b.t.Helper()
	b.Send(contract.Message{Setup: &s})
	return *b.Expect("ready").Ready
}

// Mark takes a reading.
func (b *Bench) Mark(id int, reset bool) contract.Reading {
	b.t.Helper()
	b.Send(contract.Message{Mark: &contract.Mark{ID: id, Reset: reset}})
	return *b.Expect("mark").Mark.Reading
}

// Settled reads a server until it has counted n exchanges since before, or Timeout has
// passed: it counts a reply after the client may have it.
func (b *Bench) Settled(before contract.Counts, n int64) contract.Counts {
	b.t.Helper()
	return Until(Timeout, before.Exchanges+n, func() contract.Counts { return b.Mark(2, false).Counts })
}

// Until reads counts until they hold so many exchanges, or the timeout has passed, and
// returns the last.
func Until(timeout time.Duration, exchanges int64, read func() contract.Counts) contract.Counts {
	counts := read()
	for deadline := time.Now().Add(timeout); counts.Exchanges < exchanges && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
		counts = read()
	}
	return counts
}

// Stop ends the load and returns the result.
func (b *Bench) Stop() contract.Result {
	b.t.Helper()
	b.Send(contract.Message{Stop: &contract.Stop{}})
	return *b.Expect("result").Result
}

// Start begins the load.
func (b *Bench) Start() {
	b.t.Helper()
	b.Send(contract.Message{Start: &contract.Start{}})
}

// End closes stdin and returns the exit status.
func (b *Bench) End() int {
	b.t.Helper()
	_ = b.stdin.Close() // a pipe in memory
	select {
	case code := <-b.exit:
		b.exit <- code // for a second call
		return code
	case <-time.After(Timeout): // netdyno check looks at the contract's 2 s
		b.t.Error("the worker does not end at EOF (CONTRACT.md, section Life)")
		return -1
	}
}
