// Package probe asks a server that is not ours a few times and learns what a study
// must say of it: protocol, status, length of the reply, whether connections are
// kept. What it cannot measure it refuses in one sentence.
package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/printable"
	"netdyno/internal/quantity"
)

// Target is what a user named: a URL and how to ask it.
type Target struct {
	URL                  string
	Method               string
	Headers              []string // "Name: value"
	Body                 string
	BodyFile             string
	Host, SNI            string // "" for the URL's
	CA, Cert, Key        string // PEM files; CA "" for the authorities that this host trusts
	Insecure             bool   // accept any certificate
	Paths                Paths  // asked for in turn in place of the URL's; none for the URL alone
	Proto, Message, Data string // of a remote procedure call: a .proto, its type, its values as JSON or their file
	HTTP2                bool   // ask for HTTP/2, over http:// too; over https:// it is learnt
	Client               Client // of a trial; nil for those on Go's libraries
}

// Client names the client of a wire that a trial shall have, and whether it must encrypt;
// "" for one on a library of Go's.
type Client func(wire string, encrypted bool) string

// client is the client of a trial, and whether it is one that Client named.
func (t Target) client(wire string, encrypted bool, own string) (name string, chosen bool) {
	if t.Client != nil {
		name = t.Client(wire, encrypted)
	}
	return cmp.Or(name, own), name != ""
}

// Found is what a probe learnt.
type Found struct {
	Name   string            // of the arm: host:port, with the path when it is not /; of gRPC with the method alone
	Levels map[string]string // by factor: server, client, request, response, opt.server.address …
	Words  string            // "HTTP/1.1 200 OK, 615 bytes, keep-alive, nginx/1.22.1"
	Local  bool              // the address is of this host
	At     netip.AddrPort    // what the name led to; zero where the scheme does not tell
	Takes  time.Duration     // the median request, from its send to the end of its reply
}

// deadline bounds each request of a probe.
const deadline = 30 * time.Second

// timed makes one request within the deadline, and adds how long it took. The request's
// context ends with ctx and not with the reply: net/http gives up a connection whose
// context has ended before it is put back.
func timed(ctx context.Context, takes *[]time.Duration, request func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(deadline, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	begun := time.Now()
	err := request(ctx)
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return context.DeadlineExceeded // whatever the library makes of it
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

// schemes are what can be probed; a new one is a file and a line here.
var schemes = map[string]func(context.Context, Target, *url.URL) (Found, error){
	"http":  askHTTP,
	"https": askHTTP,
	"tcp":   askEcho,
	"grpc":  askGRPC,
	"grpcs": askGRPC,
}

// IsURL tells whether text is a URL of a scheme that Probe knows.
func IsURL(text string) bool {
	scheme, _, found := strings.Cut(text, "://")
	_, known := schemes[scheme]
	return found && known
}

// Probe asks the target a few times, for at most 30 s each. Its error is one printable
// sentence that says what to do.
func Probe(ctx context.Context, t Target) (Found, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	u, err := url.Parse(t.URL)
	if err != nil || u.Hostname() == "" {
		return Found{}, fmt.Errorf("%q is not a URL; expected one such as http://127.0.0.1:8080/", quantity.Clip(t.URL, 200))
	}
	ask, known := schemes[u.Scheme]
	if !known {
		return Found{}, fmt.Errorf("scheme %q cannot be measured; %s", quantity.Clip(u.Scheme, 20), quantity.Hint(u.Scheme, names()))
	}
	if port := u.Port(); port == "" && ports[u.Scheme] == "" {
		return Found{}, fmt.Errorf("%s names no port; expected one such as %s://%s:7000", t.URL, u.Scheme, u.Hostname())
	}
	f, err := ask(ctx, t, u)
	if err != nil {
		return Found{}, errors.New(printable.Text(explain(u, err).Error()))
	}
	f.Local = local(u.Hostname())
	return f, nil
}

// ports are those of schemes that have one of their own.
var ports = map[string]string{"http": "80", "https": "443", "grpcs": "443"}

// address is the URL's host and port.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = ports[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func names() []string {
	var all []string
	for name := range schemes {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// explain says what a connection's error means.
func explain(u *url.URL, err error) error {
	var unknown *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens on %s; start the server first", address(u))
	case errors.As(err, &unknown):
		return fmt.Errorf("the host %s is not known: %s", u.Hostname(), unknown.Err)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return fmt.Errorf("%s cannot be reached: no route to it", address(u))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer a request within %v", address(u), deadline)
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

// named is an arm's name: the address, with the path when it is not /.
func named(u *url.URL) string { return u.Host + strings.TrimSuffix(u.RequestURI(), "/") }
