package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/theory/jsonpath"

	"netdyno/internal/printable"
	"netdyno/internal/quantity"
)

const (
	mostTaken = 1 << 20  // bytes of a reply out of which values are taken
	mostValue = 16 << 10 // bytes of a value
	mostTold  = 200      // of a reply in an error
)

// Take is a value to be taken out of a reply: Name stands for it in braces.
type Take struct {
	Name string
	kind string // "json", "header" or "cookie"
	what string // path, name
	path *jsonpath.Path
}

var takeName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ParseTake reads NAME=json:$.path, NAME=header:Name or NAME=cookie:Name.
func ParseTake(text string) (t Take, err error) {
	name, from, found := strings.Cut(text, "=")
	kind, what, parted := strings.Cut(from, ":")
	t = Take{Name: name, kind: kind, what: what}
	switch {
	case !found || !takeName.MatchString(name) || !parted || what == "":
		return t, fmt.Errorf("--take %s: expected NAME=json:$.path, NAME=header:Name or NAME=cookie:Name, such as token=json:$.access_token", told(text, 80))
	case kind == "json":
		if t.path, err = jsonpath.Parse(what); err != nil {
			return t, fmt.Errorf("--take %s: %s; expected a path of RFC 9535, such as $.data.token or $.items[0].id", told(text, 80), told(strings.TrimPrefix(err.Error(), "jsonpath: "), 120))
		}
	case kind != "header" && kind != "cookie":
		return t, fmt.Errorf("--take %s: %s; more than that is a script, as k6 runs them", told(text, 80), quantity.Hint(kind, []string{"json", "header", "cookie"}))
	}
	return t, nil
}

// Came is what one request brought.
type Came struct {
	Words   string // "POST http://127.0.0.1:8080/login: 200 OK"
	Sent    int64  // requests, with those that redirections made
	header  http.Header
	cookies []*http.Cookie
	body    []byte
}

// Send makes one request of HTTP, whatever else the target says, with the cookies of a jar,
// which takes those that come. A reply of status 400 and more is an error.
func Send(ctx context.Context, t Target, jar http.CookieJar, within time.Duration) (c Came, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if ofSocket.MatchString(t.URL) {
		t.Socket, t.URL = socketOf(t.URL)
	}
	u, err := Parse(t.URL)
	if err != nil {
		return c, err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return c, fmt.Errorf("%s: expected a URL of http:// or https://", Shown(u))
	}
	if t.Headers, err = t.credentials(u); err != nil {
		return c, err
	}
	if u.User = nil; t.Proxy != nil {
		if err := t.fitProxy(u); err != nil {
			return c, err
		}
	}
	method, response, err := t.send(ctx, u, jar, &c.Sent)
	c.Words = method + " " + Shown(u)
	if unwrapped := (*url.Error)(nil); errors.As(err, &unwrapped) {
		err = unwrapped.Err // it has the URL, which may be secret by now
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return c, fmt.Errorf("%s: no answer within %v", c.Words, within)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %s", c.Words, t.Fill.Hide(printable.Text(t.explain(ctx, u, t.explainHTTP(u, err)).Error())))
	}
	defer response.Body.Close()
	c.header, c.cookies = response.Header, slices.Concat(response.Cookies(), jar.Cookies(response.Request.URL))
	if c.body, err = io.ReadAll(io.LimitReader(response.Body, mostTaken+1)); err != nil {
		return c, fmt.Errorf("%s: the reply broke off: %w", c.Words, err)
	}
	c.Words += ": " + told(response.Status, 80)
	if response.StatusCode >= http.StatusBadRequest {
		return c, errors.New(strings.TrimSuffix(c.Words+": "+t.Fill.Hide(told(string(c.body), mostTold)), ": "))
	}
	return c, nil
}

// send makes the request, and follows redirections where the target says so.
func (t Target) send(ctx context.Context, u *url.URL, jar http.CookieJar, sent *int64) (method string, response *http.Response, err error) {
	method = t.Method
	body, err := t.body(ctx)
	if err != nil {
		return method, nil, err
	}
	if method == "" {
		if method = http.MethodGet; body != "" {
			method = http.MethodPost
		}
	}
	transport, err := t.transport()
	if err != nil {
		return method, nil, err
	}
	transport.DisableKeepAlives = true
	request, err := http.NewRequestWithContext(ctx, method, t.Fill.url(u.String()), strings.NewReader(body))
	if err != nil {
		return method, nil, err
	}
	if err := t.dress(request, body); err != nil {
		return method, nil, err
	}
	client := &http.Client{Transport: transport, Jar: jar, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		switch {
		case !t.Follow:
			return http.ErrUseLastResponse
		case len(via) > mostMoves:
			return fmt.Errorf("it redirects more than %d times", mostMoves)
		}
		*sent++
		return nil
	}}
	*sent++
	response, err = client.Do(request)
	return method, response, err
}

// Value takes the value out of what came. The error shows no string of a reply in JSON,
// which may be as secret as what was looked for.
func (t Take) Value(c Came) (string, error) {
	value, found, seen := "", false, ""
	switch t.kind {
	case "header":
		if all := c.header.Values(t.what); len(all) > 0 {
			value, found = all[0], true
		}
		seen = "its headers are " + told(strings.Join(slices.Sorted(maps.Keys(c.header)), ", "), mostTold)
	case "cookie":
		var names []string
		for _, cookie := range c.cookies {
			if names = append(names, cookie.Name); cookie.Name == t.what && !found {
				value, found = cookie.Value, true
			}
		}
		if seen = "it has no cookies"; len(names) > 0 {
			seen = "its cookies are " + told(strings.Join(names, ", "), mostTold)
		}
	default:
		var err error
		if value, found, err = t.inJSON(c.body); err != nil {
			return "", fmt.Errorf("--take %s=json:%s: %s: %w", t.Name, told(t.what, 80), c.Words, err)
		}
		seen = "the reply is " + told(masked(c.body), mostTold)
	}
	switch {
	case !found:
		return "", fmt.Errorf("--take %s=%s:%s: %s, without such a value; %s", t.Name, t.kind, told(t.what, 80), c.Words, seen)
	case value == "" || len(value) > mostValue:
		return "", fmt.Errorf("--take %s=%s:%s: %s: the value has %d bytes; expected 1 to %d", t.Name, t.kind, told(t.what, 80), c.Words, len(value), mostValue)
	}
	return value, nil
}

// inQuotes are the strings of JSON, and the colon behind a key.
var inQuotes = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(\s*:)?`)

// masked is a text in JSON without its strings, but for the keys.
func masked(body []byte) string {
	return inQuotes.ReplaceAllStringFunc(string(body), func(text string) string {
		if strings.HasSuffix(text, ":") {
			return text
		}
		return `"***"`
	})
}

// inJSON is the one value at the path; false where there is none.
func (t Take) inJSON(body []byte) (value string, found bool, err error) {
	if len(body) > mostTaken {
		return "", false, fmt.Errorf("the reply has more than %s", quantity.FormatBytes(mostTaken))
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return "", false, fmt.Errorf("the reply is no JSON: %s", told(string(body), mostTold))
	}
	nodes := t.path.Select(document)
	if len(nodes) == 0 || nodes[0] == nil {
		return "", false, nil
	}
	switch v := nodes[0].(type) {
	case string:
		return v, true, nil
	case json.Number, bool:
		return fmt.Sprint(v), true, nil
	}
	return "", false, errors.New("the value there is an object or an array; expected a string, a number or a boolean")
}

// told is a text of somebody else's in an error: printable, and not longer than so many
// characters.
func told(text string, most int) string { return quantity.Clip(printable.Text(text), most) }
