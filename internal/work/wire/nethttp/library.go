package nethttp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/httpwire"
)

// Library carries requests by http.Client; it implements httpwire.Library. Any
// goroutine may use it once every connection has its transport.
type Library struct {
	bodies    *bodies
	clients   []*http.Client // by connection; one alone when shared
	mediaType []string
}

// NewLibrary returns what carries the requests of c, with no transports yet.
func NewLibrary(c *httpwire.Client) *Library {
	l := &Library{
		bodies:    newBodies(c, load.Options(c.Setup.Options).Text("read")),
		mediaType: []string{c.Content.MediaType()},
	}
	c.Library = l
	return l
}

// Carry gives the next connection its transport; one alone carries the requests of
// all. No redirection is followed, because that would be another exchange.
func (l *Library) Carry(by http.RoundTripper) {
	l.clients = append(l.clients, &http.Client{
		Transport:     by,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
}

// Close ends what the transports keep for connections that carry nothing.
func (l *Library) Close() {
	for _, c := range l.clients {
		c.CloseIdleConnections()
	}
}

// Do implements httpwire.Library. It does what a program does: a new http.Request
// each time, through http.Client.
func (l *Library) Do(ctx context.Context, r *httpwire.Request) error {
	var body io.Reader
	if len(r.Content) > 0 || r.Method == http.MethodPost {
		body = bytes.NewReader(r.Content)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return load.Failure(contract.Bug, err) // the URL was parsed at setup
	}
	if body != nil {
		if request.Header["Content-Type"] = l.mediaType; r.MediaType != l.mediaType[0] {
			request.Header["Content-Type"] = []string{r.MediaType}
		}
	}
	if r.Asks {
		request.Header.Set(codec.DownHeader, strconv.FormatInt(r.Down, 10))
	}
	r.Ask.Set(request.Header.Set, request.Header.Add)
	if r.Ask.Host != "" {
		request.Host = r.Ask.Host
	}
	response, err := l.clients[r.Connection%len(l.clients)].Do(request)
	if err != nil {
		var wrapped *url.Error // repeats the method and the URL
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		if errors.Is(err, io.EOF) {
			return wire.ErrNoReply
		}
		return Named(err)
	}
	defer response.Body.Close()
	err = l.bodies.takeBody(response, r)
	if r.Follow.Ended() && load.KindOf(err) == contract.Peer {
		return nil // this end has ended the body
	}
	if err != nil {
		return Named(err)
	}
	return nil
}

// libraryBuffer is what net/http takes for http.Transport.ReadBufferSize and
// WriteBufferSize of 0, in bytes.
const libraryBuffer = 4 << 10

// BufferOptions declares what BuffersOf reads. They are options of clients: the
// server of net/http has no sizes to set.
func BufferOptions() []contract.Option {
	zero, most := 0.0, float64(64<<20)
	option := func(name, field string) contract.Option {
		return contract.Option{
			Name: name, Type: contract.TypeBytes, Default: 0, Min: &zero, Max: &most, Roles: []contract.Role{contract.Client},
			Doc:  field + "; 0 takes the library's 4 KiB",
			Grid: []string{"32KiB", "256KiB"}, As: map[contract.Role]string{contract.Client: field + " = {value}"},
		}
	}
	return []contract.Option{
		option("read_buffer", "http.Transport.ReadBufferSize"),
		option("write_buffer", "http.Transport.WriteBufferSize"),
	}
}

// Buffers are a client's buffers for each connection of HTTP/1.1, in bytes.
type Buffers struct{ Read, Write int64 }

// BuffersOf reads the options of a client.
func BuffersOf(setup contract.Setup) Buffers {
	o := load.Options(setup.Options)
	return Buffers{Read: cmp.Or(o.Int("read_buffer"), libraryBuffer), Write: cmp.Or(o.Int("write_buffer"), libraryBuffer)}
}

// Apply sets the buffers of t.
func (b Buffers) Apply(t *http.Transport) {
	t.ReadBufferSize, t.WriteBufferSize = int(b.Read), int(b.Write)
}

// Effective writes into options what ready reports.
func (b Buffers) Effective(options map[string]any) {
	options["read_buffer"], options["write_buffer"] = b.Read, b.Write
}
