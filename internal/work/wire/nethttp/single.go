package nethttp

import (
	"io"
	"net/http"
	"sync"
)

// onlyOne carries every request on one connection, which it makes for the first and
// again when the server has left it. An exchange waits there while all streams of the
// connection are in use. (With StrictMaxConcurrentRequests, the pool of an
// http.Transport of Go 1.26 waits for ever.) Any goroutine may use it.
type onlyOne struct {
	transport *http.Transport
	mu        sync.Mutex // held while it dials
	conn      *http.ClientConn
}

// RoundTrip implements http.RoundTripper. What the server has not looked at is sent
// again, as an http.Transport does.
func (o *onlyOne) RoundTrip(r *http.Request) (*http.Response, error) {
	for tries := 1; ; tries++ {
		conn, err := o.current(r)
		if err != nil {
			return nil, err
		}
		response, err := conn.RoundTrip(r)
		if err == nil || !unprocessed(err) || tries == mostBarren {
			return response, err
		}
		o.leave(conn, err)
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			again := *r
			r, again.Body = &again, body
		}
	}
}

// current returns the connection, made anew where the last one is lost.
func (o *onlyOne) current(r *http.Request) (*http.ClientConn, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conn != nil && o.conn.Err() == nil {
		return o.conn, nil
	}
	conn, err := dial(o.transport, r)
	o.conn = conn
	return conn, err
}

// leave makes the next request take another connection; conn closes itself once its
// streams have ended. A connection that refused one stream alone stays.
func (o *onlyOne) leave(conn *http.ClientConn, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conn == conn && (err.Error() == leftByServer || err.Error() == notUsable) {
		o.conn = nil
	}
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
