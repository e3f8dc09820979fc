package contract

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// MaxMessage bounds in bytes what one exchange may carry in one direction: workers
// refuse a setup that asks for more before they allocate it, and a plan does first.
const MaxMessage = 1 << 30

// MaxLine bounds one line in bytes, its newline included; a longer one is refused
// before it is stored. The largest honest message is a result with three
// histograms, some 40 KB.
const MaxLine = 1 << 20

// LineError is a line that does not follow the contract. Its text teaches:
// what was found, what was expected and where CONTRACT.md says so.
type LineError struct {
	Line   string // the beginning of the offending line
	Reason string
	Torn   bool // the stream cannot be read on: it ended in the line, or the line was too long to skip
	Value  bool // it is a message, with a value that cannot be
}

func (e *LineError) Error() string {
	if e.Value {
		return fmt.Sprintf("out of range: %s; the line was %q (CONTRACT.md, section Lines)", e.Reason, e.Line)
	}
	return fmt.Sprintf("not a contract message: %s; the line was %q; stdout carries JSON lines only, "+
		"free text belongs on stderr (CONTRACT.md, section Lines)", e.Reason, e.Line)
}

// Reader reads messages line by line. One goroutine may use it.
type Reader struct{ buf *bufio.Reader }

// NewReader returns a Reader over r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, 64<<10)} }

// Read returns the next message, io.EOF after the last whole line, or a
// *LineError for a line that is too long, torn or not a message.
func (r *Reader) Read() (Message, error) {
	line, err := r.readLine()
	if err != nil {
		return Message{}, err
	}
	return Parse(line)
}

func (r *Reader) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := r.buf.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, &LineError{Line: excerpt(append(line, part...)), Reason: fmt.Sprintf("longer than %d bytes", MaxLine), Torn: true}
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, &LineError{Line: excerpt(line), Reason: "the stream ended in the middle of a line", Torn: true}
		default:
			return nil, err
		}
	}
}

// Parse decodes one line. Unknown fields inside a message are ignored; a line
// without exactly one known message, or with a count below 0, is a *LineError.
func Parse(line []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(line, &m); err != nil {
		return m, &LineError{Line: excerpt(line), Reason: err.Error()}
	}
	if n := m.keys(); n != 1 {
		return m, &LineError{Line: excerpt(line), Reason: fmt.Sprintf("it has %d of the known message keys, expected exactly one", n)}
	}
	if wrong := m.wrongValue(); wrong != "" {
		return m, &LineError{Line: excerpt(line), Reason: wrong, Value: true}
	}
	return m, nil
}

func (m *Message) keys() int {
	n := 0
	for _, set := range []bool{
		m.Hello != nil, m.Setup != nil, m.Ready != nil, m.Start != nil, m.Mark != nil,
		m.Tick != nil, m.Stop != nil, m.Part != nil, m.Result != nil, m.Error != nil, m.Exit != nil,
		m.Examine != nil, m.Examined != nil, m.Lease != nil,
	} {
		if set {
			n++
		}
	}
	return n
}

// Name returns the message's key, for errors and logs.
func (m *Message) Name() string {
	switch {
	case m.Hello != nil:
		return "hello"
	case m.Setup != nil:
		return "setup"
	case m.Ready != nil:
		return "ready"
	case m.Start != nil:
		return "start"
	case m.Mark != nil:
		return "mark"
	case m.Tick != nil:
		return "tick"
	case m.Stop != nil:
		return "stop"
	case m.Part != nil:
		return "part"
	case m.Result != nil:
		return "result"
	case m.Error != nil:
		return "error"
	case m.Exit != nil:
		return "exit"
	case m.Examine != nil:
		return "examine"
	case m.Examined != nil:
		return "examined"
	case m.Lease != nil:
		return "lease"
	}
	return "nothing"
}

func excerpt(line []byte) string {
	const keep = 120
	if len(line) > keep {
		return string(line[:keep]) + "…"
	}
	return string(line)
}

// Writer writes messages, one whole line per call. Any goroutine may use it.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewWriter returns a Writer over w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write sends one message. Its error is the transport's, or json's for a
// message that cannot be encoded (a NaN).
func (w *Writer) Write(m Message) error {
	line, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.Name(), err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", m.Name(), err)
	}
	return nil
}

// Stdin returns the process's standard input in a form whose reads wait in
// Go's poller. A blocking read would wait in a system call that holds its P:
// what it has just handed on then waits until the runtime notices, up to 10 ms
// later, and a mark would be answered that late. Only pipes and sockets are
// changed: a terminal is shared with others.
func Stdin() *os.File {
	var stat syscall.Stat_t
	if syscall.Fstat(0, &stat) != nil {
		return os.Stdin
	}
	if kind := stat.Mode & syscall.S_IFMT; kind != syscall.S_IFIFO && kind != syscall.S_IFSOCK {
		return os.Stdin
	}
	if syscall.SetNonblock(0, true) != nil {
		return os.Stdin
	}
	return os.NewFile(0, "/dev/stdin") // non-blocking, so that it goes to the poller
}
