package target

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"netdyno/internal/quantity"
)

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
	case t.Socket != "" || t.Dial != nil && t.Dial(address(u)) != address(u):
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
