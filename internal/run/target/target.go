// Package target asks a server that is not ours a few times and learns what a study
// must say of it: protocol, status, length of the reply, whether connections are
// kept. What it cannot measure it refuses in one sentence.
package target

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"netdyno/internal/expect"
	"netdyno/internal/head"
	"netdyno/internal/printable"
	"netdyno/internal/quantity"
	"netdyno/internal/run/spoken"
	"netdyno/internal/run/study"
	"netdyno/internal/unixsocket"
)

// Target is what a user named: a URL and how to ask it.
type Target struct {
	URL                  string // as Parse takes it
	Method               string
	Headers              []string // "Name: value"
	Body                 string
	BodyFile             string
	Host, SNI            string        // "" for the URL's
	CA, Cert, Key        string        // PEM files; CA "" for the authorities that this host trusts
	Insecure             bool          // accept any certificate
	Paths                []string      // asked for in turn in place of the URL's; none for the URL alone
	Classes              []Class       // of a workload, each asked for at least once in place of the URL; none without
	Packed               bool          // calls of gRPC are packed by gzip
	Proto, Message, Data string        // of a remote procedure call: a .proto, its type, its values as JSON or their file
	HTTP2                bool          // ask for HTTP/2, over http:// too; over https:// it is learnt
	HTTP1                bool          // over https://, too
	HTTP3                bool          // ask for HTTP/3, over QUIC; of HTTP1, HTTP2 and HTTP3 one alone
	Expect               string        // of every reply: "" or status, the status alone; length, body, those of the first reply; [not ]regexp:PATTERN, a match in its body; json:CONDITION
	Status               int           // that every reply must have; 0 for that of the first one
	Events               Events        // how replies that come in events are followed
	Close                bool          // a new connection for every request
	Follow               bool          // measure where redirections end
	Moves                int           // redirections that are followed at most
	Trusting             bool          // another host that one leads to is told who asks, too
	Jar                  bool          // cookies that they set are sent on
	Proxy                *url.URL      // an HTTP proxy, with its port; nil for none
	Dial                 Dial          // nil: what the URL names
	Socket               string        // path of the Unix socket to connect to in place of that, or @name; "" for none
	Family               string        // "4" or "6", of the addresses to connect to; "" for either
	First                bool          // of a name's addresses the first alone
	Source               netip.Addr    // to connect from; the zero value for the system's choice
	Limit, ConnectLimit  time.Duration // of a request, and of the making of a connection; 0 for 30 s
	MaxErrors            float64       // share of the requests that may fail
	Client               Client        // of a trial; nil for those on Go's libraries
	Fill                 Fill          // what stands for {name}

	templates
	class  string         // of the request, where there are Classes
	bodies *expect.Bodies // what they are expected to be; nil for anything
	asked  *atomic.Int64  // requests so far
	to     []string       // addresses that connections to the URL's host take in turn; nil where the name says it
}

// Dial returns what to connect to in turn in place of a URL's host and port; nothing for that.
type Dial func(address string) []string

// Client names the client of a wire that a trial shall have, of one that must encrypt or do
// what only those on Go's libraries do (own, in words, such as "compares bodies"); "" for
// one of these.
type Client func(wire string, encrypted bool, own string) string

// client is the client of a trial.
func (t Target) client(wire string, encrypted bool, own, usual string) string {
	if t.Client == nil {
		return usual
	}
	return cmp.Or(t.Client(wire, encrypted, own), usual)
}

// which adds to a client's name what it alone does; nothing of "".
func which(own string) string {
	if own == "" {
		return ""
	}
	return ", which " + own
}

// goAlone says what only a client on Go's libraries does of all that is asked on a wire, of a
// server with so many addresses; "" for nothing.
func (t Target) goAlone(wire string, encrypted bool, addresses int) string {
	switch {
	case t.source != nil && len(t.Classes)+len(t.Paths) > 0:
		return "fills requests of several kinds"
	case t.Socket != "" && encrypted:
		return "speaks TLS through Unix sockets"
	case t.Events.Follow && wire != "http/1.1":
		return "follows events"
	case t.bodies != nil && wire == wireGRPC:
		return "compares bodies"
	case addresses > 1 && (wire == wireGRPC || len(t.Classes) > 0):
		return "tells addresses apart"
	}
	return ""
}

// verify is the level of a client's option verify for replies of these lengths.
func (t Target) verify(lengths []int64) (string, error) {
	switch kind, _ := t.expects(); {
	case t.bodies != nil:
		return kind, nil
	case kind != "length":
		return "status", nil // whatever length: what comes is counted
	}
	for _, n := range lengths {
		if n != lengths[0] {
			return "", fmt.Errorf("replies of %d and of %d bytes came; --expect length needs the same length each time", lengths[0], n)
		}
	}
	return "length", nil
}

// negated is what --expect begins with where something must not be there.
var negated = regexp.MustCompile(`^not[ :-]\s*`)

// expects parts what every reply must have: its kind, and a pattern or a condition, which may
// follow a colon or an equals sign.
func (t Target) expects() (kind, pattern string) {
	text := negated.ReplaceAllString(t.Expect, "not-")
	if i := strings.IndexAny(text, ":="); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, ""
}

// expectBodies reads what bodies are expected to be.
func (t *Target) expectBodies() (err error) {
	kind, pattern := expect.Kind(""), ""
	if of, text := t.expects(); slices.Contains(expect.Kinds, expect.Kind(of)) {
		kind, pattern = expect.Kind(of), text
	}
	if kind != "" {
		t.bodies, err = expect.Of(kind, pattern)
	}
	if err != nil {
		return fmt.Errorf("--expect: %w", err)
	}
	return nil
}

// addExpected adds to what was found how a client judges the replies.
func (t Target) addExpected(f *Found, lengths []int64) (err error) {
	if f.Levels["opt.client.verify"], err = t.verify(lengths); err != nil || t.bodies == nil {
		return err
	}
	f.text("expected", t.bodies.Expected(), false)
	return nil
}

// checkBody checks the body of a reply.
func (t Target) checkBody(body []byte) error {
	if t.bodies == nil {
		return nil
	}
	if err := t.bodies.Check(body); err != nil {
		return wrong{fmt.Errorf("%w, and --expect %s needs it of every reply", err, quantity.Clip(t.Expect, 80))}
	}
	return nil
}

// Found is what was learnt.
type Found struct {
	Name   string                   // of the arm: host:port, with the path when it is not /; of gRPC with the method alone
	URL    *url.URL                 // that was measured: where redirections ended
	Levels map[string]string        // by factor: server, client, request, response, opt.server.address …
	Texts  map[string]study.Carried // by factor, in the place of levels
	Words  string                   // "HTTP/1.1 200 OK, 615 bytes, keep-alive, nginx/1.22.1"
	Socket string                   // path of the Unix socket that leads there; "" for TCP
	Local  bool                     // the address is of this host
	At     netip.AddrPort           // what the name led to; zero where the scheme does not tell

	Addresses []netip.AddrPort // that connections take in turn, where there are several to choose from
	Spread    string           // … in words
	Offers    bool             // a reply over TCP says that HTTP/3 answers at the same port
	why       string           // its client asks, and none that takes less CPU, in words; "" for no reason
	Asked     int64            // requests that it took
	Takes     time.Duration    // the median request, from its send to the end of its reply
	Begins    time.Duration    // … to the first event of its reply, where that is followed; else Takes
}

// deadline bounds each request unless the user does.
const deadline = 30 * time.Second

// timed makes one request within the deadline, and adds how long it took. The request's
// context ends with ctx and not with the reply: net/http gives up a connection whose
// context has ended before it is put back.
func (t Target) timed(ctx context.Context, takes *[]time.Duration, request func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(t.limit(), func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	begun := time.Now()
	err := request(ctx)
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return errors.Join(context.DeadlineExceeded, err) // whatever the library makes of it
	}
	*takes = append(*takes, time.Since(begun))
	return err
}

// median is the middle one of some durations; 0 of none.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[len(d)/2]
}

// schemes are what can be asked; a new one is a file and a line here.
var schemes = map[string]scheme{
	"http":  askHTTP,
	"https": askHTTP,
	"tcp":   askEcho,
	"grpc":  askGRPC,
	"grpcs": askGRPC,
	"ws":    askWebSocket,
	"wss":   askWebSocket,
}

// Ask asks the target a few times, for at most 30 s each. Its error is one printable
// sentence that says what to do.
func Ask(ctx context.Context, t Target) (Found, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ofSocket := ofSocket.MatchString(t.URL)
	if ofSocket {
		t.Socket, t.URL = socketOf(t.URL)
	}
	u, err := Parse(t.URL)
	if err != nil {
		return Found{}, err
	}
	if t.Headers, err = t.credentials(u); err != nil {
		return Found{}, err
	}
	u.User = nil
	if ofSocket || t.Socket != "" {
		if t.Socket, err = unixsocket.Absolute(t.Socket); err != nil {
			return Found{}, err
		}
	}
	if err := cmp.Or(t.fitProxy(u), t.fitHTTP3(u)); err != nil {
		return Found{}, err
	}
	if err := t.expectBodies(); err != nil {
		return Found{}, err
	}
	ask, known := schemes[u.Scheme]
	if !known {
		return Found{}, fmt.Errorf("scheme %q cannot be measured; %s", quantity.Clip(u.Scheme, 20), quantity.Hint(u.Scheme, Schemes()))
	}
	if port := u.Port(); port == "" && ports[u.Scheme] == "" && t.Socket == "" {
		return Found{}, fmt.Errorf("%s names no port; expected one such as %s://%s:7000", Shown(u), u.Scheme, u.Hostname())
	}
	t.asked = new(atomic.Int64)
	f, err := t.askAll(ctx, u, ask)
	f.Asked = t.asked.Load()
	if err != nil {
		return Found{}, errors.New(t.Fill.Hide(printable.Text(t.explain(ctx, u, err).Error())))
	}
	f.Words = printable.Text(f.Words) // a part of them is the server's
	if f.URL == nil {
		f.URL = u
	}
	if t.Client != nil { // else the user chose
		f.Words += ", asked by " + f.Levels["client"] + f.why
	}
	if t.Socket != "" {
		f.Local, f.Socket = true, t.Socket
		f.Name = filepath.Base(t.Socket) + strings.TrimSuffix(f.URL.Path, "/")
		return f, nil
	}
	if t.Proxy != nil {
		f.Words += ", through the proxy " + t.Proxy.Host
		f.At = netip.AddrPort{} // what was reached is not the server
	}
	host, _, _ := net.SplitHostPort(t.address(f.URL)) // it has both
	f.Local = local(host)
	return f, nil
}

// Schemes are those of the URLs that can be asked.
func Schemes() []string { return slices.Sorted(maps.Keys(schemes)) }

// ports are the default ports of URL schemes.
var ports = map[string]string{"http": "80", "https": "443", "grpcs": "443", "ws": "80", "wss": "443"}

// address is the URL's host and port.
func address(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), ports[u.Scheme]))
}

// address is where the target's requests go: the URL's host and port, or those that
// Dial has for them.
func (t Target) address(u *url.URL) string {
	if t.Socket != "" {
		return unixsocket.Address(t.Socket)
	}
	if t.Proxy != nil {
		return t.Proxy.Host
	}
	return t.places(address(u))[0]
}

// credentials adds to the headers those that the URL has; a header goes before them.
func (t Target) credentials(u *url.URL) ([]string, error) {
	fields, err := t.fields()
	if err != nil || u.User == nil || u.Scheme == "tcp" {
		return t.Headers, err
	}
	if _, given, _ := head.Take(fields, "Authorization"); given {
		return t.Headers, nil
	}
	password, _ := u.User.Password()
	return append(slices.Clone(t.Headers), Basic(u.User.Username(), password)), nil
}

// Basic is the header that names a user (RFC 7617).
func Basic(user, password string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// fields are the headers, as the clients read them.
func (t Target) fields() ([]head.Field, error) {
	fields, err := head.Parse(strings.Join(t.Headers, "\n"))
	if err != nil {
		return nil, fmt.Errorf("headers: %w", err)
	}
	for i := range fields {
		if fields[i], err = t.Fill.header(fields[i]); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// explain says what a connection's error means.
func (t Target) explain(ctx context.Context, u *url.URL, err error) error {
	peer := "server"
	if t.Proxy != nil {
		peer = "proxy"
	}
	var unknown *net.DNSError
	if share := (sometimes{}); errors.As(err, &share) {
		return fmt.Errorf("%w%s", t.explain(ctx, u, share.error), share.clause())
	}
	if t.Socket != "" {
		if failed := (*net.OpError)(nil); errors.As(err, &failed) && failed.Op == "dial" {
			return unixsocket.Explain(t.Socket, failed.Err)
		}
	}
	var went astray
	switch {
	case errors.As(err, &went) && (went.ended() || errors.Is(err, context.DeadlineExceeded)):
		return went.overdue(u, t.limit())
	case errors.Is(err, syscall.ECONNREFUSED) && t.Proxy == nil && spoken.QUIC(ctx, t.address(u)):
		return fmt.Errorf("nothing listens on %s by TCP, and a server answers QUIC there by UDP: add --http3", t.address(u))
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens on %s; start the %s first", t.address(u), peer)
	case errors.As(err, &unknown):
		return fmt.Errorf("the host %s is not known: %s", u.Hostname(), unknown.Err)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return fmt.Errorf("%s cannot be reached: no route to it", address(u))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer a request within %v", address(u), t.limit())
	}
	return err
}

// local tells whether a host is this one.
func local(host string) bool {
	ips, err := net.LookupIP(host)
	if err != nil {
		return false
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(ips, func(ip net.IP) bool {
		return ip.IsLoopback() || slices.ContainsFunc(own, func(a net.Addr) bool {
			n, ok := a.(*net.IPNet)
			return ok && n.IP.Equal(ip)
		})
	})
}

// named is a name for an arm: the address, with the path when it is not /. What a
// name cannot have is left to who names arms.
func named(u *url.URL) string { return u.Host + strings.TrimSuffix(u.Path, "/") }
