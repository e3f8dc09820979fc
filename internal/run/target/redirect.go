package target

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"

	"netdyno/internal/head"
	"netdyno/internal/quantity"
)

// mostMoves are the redirections that are followed unless the target says how many.
const mostMoves = 50

// redirected is a reply that leads elsewhere.
type redirected struct {
	to      string
	code    int
	cookies []*http.Cookie
}

func (e redirected) Error() string { return "redirects to " + e.to }

// way is where redirections led so far.
type way struct {
	steps []string       // URLs, with the cookies that were sent to each
	shown []string       // the URLs
	jar   *cookiejar.Jar // nil: the cookies that are set are not sent on
	set   []string       // names of those
	given []string       // the target's headers without them
}

// newWay begins one with the target's headers.
func (t Target) newWay() *way {
	w := &way{given: t.Headers}
	if t.Jar {
		w.jar, _ = cookiejar.New(nil) // it never fails
	}
	return w
}

// follow returns where a redirection from u leads, with the headers of the target as
// they are to be sent there: who asks is told to no other host.
func (t *Target) follow(w *way, u *url.URL, to redirected) (*url.URL, error) {
	next, err := u.Parse(escaped(to.to))
	if err != nil || next.Scheme != "http" && next.Scheme != "https" || next.Hostname() == "" {
		return nil, fmt.Errorf("%s redirects to %q, which is no URL of HTTP", u, quantity.Clip(to.to, 200))
	}
	if t.HTTP3 && next.Scheme != "https" {
		return nil, fmt.Errorf("%s redirects to %s, which is not asked by HTTP/3: leave out --http3, or measure the URL that it leads to", u, quantity.Clip(Shown(next), 200))
	}
	next.Fragment, next.User = "", nil
	for _, c := range to.cookies {
		if !slices.Contains(w.set, c.Name) {
			w.set = append(w.set, c.Name)
		}
	}
	before := t.Headers
	if next.Host != u.Host && !t.Trusting {
		fields, err := head.Parse(strings.Join(w.given, "\n"))
		if err != nil {
			return nil, fmt.Errorf("headers: %w", err)
		}
		fields = slices.DeleteFunc(fields, func(f head.Field) bool { return head.Secret(f.Name) || strings.EqualFold(f.Name, "Host") })
		w.given, t.Host = strings.Split(head.Text(fields), "\n"), ""
	}
	t.Headers = w.given
	if w.jar != nil {
		w.jar.SetCookies(u, to.cookies)
		t.Headers = withCookies(w.given, w.jar.Cookies(next))
	}
	w.shown = append(w.shown, u.String())
	w.steps = append(w.steps, strings.Join(append(before, u.String()), "\n"))
	if slices.Contains(w.steps, strings.Join(append(slices.Clip(t.Headers), next.String()), "\n")) {
		return nil, w.circle(next)
	}
	if most := cmp.Or(t.Moves, mostMoves); len(w.steps) > most {
		return nil, fmt.Errorf("%s redirects more than %d times, at last to %s", w.shown[0], most, quantity.Clip(next.String(), 200))
	}
	return next, nil
}

// circle says that redirections lead back to where they were, and what may end that.
func (w *way) circle(back *url.URL) error {
	begin := max(0, slices.Index(w.shown, back.String()))
	text := fmt.Sprintf("%s redirects in a circle: %s", w.shown[0], quantity.Clip(strings.Join(append(w.shown[begin:], back.String()), " to "), 300))
	names := quantity.Clip(strings.Join(w.set, ", "), 80)
	switch {
	case len(w.set) > 0 && w.jar == nil:
		return fmt.Errorf("%s; the cookies that it sets (%s) are not sent on: add -b '', as for curl", text, names)
	case len(w.set) > 0:
		return fmt.Errorf("%s, with the cookies that it sets (%s) too", text, names)
	}
	return fmt.Errorf("%s; it may want a login: -b NAME=VALUE is a cookie of yours, -u NAME:PASSWORD says who asks", text)
}

// words say how a measured URL was come to; "" where it was named.
func (w *way) words() string {
	if len(w.shown) == 0 {
		return ""
	}
	text := ", where " + w.shown[0] + " leads"
	if w.jar != nil && len(w.set) > 0 {
		text += " with the cookies that are set on the way (" + quantity.Clip(strings.Join(w.set, ", "), 80) + ")"
	}
	return text
}

// withCookies adds cookies to headers, before those of the user.
func withCookies(headers []string, cookies []*http.Cookie) []string {
	var pairs, others []string
	for _, c := range cookies {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	for _, h := range headers {
		if name, value, _ := strings.Cut(h, ":"); strings.EqualFold(strings.TrimSpace(name), "Cookie") {
			pairs = append(pairs, strings.TrimSpace(value))
		} else {
			others = append(others, h)
		}
	}
	if len(pairs) == 0 {
		return headers
	}
	return append(others, "Cookie: "+strings.Join(pairs, "; "))
}
