package load

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/traffic"
)

// Replay gives the exchanges of recorded traffic in the order in which they are due, each
// to the slot that asks next. At the trace's end it begins again. Any goroutine may use it;
// reading goes on ahead of the slots, so that none of them waits for the file.
type Replay struct {
	plan  contract.Trace
	file  *os.File
	body  *traffic.Body
	first []Draw // what connections verify with

	mu    sync.Mutex
	block []due
	next  int
	ahead chan []due
	stop  chan struct{}
	once  sync.Once // it began, or never will
	err   error     // of the reading

	classes  int
	up, down int64 // bytes of the largest
}

// due is an exchange and when it is due, in ns after the load's start.
type due struct {
	atNs int64
	Draw
}

const (
	blockOfDues = 1024
	blocksAhead = 64
	mostFirst   = 4096 // exchanges that connections verify with; they take them in turn
	mostSpeed   = 1e6
)

// newReplay opens the trace of a load.
func newReplay(x contract.Exchange, l contract.Load) (*Replay, error) {
	t := *l.Trace
	switch {
	case !(t.Speed > 0) || t.Speed > mostSpeed:
		return nil, fmt.Errorf("load.trace.speed is %v, expected more than 0 up to %v", t.Speed, mostSpeed)
	case t.Part < 0 || t.Part >= partsOf(t):
		return nil, fmt.Errorf("load.trace.part is %d of %d, expected one of them from 0", t.Part, partsOf(t))
	case len(l.Classes) == 0 && !t.Times:
		return nil, errors.New("load.trace is given without load.classes, which say what its requests are")
	}
	file, err := os.OpenFile(t.File, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that nobody writes to would hold up the open
	if err != nil {
		return nil, fmt.Errorf("load.trace.file: %w", err)
	}
	r := &Replay{plan: t, file: file, classes: len(l.Classes), up: x.UpBytes, down: x.DownBytes, ahead: make(chan []due, blocksAhead), stop: make(chan struct{})}
	if r.body, err = traffic.OpenBody(file, nil, t.Begins); err == nil && r.body.Requests == 0 {
		err = errors.New("it has no requests")
	}
	if err == nil && !t.Times {
		err = r.readFirst(min(mostFirst, l.Connections))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load.trace.file: %s: %w", t.File, err), file.Close())
	}
	return r, nil
}

// begin begins to read ahead.
func (r *Replay) begin() { r.once.Do(func() { go r.read() }) }

// readFirst reads what connections verify with.
func (r *Replay) readFirst(n int) error {
	from, err := r.body.From(r.plan.FromNs)
	for err == nil && len(r.first) < n {
		var x traffic.Request
		if x, err = from.Next(); err == nil {
			r.first = append(r.first, r.drawOf(x, uint64(len(r.first))))
			err = r.fits(r.first[len(r.first)-1])
		}
	}
	if errors.Is(err, io.EOF) && len(r.first) == 0 {
		return errors.New("nothing is left of it at load.trace.from_ns")
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (r *Replay) drawOf(x traffic.Request, number uint64) Draw {
	if r.plan.Times {
		return Draw{Number: number}
	}
	if r.plan.Even {
		x.Up = max(1, x.Up, x.Down)
		x.Down = x.Up
	}
	return Draw{Number: number, Up: x.Up, Down: x.Down, Class: x.Class, Path: x.Path}
}

// fits reports what of an exchange is not as setup says.
func (r *Replay) fits(d Draw) error {
	switch {
	case r.plan.Times:
		return nil
	case d.Class >= r.classes:
		return fmt.Errorf("a request is of class %d, and load.classes has %d", d.Class, r.classes)
	case d.Up > r.up || d.Down > r.down:
		return fmt.Errorf("a request has %d bytes up and %d down, and exchange at most %d and %d", d.Up, d.Down, r.up, r.down)
	}
	if c, is := r.body.Carried[d.Path]; is && !r.plan.Even && int64(len(c.Content)) != d.Up {
		return fmt.Errorf("a request has %d bytes up and its body %d", d.Up, len(c.Content))
	}
	return nil
}

// verifying returns what connection n verifies with.
func (r *Replay) verifying(n uint64) Draw { return r.first[n%uint64(len(r.first))] }

// read reads ahead of the slots until close.
func (r *Replay) read() {
	defer close(r.ahead)
	w := r.walk()
	for {
		block := make([]due, 0, blockOfDues)
		for len(block) < blockOfDues {
			d, err := w.next()
			if err == nil {
				err = r.fits(d.Draw)
			}
			if err != nil {
				r.mu.Lock()
				r.err = err
				r.mu.Unlock()
				break
			}
			block = append(block, d)
		}
		select {
		case r.ahead <- block:
		case <-r.stop:
			return
		}
		if len(block) < blockOfDues {
			return
		}
	}
}

// take returns the next exchange; one that is never due when the file cannot be read on.
func (r *Replay) take() due {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.next == len(r.block) {
		block, more := <-r.ahead
		if !more {
			return due{atNs: draw.Never}
		}
		r.block, r.next = block, 0
	}
	r.next++
	return r.block[r.next-1]
}

// failure returns why the file could not be read on; nil while it could.
func (r *Replay) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// close ends the reading. It is called once.
func (r *Replay) close() error {
	r.once.Do(func() { close(r.ahead) })
	close(r.stop)
	for range r.ahead { // until the reading has ended
	}
	return r.file.Close()
}

// dueIn returns how many exchanges were due from one moment to another, in ns after the
// load's start, with a gap that spans an edge counted by its share.
func (r *Replay) dueIn(window span) float64 {
	n, last := 0.0, int64(0)
	for w := r.walk(); last < window.to; {
		d, err := w.next()
		if err != nil {
			break
		}
		n += window.share(last, d.atNs)
		last = d.atNs
	}
	return n
}

// walk is this client's part of the trace from its first exchange on. One goroutine uses
// it.
type walk struct {
	of     *Replay
	from   *traffic.Reader
	number uint64 // of the next request over all parts
	offset int64  // ns of the trace; of the round under way
	err    error
}

func (r *Replay) walk() *walk {
	w := &walk{of: r, offset: -r.plan.FromNs}
	w.from, w.err = r.body.From(r.plan.FromNs)
	return w
}

// next returns the next exchange of this part.
func (w *walk) next() (due, error) {
	for w.err == nil {
		x, err := w.from.Next()
		if errors.Is(err, io.EOF) {
			// The next round begins a mean gap after the last request.
			body := w.of.body
			w.offset += body.SpanNs + max(1, body.SpanNs/max(1, body.Requests-1))
			w.from, w.err = body.From(0)
			continue
		}
		if w.err = err; err != nil {
			break
		}
		number := w.number
		w.number++
		if number%uint64(partsOf(w.of.plan)) == uint64(w.of.plan.Part) {
			at := float64(x.AtNs+w.offset) / w.of.plan.Speed
			return due{int64(at), w.of.drawOf(x, number)}, nil
		}
	}
	return due{}, w.err
}
