package printable

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"unicode/utf8"
)

// palette are the escape sequences that a coloured Writer lets through: those
// that the text report paints with. None of them moves, hides or answers.
var palette = []string{"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[35m"}

// Writer passes on what Lines makes of everything written to it. It stands
// between a program and its terminal, so that no print can be forgotten. Any
// goroutine may use it.
type Writer struct {
	mu       sync.Mutex
	to       io.Writer
	coloured bool
	ascii    bool
	folder   folder
	held     []byte // of a character or sequence that the next write may complete
}

// NewWriter returns a Writer without colours.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// NewColouredWriter returns a Writer that lets the report's colours through.
// What is written to it must have been made printable piece by piece: colours
// in somebody else's words pass too.
func NewColouredWriter(to io.Writer) *Writer { return &Writer{to: to, coloured: true} }

// InASCII makes the Writer write the characters of this program in ASCII, and
// returns it. It is called before the first Write.
func (w *Writer) InASCII() *Writer {
	w.ascii = true
	return w
}

// Write implements io.Writer. The error is the underlying writer's; a character
// that p leaves incomplete waits for the next Write or Flush.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.held, p...)
	end := len(text) - w.unfinished(text)
	w.held = slices.Clone(text[end:])
	if err := w.pass(text[:end]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what waits for its completion.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.held
	w.held = nil
	return w.pass(text)
}

func (w *Writer) pass(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	out := make([]byte, 0, len(text)+utf8.UTFMax)
	for len(text) > 0 {
		if n := w.colour(text); n > 0 {
			out, text = append(out, text[:n]...), text[n:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		if r = shownInLines(r); w.ascii {
			out = w.folder.append(out, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
		text = text[size:]
	}
	_, err := w.to.Write(out)
	return err
}

// colour returns the length of the palette's sequence that text begins with.
func (w *Writer) colour(text []byte) int {
	if !w.coloured {
		return 0
	}
	for _, c := range palette {
		if bytes.HasPrefix(text, []byte(c)) {
			return len(c)
		}
	}
	return 0
}

// unfinished returns how many bytes at the end of text may be the beginning of
// a character or of one of the palette's sequences.
func (w *Writer) unfinished(text []byte) int {
	if w.coloured {
		for _, c := range palette {
			for n := len(c) - 1; n > 0; n-- {
				if bytes.HasSuffix(text, []byte(c[:n])) {
					return n
				}
			}
		}
	}
	return incomplete(text)
}
