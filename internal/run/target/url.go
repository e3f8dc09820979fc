package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"netdyno/internal/expect"
	"netdyno/internal/input"
	"netdyno/internal/paths"
	"netdyno/internal/quantity"
	"netdyno/internal/unixsocket"
)

// mostURL bounds a URL in bytes: a request line of more is refused by servers.
const mostURL = 8 << 10

// IsURL tells whether text is a URL of a scheme that Ask knows.
func IsURL(text string) bool {
	scheme, _, found := strings.Cut(text, "://")
	_, known := schemes[strings.ToLower(scheme)]
	return found && known || ofSocket.MatchString(text)
}

// SchemeOf is the scheme of a URL, also of one that names a Unix socket.
func SchemeOf(text string) string {
	text, _ = WithScheme(text)
	_, text = socketOf(text)
	scheme, _, _ := strings.Cut(text, "://")
	return strings.ToLower(scheme)
}

// bare is a server without a scheme: a host with its port, and a path.
var bare = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+(%[A-Za-z0-9._-]+)?\]):[0-9]{1,5}([/?#].*)?$`)

// ofSocket are URLs that name a Unix socket: unix:PATH:/path, as nginx has it, also behind
// http://, grpc+unix:PATH:/pkg.Service/Method, and either with // before PATH.
var ofSocket = regexp.MustCompile(`^(?:(?:(https?|grpcs?)\+)?unix:(?://)?|(https?)://unix:)([^?#]*)(.*)$`)

// socketOf parts a URL that names a Unix socket into its path and a URL of the host
// localhost, as curl --unix-socket has it. Where no :/ tells where the path ends, the
// longest one at which a socket lies does. Any other URL is returned as it is.
func socketOf(text string) (socket, url string) {
	m := ofSocket.FindStringSubmatch(text)
	if m == nil {
		return "", text
	}
	scheme := cmp.Or(m[1], m[2], "http")
	socket, path, told := strings.Cut(m[3], ":/")
	for end := len(socket); !told && end > 0; end = strings.LastIndexByte(socket[:end], '/') {
		if unixsocket.Is(socket[:end]) {
			socket, path = socket[:end], strings.TrimPrefix(socket[end:], "/")
			break
		}
	}
	return strings.TrimSuffix(socket, ":"), scheme + "://localhost/" + path + m[4]
}

// WithScheme returns a server that is named as curl takes it, such as
// localhost:8080/x, as a URL; false for what names none.
func WithScheme(text string) (string, bool) {
	if bare.MatchString(text) {
		return "http://" + text, true
	}
	return text, IsURL(text)
}

// Parse reads a URL as curl does: what cannot stand in one is escaped, what is
// escaped stays so, a name in another script becomes ASCII (RFC 5890), a fragment is
// left out. The error does not show a password.
func Parse(text string) (*url.URL, error) {
	text, _ = WithScheme(strings.TrimSpace(text))
	_, text = socketOf(text)
	text, _, _ = strings.Cut(text, "#")
	scheme, rest, found := strings.Cut(text, "://")
	if len(text) > mostURL {
		return nil, fmt.Errorf("the URL has %d bytes; expected at most %d", len(text), mostURL)
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority, path := rest[:end], escaped(rest[end:])
	who, host := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		who, host = authority[:i], authority[i+1:]
	}
	host, err := ascii(host)
	var u *url.URL
	if err == nil && found {
		u, err = url.Parse(strings.ToLower(scheme) + "://" + host + path)
	}
	if err != nil || u == nil || u.Hostname() == "" {
		return nil, fmt.Errorf("%q is not a URL; expected one such as http://127.0.0.1:8080/", quantity.Clip(strings.Replace(text, authority, host, 1), 200))
	}
	if who != "" {
		user, password, _ := strings.Cut(who, ":")
		u.User = url.UserPassword(unescaped(user), unescaped(password))
	}
	return u, nil
}

// ascii is a host as it stands in requests; the zone of an address is escaped.
func ascii(host string) (string, error) {
	if strings.HasPrefix(host, "[") {
		address, zone, zoned := strings.Cut(host, "%")
		if zoned && !strings.HasPrefix(zone, "25") {
			return address + "%25" + zone, nil
		}
		return host, nil
	}
	if strings.IndexFunc(host, func(r rune) bool { return r >= 0x80 }) < 0 {
		return host, nil
	}
	name, port, ported := strings.Cut(host, ":")
	name, err := idna.Lookup.ToASCII(name)
	if ported {
		name += ":" + port
	}
	return name, err
}

// escaped writes as %XX what cannot stand in a request line, and a % that begins no
// escape.
func escaped(path string) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		isEscape := c == '%' && i+2 < len(path) && isHex(path[i+1]) && isHex(path[i+2])
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>\^{|}`+"`", c) >= 0 || c == '%' && !isEscape {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// Shown is a URL without a user's name and password, with braces as they were typed.
func Shown(u *url.URL) string {
	without := *u
	without.User = nil
	return braces.Replace(without.String())
}

var braces = strings.NewReplacer("%7B", "{", "%7D", "}")

// expectations are what --expect may say; what follows these needs a colon and a text.
var (
	expectations = []string{"", "status", "length", string(expect.Body)}
	patterned    = []string{string(expect.Regexp), string(expect.NotRegexp), string(expect.JSON)}
)

// Fit refuses what was given for another kind of URL than any of these.
func (t Target) Fit(urls []string) error {
	has := func(schemes ...string) bool {
		return slices.ContainsFunc(urls, func(u string) bool { return slices.Contains(schemes, SchemeOf(u)) })
	}
	if t.Message != "" {
		return errors.New("--message does not go with a URL: a method of grpc:// says the type of its request")
	}
	if !has("grpc", "grpcs") && t.Proto != "" {
		return errors.New("--proto goes with grpc:// URLs: it is the .proto file of a call; curl's --proto, which protocols it may use, has no place where the URL's is the only one")
	}
	if !has("http", "https", "ws", "wss") && (t.Body != "" || t.BodyFile != "") || !has("http", "https") && (t.Method != "" || len(t.Paths) > 0 || t.HTTP2) {
		return errors.New("--method, --paths and --http2 go with http:// URLs, and --body and --body-file with these and ws://; for grpc:// write --data JSON and name the method in the URL")
	}
	switch kind, pattern := t.expects(); {
	case slices.Contains(patterned, kind) && pattern == "", !slices.Contains(patterned, kind) && (!slices.Contains(expectations, kind) || kind != t.Expect):
		return fmt.Errorf("--expect %s: %s; a pattern is written regexp:PATTERN or 'not regexp:PATTERN', a condition 'json:$.errors == null'",
			quantity.Clip(t.Expect, 40), quantity.Hint(kind, slices.Concat(expectations[1:], patterned)))
	case kind == string(expect.JSON) && has("grpc", "grpcs"):
		return errors.New("--expect json goes with http:// URLs: the reply of a grpc:// URL is no JSON on its way")
	case (kind == "length" || kind == "body") && len(t.Paths) > 0:
		return fmt.Errorf("--expect %s does not go with --paths, whose replies differ", kind)
	case kind != "" && has("tcp"):
		return errors.New("--expect goes with http:// and grpc:// URLs")
	case t.Status != 0 && (t.Status < 200 || t.Status > 599 || !has("http", "https") || len(t.Paths) > 0):
		return fmt.Errorf("--expect-status %d: expected 200 to 599, for http:// URLs without --paths", t.Status)
	}
	return nil
}

// ReadPaths reads a file of paths, or standard input for "-". The error names the file
// and the line.
func ReadPaths(ctx context.Context, name string) ([]string, error) {
	shown := name
	if name == "-" {
		name, shown = "/dev/stdin", "standard input"
	}
	text, err := input.Within(ctx, paths.MostBytes)(name)
	if err == nil {
		var all []string
		if all, err = paths.Parse(shown, text); err == nil {
			return all, nil
		}
	}
	return nil, fmt.Errorf("paths: %w", err)
}

// ParseProxy reads an HTTP proxy as curl does: [http://][NAME:PASSWORD@]HOST[:PORT], of
// port 1080 unless it says another. The error does not show a password.
func ParseProxy(text string) (*url.URL, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "http", text
	}
	_, shown := split(rest)
	switch scheme = strings.ToLower(scheme); {
	case strings.HasPrefix(scheme, "socks"):
		return nil, fmt.Errorf("--proxy %s://%s: a SOCKS proxy takes each connection by a handshake of its own, which the clients do not speak; expected an HTTP proxy, http://HOST:PORT", quantity.Clip(scheme, 10), quantity.Clip(shown, 60))
	case scheme == "https":
		return nil, fmt.Errorf("--proxy https://%s: the way to the proxy would be encrypted, which the clients do not do; expected http://HOST:PORT", quantity.Clip(shown, 60))
	case scheme != "http":
		return nil, fmt.Errorf("--proxy: unknown scheme %q; expected http://HOST:PORT", quantity.Clip(scheme, 20))
	}
	u, err := url.Parse("http://" + strings.TrimRight(shown, "/"))
	if err != nil || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("--proxy %s: expected HOST:PORT, such as http://127.0.0.1:3128", quantity.Clip(shown, 60))
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), "1080")
	}
	if user, _ := split(rest); user != "" {
		name, password, _ := strings.Cut(user, ":")
		u.User = url.UserPassword(unescaped(name), unescaped(password))
	}
	return u, nil
}

// OfLoopback tells whether a URL names a server of this host by a loopback address, as it
// does one behind a Unix socket.
func OfLoopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// split parts the credentials from a host.
func split(authority string) (user, host string) {
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		return authority[:i], authority[i+1:]
	}
	return "", authority
}

// fitProxy refuses what cannot be asked through a proxy.
func (t Target) fitProxy(u *url.URL) error {
	switch {
	case t.Proxy == nil:
		return nil
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("--proxy goes with http:// and https:// URLs")
	case t.Socket != "" || t.Dial != nil && len(t.Dial(address(u))) > 0:
		return errors.New("--proxy connects to the proxy, and --unix-socket, --resolve and --connect-to elsewhere; expected one of them")
	case t.HTTP2 && u.Scheme == "http":
		return errors.New("--http2 over http:// does not go through a proxy, which carries HTTP/1.1")
	}
	return nil
}

// addProxy adds the options that lead through the proxy.
func (t Target) addProxy(u *url.URL, f *Found) {
	if t.Proxy == nil {
		return
	}
	setter(f.Levels)("proxied", address(u))
	if t.Proxy.User != nil {
		password, _ := t.Proxy.User.Password()
		f.text("proxy_user", t.Proxy.User.Username()+":"+password, true)
	}
}
