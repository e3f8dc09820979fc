package nethttp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
)

// How a client reads a reply's body: option read.
const (
	ReadAll    = "all"    // io.ReadAll, as most programs do
	ReadPooled = "pooled" // into a buffer from a sync.Pool
)

// ReadOption declares option read.
func ReadOption() contract.Option {
	return contract.Option{
		Name: "read", Type: contract.TypeChoice, Default: ReadAll, Choices: []string{ReadAll, ReadPooled},
		Roles: []contract.Role{contract.Client},
		Doc:   "how a reply's body is read: all, by io.ReadAll; pooled, into a buffer of the right size from a sync.Pool",
	}
}

// bodies reads the bodies of replies, whole and contiguous. Any goroutine may
// use it.
type bodies struct {
	most   int64 // the longest reply
	any    bool  // any length will do
	pooled bool
	pool   sync.Pool // of *[]byte with want+1 bytes
}

func newBodies(c *httpwire.Client, read string) *bodies {
	want := c.Content.DownBytes
	b := &bodies{most: want, any: c.Ask.Any, pooled: read == ReadPooled && !c.Ask.Any}
	if b.any {
		b.most = contract.MaxMessage
	}
	b.pool.New = func() any { room := make([]byte, want+1); return &room }
	return b
}

// takeBody reads the reply to a request to its end and hands its body to the request's
// Accept, which must not keep it. A reply with another status or size is an error of kind invalid;
// no more of it is read than the expected size.
func (b *bodies) takeBody(r *http.Response, of *httpwire.Request) error {
	down := of.Down
	if b.any {
		down = b.most
	}
	if !of.Ask.Takes(r.StatusCode) {
		err := refuse(r.Body, "the reply has status %s%s, expected %s", r.Status, reason(r.Body), of.Ask.Expected())
		return httpwire.WrongStatus(r.StatusCode, err)
	}
	if r.ContentLength >= 0 && r.ContentLength != down && !b.any {
		return refuse(r.Body, "the reply has %d bytes, expected %d", r.ContentLength, down)
	}
	of.Replied()
	body := of.Follow.Begin(r.Body, func() { _ = r.Body.Close() })
	if of.Follow.Discards() {
		if _, err := io.Copy(io.Discard, body); err != nil {
			return fmt.Errorf("read the reply: %w", err)
		}
		return nil
	}
	if !b.pooled {
		return b.takeAll(r, body, down, of.Accept)
	}
	room := b.pool.Get().(*[]byte)
	defer b.pool.Put(room)
	n, err := fill(body, (*room)[:down+1])
	return b.judge((*room)[:n], down, r.Body, err, of.Accept)
}

func (b *bodies) takeAll(r *http.Response, body io.Reader, down int64, accept func([]byte) error) error {
	if r.ContentLength < 0 {
		body = io.LimitReader(body, down+1) // otherwise net/http bounds it
	}
	reply, err := io.ReadAll(body)
	return b.judge(reply, down, r.Body, err, accept)
}

// judge checks a body of down bytes that ended with err or at the bound.
func (b *bodies) judge(reply []byte, down int64, rest io.Reader, err error, accept func([]byte) error) error {
	switch n := int64(len(reply)); {
	case err != nil:
		// The connection ended before the body did: it is lost.
		return fmt.Errorf("read the reply: %w after %d of %d bytes", err, n, down)
	case n > down:
		return refuse(rest, "the reply has more than the expected %d bytes", down)
	case n < down && !b.any:
		return refuse(rest, "the reply has %d bytes, expected %d", n, down)
	}
	return load.Invalidly(accept(reply))
}

// refuse returns an error of kind invalid. It reads the rest of the body, up to a
// bound, so that the connection can be used again.
func refuse(rest io.Reader, format string, args ...any) error {
	const most = 256 << 10
	_, _ = io.CopyN(io.Discard, rest, most) // a connection that broke shows in the next exchange
	return load.Failure(contract.Invalid, fmt.Errorf(format, args...))
}

// reason returns what a body says about a status.
func reason(body io.Reader) string {
	const most = 200
	text, _ := io.ReadAll(io.LimitReader(body, most)) // a part of it will do
	return httpwire.Reason(text)
}

// fill reads until the end or until room is full, whichever comes first.
func fill(from io.Reader, room []byte) (int, error) {
	n := 0
	for n < len(room) {
		got, err := from.Read(room[n:])
		n += got
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
