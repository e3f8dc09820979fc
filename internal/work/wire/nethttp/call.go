package nethttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
)

// call makes the exchanges of one slot, whose goroutine owns it. It does what a
// program does: a new http.Request each time, through http.Client.
type call struct {
	ctx     context.Context // of its requests
	http    *http.Client
	content *codec.Exchange
	bodies  *bodies
	url     string
	method  string
	header  []string // Content-Type
	room    []byte   // of the encoded request
	accept  func([]byte) error
	over    func() // tells that the exchange is complete
}

// do carries out one exchange and returns the payload bytes that came back.
func (c *call) do() (int64, error) {
	request, err := c.content.Request(c.room)
	if err != nil {
		return 0, load.Failure(contract.Bug, fmt.Errorf("encode the request: %w", err))
	}
	if c.content.Structured() {
		c.room = request
	}
	if err := c.send(request); err != nil {
		c.room = nil // net/http may still be reading it
		return 0, err
	}
	c.over()
	return c.content.DownBytes, nil
}

func (c *call) send(request []byte) error {
	var body io.Reader
	if c.method == http.MethodPost {
		body = bytes.NewReader(request)
	}
	r, err := http.NewRequestWithContext(c.ctx, c.method, c.url, body)
	if err != nil {
		return load.Failure(contract.Bug, err) // the URL was parsed at setup
	}
	if body != nil {
		r.Header["Content-Type"] = c.header
	}
	return c.round(r)
}

// round sends a request and takes its reply.
func (c *call) round(r *http.Request) error {
	response, err := c.http.Do(r)
	if err != nil {
		var wrapped *url.Error // repeats the method and the URL
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return err
	}
	defer response.Body.Close()
	return c.bodies.take(response, c.accept)
}
