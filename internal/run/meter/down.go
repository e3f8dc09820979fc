package meter

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/usage"
)

// Commands that the worker has not taken yet wait in the meter, so that the
// end of the bench's stream is seen even when the worker does not read.
const (
	maxWaiting      = 4096
	maxWaitingBytes = 4 * contract.MaxLine
)

// down carries the bench's commands to the worker. receive and send run in a
// goroutine each.
type down struct {
	stdin   io.WriteCloser
	marks   *marks
	tcp     *connections
	udp     *datagrams
	profile func()              // the setup asks for one
	examine func()              // answers the bench's question about the worker
	lease   func(time.Duration) // the bench is there for so long
	queue   chan []byte
	waiting atomic.Int64 // bytes in queue

	begun    *startUp
	windowNs atomic.Int64 // as the setup says
	quit     chan struct{}
}

func newDown(stdin io.WriteCloser, m *marks, c *connections, u *datagrams) *down {
	return &down{begun: new(startUp), stdin: stdin, marks: m, tcp: c, udp: u, queue: make(chan []byte, maxWaiting), quit: make(chan struct{})}
}

// receive reads commands until the bench's stream ends and says why in the
// returned ending.
func (d *down) receive(in io.Reader) ending {
	defer close(d.queue)
	for lines := newLines(in); ; {
		line, err := lines.nextLine()
		if errors.Is(err, errLong) {
			return broken(&contract.LineError{Line: excerpt(line), Reason: "a command " + errLong.Error()})
		}
		switch key(line) {
		case "examine":
			d.examine()
			continue
		case "lease":
			m, err := contract.Parse(line)
			if err != nil {
				return broken(err)
			}
			d.lease(time.Duration(m.Lease.ForNs))
			continue
		}
		if len(line) > 0 {
			if d.waiting.Add(int64(len(line))) > maxWaitingBytes {
				return deaf()
			}
			select {
			case d.queue <- bytes.Clone(line):
			default:
				return deaf()
			}
		}
		if err != nil {
			// Not to be able to read means the same as the end: nobody is there.
			return ending{reason: StdinClosed}
		}
	}
}

// send writes commands until receive has ended or the worker takes no more,
// and closes the worker's stdin.
func (d *down) send() {
	defer d.stdin.Close()
	for {
		select {
		case <-d.quit:
			return
		case line, more := <-d.queue:
			if !more {
				return
			}
			d.waiting.Add(-int64(len(line)))
			d.learn(line)
			if _, err := d.stdin.Write(line); err != nil {
				return // the worker has closed its stdin; how it ends tells why
			}
		}
	}
}

// learn keeps what the meter must know of a command before the worker has it.
func (d *down) learn(line []byte) {
	switch key(line) {
	case "mark", "setup":
		m, err := contract.Parse(line)
		switch {
		case err != nil: // the worker will say so
		case m.Mark != nil:
			d.marks.passed(m.Mark.ID)
		case m.Setup != nil:
			d.begun.setupNs.CompareAndSwap(0, usage.Now())
			d.tcp.setUp(m.Setup)
			d.udp.setUp(m.Setup)
			d.windowNs.Store(m.Setup.WindowNs)
			if m.Setup.Profile && d.profile != nil {
				d.profile()
			}
		}
	}
}

// startUp remembers when a worker began, when it said hello and when it got its setup.
// Any goroutine may use it.
type startUp struct{ fromNs, helloNs, setupNs atomic.Int64 }

func (s *startUp) saidHello() {
	if s != nil {
		s.helloNs.CompareAndSwap(0, usage.Now())
	}
}

// until returns how long it took to be ready at an instant; nil where the worker said no
// hello or got no setup.
func (s *startUp) until(atNs int64) *contract.StartUp {
	if s == nil {
		return nil
	}
	from, hello, setup := s.fromNs.Load(), s.helloNs.Load(), s.setupNs.Load()
	if from == 0 || hello < from || setup == 0 || atNs < setup {
		return nil
	}
	return &contract.StartUp{HelloNs: hello - from, SetupNs: atNs - setup}
}

// deaf is the ending of a worker that leaves its commands unread.
func deaf() ending {
	return ending{reason: Invalid, fault: &contract.Error{Kind: contract.Invalid, Fatal: true,
		Text: "the worker does not read its commands: more wait than the meter may keep; " +
			"read stdin in every state (CONTRACT.md, section Life)"}}
}

// marks remembers when mark commands passed. Any goroutine may use it.
type marks struct {
	mu   sync.Mutex
	list []passedMark
}

type passedMark struct {
	id   int
	atNs int64
}

// maxMarks bounds the marks that a worker may leave unanswered; of more, the
// oldest are forgotten and their answers have no skew.
const maxMarks = 64

func (m *marks) passed(id int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.list) == maxMarks {
		m.list = append(m.list[:0], m.list[1:]...)
	}
	m.list = append(m.list, passedMark{id, usage.Now()})
}

// latest returns the id of the mark that passed last and was not answered; 0 for none.
func (m *marks) latest() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.list) == 0 {
		return 0
	}
	return m.list[len(m.list)-1].id
}

// skew returns the time in ns from the command's passing to atNs and forgets
// the mark; 0 for one that was never asked for.
func (m *marks) skew(id int, atNs int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, p := range m.list {
		if p.id == id {
			m.list = append(m.list[:i], m.list[i+1:]...)
			return atNs - p.atNs
		}
	}
	return 0
}
