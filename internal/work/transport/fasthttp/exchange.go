package gofasthttp

import (
	"bufio"
	"errors"
	"net"
	"sync"

	"github.com/valyala/fasthttp"

	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
)

// mostHead is the largest head of a reply that a client reads, in bytes.
const mostHead = 64 << 10

// wide are readers for heads that a connection's own buffer does not hold.
var wide = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, mostHead) }}

// exchange carries requests as fasthttp.DefaultTransport does, and takes what any client
// must (RFC 9110, section 15.2) or that servers send: interim replies, of which the
// library knows 100 alone, and heads larger than the buffer. It tells when the first byte of
// a reply comes.
type exchange struct{ of *httpwire.Request }

// RoundTrip implements fasthttp.RoundTripper; nothing is sent again by the library.
func (x *exchange) RoundTrip(host *fasthttp.HostClient, request *fasthttp.Request, response *fasthttp.Response) (bool, error) {
	c, err := host.AcquireConn(0, request.ConnectionClose())
	if err != nil {
		return false, load.UnsentError{Err: err}
	}
	if err := x.converse(host, c.Conn(), request, response); err != nil {
		host.CloseConn(c)
		return false, err
	}
	if request.ConnectionClose() || response.ConnectionClose() {
		host.CloseConn(c)
	} else {
		host.ReleaseConn(c)
	}
	return false, nil
}

func (x *exchange) converse(host *fasthttp.HostClient, conn net.Conn, request *fasthttp.Request, response *fasthttp.Response) error {
	w := host.AcquireWriter(conn)
	err := request.Write(w)
	if err == nil {
		err = w.Flush()
	}
	host.ReleaseWriter(w)
	if err != nil {
		return err
	}
	response.SkipBody = request.Header.IsHead()
	r := host.AcquireReader(conn)
	defer host.ReleaseReader(r)
	if _, err = r.Peek(1); err == nil {
		x.of.Replied()
	}
	err = final(response, r, host.MaxResponseBodySize)
	if small := (*fasthttp.ErrSmallBuffer)(nil); errors.As(err, &small) { // nothing was taken from r
		large := wide.Get().(*bufio.Reader)
		defer wide.Put(large)
		large.Reset(r)
		return final(response, large, host.MaxResponseBodySize)
	}
	return err
}

// final reads the reply that follows any interim ones.
func final(response *fasthttp.Response, r *bufio.Reader, most int) error {
	const mostInterim = 64 // a server may not send them for ever
	for range mostInterim {
		if err := response.ReadLimitBody(r, most); err != nil || response.StatusCode() >= fasthttp.StatusOK || response.StatusCode() == fasthttp.StatusSwitchingProtocols {
			return err
		}
	}
	return errors.New("the server sent 64 interim replies (1xx) and no final one")
}
