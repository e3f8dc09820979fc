package target

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/events"
	"netdyno/internal/input"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

const (
	mostBody = 64 << 20 // bytes of a request's body
)

// reply is what one request brought.
type reply struct {
	proto, status, server string
	code                  int
	bytes                 int64
	reused                bool // the connection was that of an earlier request
	closes                bool // its connection will not be that of another
	offers                bool // it says that HTTP/3 answers at the same port
	heard                 *heard
	at                    netip.AddrPort
	came                  came
}

// askHTTP asks a server of HTTP, of either version, encrypted or not.
func askHTTP(ctx context.Context, t Target, u *url.URL) (Found, error) {
	if several := len(t.Paths) > 0; several && u.RequestURI() != "/" {
		return Found{}, fmt.Errorf("the URL names the path %s, and --paths names others; expected %s://%s alone", quantity.Clip(u.RequestURI(), 80), u.Scheme, u.Host)
	}
	body, err := t.body(ctx)
	if err != nil {
		return Found{}, err
	}
	transport, end, err := t.carrier()
	if err != nil {
		return Found{}, err
	}
	defer end()
	way := t.newWay()
	var replies []reply
	var lengths []int64
	var takes []time.Duration
	met := samples{}
	for i := 0; i < t.least() || len(t.Classes) == 0 && !t.Events.Follow && met.of(t).wants(); i++ {
		one, where, content, err := t.turn(u, body, i)
		if err != nil {
			return Found{}, err
		}
		once := func(takes *[]time.Duration) (r reply, err error) {
			err = t.timed(ctx, takes, func(ctx context.Context) (err error) {
				r, err = one.ask(ctx, transport, t.Fill.url(where.String()), content)
				return err
			})
			return r, err
		}
		r, err := once(&takes)
		if err != nil {
			if t.passing(err) {
				if err = met.of(one).failed(err); err == nil {
					i-- // the same once more
					continue
				}
			}
			var to redirected
			if !t.Follow || one.class != "" || !errors.As(err, &to) {
				return Found{}, one.refused(ctx, where, err, replies, func() (reply, error) { return once(new([]time.Duration)) })
			}
			if t.differs() {
				return Found{}, fmt.Errorf("%s redirects, and where to may depend on what {} stands for: name the URL that it leads to", Shown(u))
			}
			if u, err = t.follow(way, u, to); err != nil {
				return Found{}, err
			}
			if to.code != http.StatusTemporaryRedirect && to.code != http.StatusPermanentRedirect && body != "" {
				body = "" // as curl and browsers do
			}
			i, replies, lengths, takes, met = -1, nil, nil, nil, samples{}
			continue
		}
		met.of(one).good++
		t.Events.Follow = t.Events.Follow || r.came.kind != ""
		if err := one.sound(where, r); err != nil {
			return Found{}, err
		}
		replies, lengths = append(replies, r), append(lengths, r.bytes)
	}
	f, err := t.found(u, body, replies)
	f.Words += way.words()
	f.took(median(takes), replies[len(replies)-1].came)
	if err == nil {
		err = t.addExpected(&f, lengths)
	}
	return f, err
}

// refused says why what a request brought is not measured; again makes the same once more.
func (t Target) refused(ctx context.Context, where *url.URL, err error, before []reply, again func() (reply, error)) error {
	if errors.Is(err, errNoEvents) {
		return fmt.Errorf("%s: %w", Shown(where), err)
	}
	said := err
	if len(t.Paths) == 0 && t.class == "" {
		said = agreed(err, before, again)
	}
	return t.ofClass(where, err, t.misspoken(ctx, where, said))
}

// body is what the requests carry.
func (t Target) body(ctx context.Context) (string, error) {
	body := t.Body
	if t.BodyFile != "" {
		text, err := input.Within(ctx, mostBody)(t.BodyFile)
		if err != nil {
			return "", fmt.Errorf("body file: %w", err)
		}
		body = string(text)
	}
	fields, err := t.fields()
	if err != nil {
		return "", err
	}
	body = t.Fill.body(body, fields)
	if len(body) > mostBody {
		return "", fmt.Errorf("the body has more than %d bytes, the most that a request can carry", mostBody)
	}
	return body, nil
}

// trust is how a server's certificate is checked, and the client's shown.
func (t Target) trust() (*tls.Config, error) {
	config := &tls.Config{ServerName: t.SNI, InsecureSkipVerify: t.Insecure}
	if t.CA != "" {
		text, err := input.Whole(t.CA, 1<<20)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("ca: %s holds no certificate, expected PEM text with at least one", t.CA)
		}
	}
	if t.Cert != "" || t.Key != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("cert and key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// transport carries requests over TCP.
func (t Target) transport() (*http.Transport, error) {
	config, err := t.trust()
	if err != nil {
		return nil, err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!t.HTTP2)
	protocols.SetHTTP2(!t.HTTP1)
	protocols.SetUnencryptedHTTP2(t.HTTP2)
	transport := &http.Transport{TLSClientConfig: config, DisableCompression: true, Protocols: protocols, DialContext: t.hear, TLSHandshakeTimeout: t.ConnectLimit}
	if t.Proxy != nil {
		transport.Proxy = http.ProxyURL(t.Proxy)
		transport.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
			if r.StatusCode != http.StatusOK {
				return tunnelError{r.Status, r.StatusCode}
			}
			return nil
		}
	}
	return transport, nil
}

// carrier carries the requests as the client of a trial will, until its end is called.
func (t Target) carrier() (carrier http.RoundTripper, end func(), err error) {
	if t.HTTP3 {
		overQUIC, err := t.overQUIC()
		if err != nil {
			return nil, nil, err
		}
		return overQUIC, func() { _ = overQUIC.Close() }, nil // its answers are known
	}
	overTCP, err := t.transport()
	if err != nil {
		return nil, nil, err
	}
	return overTCP, overTCP.CloseIdleConnections, nil
}

// tunnelError is what a proxy answers in place of a tunnel.
type tunnelError struct {
	status string
	code   int
}

func (e tunnelError) Error() string { return e.status }

// ask makes one request and reads its reply to the end.
func (t Target) ask(ctx context.Context, transport http.RoundTripper, where, body string) (reply, error) {
	method := t.Method
	if method == "" && body != "" {
		method = http.MethodPost
	}
	var r reply
	course := new(course)
	ctx = course.trace(ctx)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { t.asked.Add(1) }, GotConn: func(i httptrace.GotConnInfo) {
		r.reused, r.at = i.Reused, reached(i.Conn.RemoteAddr())
		r.heard, _ = i.Conn.(*heard) // not where it is encrypted
	}})
	request, err := http.NewRequestWithContext(ctx, method, where, strings.NewReader(body))
	if err != nil {
		return r, err
	}
	request.Close = t.Close
	if err := t.dress(request, body); err != nil {
		return r, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return r, astray{err, course}
	}
	defer response.Body.Close()
	defer course.head(response)()
	r.closes = response.Close
	r.proto, r.status, r.code, r.server = response.Proto, response.Status, response.StatusCode, response.Header.Get("Server")
	r.offers = !t.HTTP3 && offersHTTP3(response.Header, request.URL)
	if r.code == http.StatusSwitchingProtocols { // what follows is no reply, and the library reads it beyond any deadline
		return r, fmt.Errorf("%s answers %s: it goes on in another protocol than HTTP, which cannot be measured", where, r.status)
	}
	if t.Status != 0 && r.code != t.Status {
		return r, t.failed(request, response)
	}
	if r.code == t.Status {
		return r, t.takeReply(&r, course, response)
	}
	if r.code >= http.StatusMultipleChoices && r.code < http.StatusBadRequest && response.Header.Get("Location") != "" {
		return r, redirected{response.Header.Get("Location"), r.code, response.Cookies()}
	}
	if r.code >= http.StatusBadRequest {
		return r, t.failed(request, response)
	}
	return r, t.takeReply(&r, course, response)
}

// agreed adds to a reply that is not measured how the same request was answered before, or
// is answered again.
func agreed(err error, before []reply, again func() (reply, error)) error {
	if share := (sometimes{}); errors.As(err, &share) {
		share.error = agreed(share.error, before, again)
		return share
	}
	var first failed
	if !errors.As(err, &first) || first.code == 0 {
		return err
	}
	if n := len(before); n > 0 {
		first.other = before[n-1].status
	}
	if len(before) > 0 || first.wanted != 0 {
		return first
	}
	for first.agree = 1; first.agree < asked; first.agree++ {
		if r, err := again(); err == nil || r.code != first.code {
			first.other, first.agree = r.status, 0
			return first
		}
	}
	return first
}

// takeReply reads a reply's body to its end and checks it.
func (t Target) takeReply(r *reply, course *course, response *http.Response) (err error) {
	if t.follows(response) {
		r.came, r.bytes, err = t.takeEvents(response)
	} else {
		r.bytes, err = t.takeBody(response.Body)
	}
	if errors.As(err, new(events.BrokenError)) {
		return wrong{fmt.Errorf("%s: %w", Shown(response.Request.URL), err)}
	}
	if err != nil && !errors.Is(err, errNoEvents) {
		course.mu.Lock()
		defer course.mu.Unlock()
		course.bytes = r.bytes
		return astray{err, course}
	}
	return err
}

// takeBody reads a body to its end and checks it.
func (t Target) takeBody(from io.Reader) (int64, error) {
	from = io.LimitReader(from, contract.MaxMessage+1)
	if t.bodies == nil {
		return io.Copy(io.Discard, from)
	}
	body, err := io.ReadAll(from)
	if err == nil {
		err = t.checkBody(body)
	}
	return int64(len(body)), err
}

// sound refuses what a trial could not repeat.
func (t Target) sound(where *url.URL, r reply) error {
	switch {
	case r.bytes > contract.MaxMessage:
		return fmt.Errorf("%s answers with more than %s; name something smaller", where, quantity.FormatBytes(contract.MaxMessage))
	case t.class != "" && t.Status == 0 && r.code/100 != 2:
		return fmt.Errorf("class %s: %s answers %s, and 2xx is expected; status: %d in the workload measures such replies", t.class, where, r.status, r.code)
	case len(t.Paths) > 0 && r.code/100 != 2:
		return fmt.Errorf("%s answers %s; with --paths every reply must have a status 2xx", where, r.status)
	}
	return nil
}

// found turns replies into levels.
func (t Target) found(u *url.URL, body string, replies []reply) (Found, error) {
	last := replies[len(replies)-1]
	stable, kept := true, last.reused
	for _, r := range replies[:len(replies)-1] {
		stable = stable && r.bytes == last.bytes
	}
	wire, own := "http/1.1", "fasthttp"
	switch last.proto {
	case "HTTP/2.0":
		wire, own = "h2c", "go-http2"
	case "HTTP/3.0":
		wire, own = WireHTTP3, "go-http3"
	}
	if (t.Proxy != nil || t.limits() || t.Events.Follow) && own == "fasthttp" {
		own = "go-http1"
	}
	alone := t.goAlone(wire, u.Scheme == "https", len(t.to))
	client := t.client(wire, u.Scheme == "https", alone, own)
	levels := map[string]string{
		"server": "address", "client": client, "opt.server.address": t.address(u), "opt.server.wire": wire,
		"request": size(int64(len(body))), "response": size(last.bytes),
	}
	if t.source != nil {
		_, _, first, err := t.filled(u, body, 0)
		if err != nil {
			return Found{}, err
		}
		levels["request"] = size(int64(len(first)))
	}
	f := Found{Name: named(u), URL: u, Levels: levels, Texts: map[string]study.Carried{}, At: last.at, Offers: last.offers}
	words := []string{last.proto + " " + last.status}
	if n := len(t.Paths); n > 0 {
		paths := strings.Join(t.Paths, "\n") + "\n"
		f.Texts["opt.client.paths"] = study.Carried{Bytes: []byte(t.Fill.url(paths)), Secret: t.Fill.In(paths)}
		words = []string{last.proto, fmt.Sprintf("%d paths in turn", n)}
	} else if n := len(t.Classes); n > 0 {
		words = []string{last.proto, quantity.Plural(n, "kind") + " of request, tried before the run"}
	} else if t.Events.Follow {
		words = append(words, t.addEvents(&f, last.came))
	} else if stable {
		words = append(words, fmt.Sprintf("%d bytes", last.bytes))
	} else {
		words = append(words, "replies of different lengths")
	}
	if last.heard.strays() {
		words = append(words, "then bytes of no reply")
	}
	if f.why = which(alone); wire == "http/1.1" {
		if odd := last.heard.odd(); odd != "" {
			levels["client"], f.why = "go-http1", ", as "+odd
		}
	}
	if t.Close {
		levels["fresh"] = "yes"
		words = append(words, "a new connection for every request, as asked")
	} else if kept || wire != "http/1.1" || t.Events.Follow && !last.closes {
		words = append(words, "keep-alive")
	} else {
		levels["fresh"] = "yes"
		words = append(words, "a new connection for every request, as the server closes each")
	}
	if last.server != "" {
		words = append(words, quantity.Clip(last.server, 40))
	}
	f.Words = strings.Join(words, ", ")
	t.addProxy(u, &f)
	t.addRows(&f)
	return f, t.addAsked(u, &f, body, last)
}

// size writes a number of bytes as a level.
func size(n int64) string { return strconv.FormatInt(n, 10) + "B" }

// reached is where a connection leads, by its remote address.
func reached(remote net.Addr) netip.AddrPort {
	at, _ := netip.ParseAddrPort(remote.String()) // of TCP
	return at
}
