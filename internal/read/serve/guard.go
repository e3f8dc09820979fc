package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"netdyno/internal/read/report"
)

// guard lets through what a browser of this host, or one with the token, may ask for.
func (s *server) guard(next http.Handler) http.Handler {
	policy := report.ServedPolicy()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			message(w, http.StatusMethodNotAllowed, "Read-only", "This server only answers GET and HEAD.")
		case !s.named(r.Host):
			message(w, http.StatusMisdirectedRequest, "Another host's name",
				"The request was for a name that is not this host's. Use its address, localhost, or the name that --listen was given.")
		case foreign(r):
			message(w, http.StatusForbidden, "Another site's request", "A page of another site asked for this. Open it from here, or type its address.")
		case s.Token != "" && !s.known(r):
			h.Set("WWW-Authenticate", `Bearer realm="netdyno"`)
			message(w, http.StatusUnauthorized, "A token is needed", "Open the address with ?token=… that netdyno serve printed.")
		case s.Token != "" && r.URL.Query().Has(tokenKey):
			s.remember(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// named tells whether a request is for this host. A site that points its own name here
// (DNS rebinding) is refused; an address cannot be pointed anywhere.
func (s *server) named(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(append([]string{"localhost"}, s.Names...), func(name string) bool { return strings.EqualFold(name, host) })
}

// foreign tells whether a page of another site made the request. Following a link from
// there is allowed.
func foreign(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		if r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			return true
		}
	}
	for _, origin := range r.Header.Values("Origin") {
		from, err := url.Parse(origin)
		if err != nil || from.Host == "" || !strings.EqualFold(from.Host, r.Host) {
			return true
		}
	}
	return false
}

// tokenKey is the name of the token in a query, and of its cookie with the port behind
// it: browsers do not tell the ports of a host apart.
const tokenKey = "token"

func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return "netdyno-" + tokenKey + "-" + port
}

// known tells whether a request carries the token.
func (s *server) known(r *http.Request) bool {
	given := []string{strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.URL.Query().Get(tokenKey)}
	if c, err := r.Cookie(cookieName(r)); err == nil {
		given = append(given, c.Value)
	}
	want := sha256.Sum256([]byte(s.Token))
	return slices.ContainsFunc(given, func(token string) bool {
		got := sha256.Sum256([]byte(token))
		return subtle.ConstantTimeCompare(got[:], want[:]) == 1
	})
}

// remember keeps the token in a cookie and takes it out of the address.
func (s *server) remember(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: s.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // there is no TLS
	to := *r.URL
	query := to.Query()
	query.Del(tokenKey)
	to.Scheme, to.Host, to.RawQuery = "", "", query.Encode()
	to.Path = "/" + strings.TrimLeft(to.Path, "/") // "//host" would lead elsewhere
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}
