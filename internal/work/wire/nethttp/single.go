package nethttp

import (
	"io"
	"net/http"
	"sync"
)

// onlyOne carries every request on one connection, which it makes for the first.
// An exchange waits there while all streams of the connection are in use. (With
// StrictMaxConcurrentRequests, the pool of an http.Transport of Go 1.26 waits for
// ever.) Any goroutine may use it.
type onlyOne struct {
	transport *http.Transport
	once      sync.Once
	conn      *http.ClientConn
	err       error
}

// RoundTrip implements http.RoundTripper.
func (o *onlyOne) RoundTrip(r *http.Request) (*http.Response, error) {
	o.once.Do(func() { o.conn, o.err = dial(o.transport, r) })
	if o.err != nil {
		return nil, o.err
	}
	return o.conn.RoundTrip(r)
}

// eachItsOwn carries each request on a connection of its own.
type eachItsOwn struct{ transport *http.Transport }

// RoundTrip implements http.RoundTripper; the reply's Body closes the connection.
func (e *eachItsOwn) RoundTrip(r *http.Request) (*http.Response, error) {
	conn, err := dial(e.transport, r)
	if err != nil {
		return nil, err
	}
	response, err := conn.RoundTrip(r)
	if err != nil {
		_ = conn.Close() // it has failed already
		return nil, err
	}
	response.Body = &lastBody{response.Body, conn}
	return response, nil
}

func dial(t *http.Transport, r *http.Request) (*http.ClientConn, error) {
	return t.NewClientConn(r.Context(), r.URL.Scheme, r.URL.Host)
}

// lastBody is a body whose Close also closes its connection.
type lastBody struct {
	io.ReadCloser
	conn *http.ClientConn
}

// Close implements io.Closer.
func (b *lastBody) Close() error {
	err := b.ReadCloser.Close()
	_ = b.conn.Close() // the reply is complete, or its failure known
	return err
}
