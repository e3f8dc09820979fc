package baidustd

import (
	"bufio"
	"errors"
	"io"
)

// firstStep is how much is allocated for a body at first, whatever its header
// announces. The buffer then grows to at most twice what has been received.
const firstStep = 64 << 10

// Reader reads frames. One goroutine at a time uses it.
type Reader struct {
	in      *bufio.Reader
	maxBody int64
	body    []byte // of the last frame; its room serves the next
	err     error  // ends the reader
}

// NewReader reads frames from in, asking for so many bytes at once. A body
// larger than maxBody is malformed.
func NewReader(in io.Reader, buffer int, maxBody int64) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, max(buffer, headerSize)), maxBody: maxBody}
}

// Next returns the next frame. The error is io.EOF between two frames,
// io.ErrUnexpectedEOF within one, wraps ErrMalformed for bytes that are no frame,
// or is the connection's own. After an error every call returns it.
func (r *Reader) Next() (Frame, error) {
	if r.err != nil {
		return Frame{}, r.err
	}
	f, err := r.nextFrame()
	r.err = err
	return f, err
}

func (r *Reader) nextFrame() (Frame, error) {
	header, err := r.in.Peek(headerSize)
	switch {
	case err == nil:
	case len(header) > 0 && errors.Is(err, io.EOF):
		return Frame{}, io.ErrUnexpectedEOF
	case len(header) == 0 && errors.Is(err, io.ErrUnexpectedEOF):
		return Frame{}, io.EOF // so package tls puts an end without a close_notify
	default:
		return Frame{}, err
	}
	body, meta, err := sizes(header, r.maxBody)
	if err != nil {
		return Frame{}, err
	}
	_, _ = r.in.Discard(headerSize) // it has been peeked at
	if err := r.fill(body); err != nil {
		return Frame{}, err
	}
	return frameOf(r.body, meta)
}

// fill reads a body of n bytes.
func (r *Reader) fill(n int) error {
	for have := 0; have < n; {
		if cap(r.body) < n {
			r.grow(have, min(n, max(2*have, firstStep)))
		}
		step := min(n, cap(r.body))
		if _, err := io.ReadFull(r.in, r.body[have:step]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		have = step
	}
	r.body = r.body[:n]
	return nil
}

// grow gives the body room for n bytes and keeps the first ones.
func (r *Reader) grow(have, n int) {
	if cap(r.body) >= n {
		return
	}
	room := make([]byte, n)
	copy(room, r.body[:have])
	r.body = room
}

// Whole reports whether Next can return without waiting: a whole frame has been
// received, or bytes that are none.
func (r *Reader) Whole() bool {
	if r.err != nil {
		return true
	}
	if r.in.Buffered() < headerSize {
		return false
	}
	header, _ := r.in.Peek(headerSize) // it is there
	body, _, err := sizes(header, r.maxBody)
	return err != nil || r.in.Buffered() >= headerSize+body
}
