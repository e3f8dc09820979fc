package nethttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
)

// Do implements httpwire.Library. It does what a program does: a new http.Request
// each time, through http.Client.
func (c *client) Do(ctx context.Context, r *httpwire.Request) error {
	var body io.Reader
	if len(r.Content) > 0 || r.Method == http.MethodPost {
		body = bytes.NewReader(r.Content)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return load.Failure(contract.Bug, err) // the URL was parsed at setup
	}
	if body != nil {
		request.Header["Content-Type"] = c.mediaType
	}
	for _, h := range r.Ask.Headers {
		request.Header.Set(h[0], h[1])
	}
	if r.Ask.Host != "" {
		request.Host = r.Ask.Host
	}
	response, err := c.clients[r.Connection%len(c.clients)].Do(request)
	if err != nil {
		var wrapped *url.Error // repeats the method and the URL
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return err
	}
	defer response.Body.Close()
	return c.bodies.take(response, r.Accept)
}
