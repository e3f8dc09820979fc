// Package collection makes workload files of what other tools know of an API: a Postman
// collection, an OpenAPI document, a list of vegeta's targets. What proves who asks is never
// written into one.
package collection

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"netdyno/internal/each"
	"netdyno/internal/head"
	"netdyno/internal/input"
	"netdyno/internal/printable"
	"netdyno/internal/quantity"
)

// MaxFile bounds a file that is read, in bytes.
const MaxFile = 64 << 20

// Format is a kind of file.
type Format struct {
	Name, Doc string
	read      func(*maker) error
}

// formats are all of them; a new one is a file and a line here.
func formats() []Format {
	return []Format{
		{"postman", "a Postman collection (v2.1)", (*maker).postman},
		{"openapi", "an OpenAPI document (3.0, 3.1), as JSON or YAML", (*maker).openAPI},
		{"vegeta", "vegeta's targets: METHOD URL, headers, @BODYFILE", (*maker).vegeta},
	}
}

// Formats returns all formats.
func Formats() []Format { return formats() }

// Options say what is read and what is filled in.
type Options struct {
	Set         []string // NAME=VALUE, which go before any other value
	Environment string   // file of a Postman environment; "" for none
	Methods     []string // that are kept; none for those that change nothing
	Only        []string // of the requests whose name, folder or path has one of these texts; none for all
}

// Workload is what was made.
type Workload struct {
	Base    string // scheme, host and port that the requests ask; "" where the file does not say
	Classes int
	Text    []byte            // of the workload file
	Bodies  map[string][]byte // files beside it, by their names from there
	Notes   []string          // what was left out and why, and what is to be given; printable
	Headers []string          // that -H has to give: "Authorization: Bearer …"
}

// request is one of a file.
type request struct {
	name    string // with its folders
	method  string
	url     string // whole, or a path alone where the file names no host
	headers []head.Field
	body    string
	status  int
}

// maker makes one workload. One goroutine uses it.
type maker struct {
	ctx     context.Context
	name    string // of the file
	text    []byte
	options Options
	set     map[string]string
	used    map[string]bool // of set

	requests []request
	lacking  lacking
	visits   int            // of schemas
	headers  map[string]int // that are not written, by their form
	left     map[string]int // requests that are left out, by the reason
}

// Make makes a workload file of a file; out is its name, of which those beside it are made.
// The error names the file, the item and what is lacking.
func Make(ctx context.Context, f Format, name, out string, o Options) (w Workload, err error) {
	m := &maker{ctx: ctx, name: name, options: o, set: map[string]string{}, used: map[string]bool{}, headers: map[string]int{}, left: map[string]int{}}
	for _, text := range o.Set {
		key, value, is := strings.Cut(text, "=")
		if !is || key == "" {
			return w, fmt.Errorf("--set %q: expected NAME=VALUE", quantity.Clip(text, 60))
		}
		m.set[key] = value
	}
	if m.text, err = input.Within(ctx, MaxFile)(name); err != nil {
		return w, err
	}
	m.text = bytes.TrimPrefix(m.text, []byte{0xef, 0xbb, 0xbf})
	if !utf8.Valid(m.text) {
		return w, fmt.Errorf("%s: it is not UTF-8 text; expected %s", name, f.Doc)
	}
	if err := f.read(m); err != nil {
		return w, fmt.Errorf("%s: %s", name, printable.Text(err.Error()))
	}
	for key := range m.set {
		if !m.used[key] {
			names := m.lacking.names()
			if len(names) == 0 {
				return w, fmt.Errorf("--set %s: nothing in %s is called so", quantity.Clip(key, 60), name)
			}
			return w, fmt.Errorf("--set %s: nothing in %s is called so; %s", quantity.Clip(key, 60), name, quantity.Hint(key, names))
		}
	}
	if err := m.lacking.err(); err != nil {
		return w, fmt.Errorf("%s: %s", name, printable.Text(err.Error()))
	}
	return m.workload(out)
}

// given is the value that --set has for a name, for one item alone or for all.
func (m *maker) given(item, name string) (string, bool) {
	for _, key := range []string{item + "." + name, name} {
		if value, is := m.set[key]; is {
			m.used[key] = true
			return value, true
		}
	}
	return "", false
}

// reads are methods that change nothing (RFC 9110, section 9.2.1).
var reads = []string{http.MethodGet, http.MethodHead, http.MethodOptions}

// keeps tells whether a request of that name, path and method is asked for; what is not is
// counted.
func (m *maker) keeps(name, path, method string) bool {
	if len(m.options.Only) > 0 && !slices.ContainsFunc(m.options.Only, func(part string) bool { return strings.Contains(name, part) || strings.Contains(path, part) }) {
		m.left["that --only does not name"]++
		return false
	}
	if methods := m.options.Methods; len(methods) == 0 && slices.Contains(reads, method) || slices.Contains(methods, method) {
		return true
	}
	m.left[method]++
	return false
}

// withhold notes a header that is not written.
func (m *maker) withhold(name, form string) { m.headers[name+": "+form]++ }

// addHeader adds a header to a request, unless it is secret or says what the client says.
func (m *maker) addHeader(r *request, name, value string) {
	switch {
	case head.Secret(name):
		form := "…"
		if scheme, _, is := strings.Cut(value, " "); is && strings.EqualFold(name, "Authorization") {
			form = quantity.Clip(scheme, 20) + " …"
		}
		m.withhold(name, form)
	case slices.Contains([]string{"host", "content-length", "connection", "postman-token", "accept-encoding", "user-agent"}, strings.ToLower(name)):
	default:
		r.headers = append(r.headers, head.Field{Name: name, Value: value})
	}
}

// withType adds a media type where the headers have none.
func (r *request) withType(mediaType string) {
	if _, has, _ := head.Take(r.headers, "Content-Type"); !has && r.body != "" && mediaType != "" {
		r.headers = append(r.headers, head.Field{Name: "Content-Type", Value: mediaType})
	}
}

// add adds a request. Secrets in its query are left out, which is said.
func (m *maker) add(r request) error {
	whole, query, has := strings.Cut(r.url, "?")
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(pair, "=")
		key, _ = url.QueryUnescape(key)
		if _, wanted := m.set[key]; head.Secret(key) && !wanted {
			m.left["query parameter "+key]++
			continue
		}
		kept = append(kept, pair)
	}
	if query = strings.Join(kept, "&"); has && query != "" {
		whole += "?" + query
	}
	r.url = escaped(whole)
	if u, err := url.Parse(r.url); err != nil || u.Host == "" && !strings.HasPrefix(r.url, "/") || u.Host != "" && u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("item %q: %q is no URL of HTTP", r.name, quantity.Clip(r.url, 200))
	}
	m.requests = append(m.requests, r)
	return m.ctx.Err()
}

// escaped is a URL without its fragment whose bytes a request line can have.
func escaped(text string) string {
	text, _, _ = strings.Cut(text, "#")
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// lacking are values that nobody gives, and the items that need them.
type lacking struct {
	order []string
	of    map[string][]string // items by what they lack
	hint  string              // how values are given
	known []string            // names that have values
}

func (l *lacking) add(name, item string) {
	if l.of == nil {
		l.of = map[string][]string{}
	}
	if _, known := l.of[name]; !known {
		l.order = append(l.order, name)
	}
	if !slices.Contains(l.of[name], item) {
		l.of[name] = append(l.of[name], item)
	}
}

// names are all that --set could name.
func (l *lacking) names() []string {
	return append(each.Of(l.order, func(what string) string {
		return strings.Trim(what[strings.LastIndexByte(what, ' ')+1:], "{:}")
	}), l.known...)
}

// err names what is lacking; nil for nothing.
func (l *lacking) err() error {
	if len(l.order) == 0 {
		return nil
	}
	const most = 12
	shown := each.Of(l.order[:min(most, len(l.order))], func(name string) string {
		items := l.of[name]
		text := fmt.Sprintf("%s (needed by %q", quantity.Clip(name, 80), quantity.Clip(items[0], 80))
		if n := len(items) - 1; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		return text + ")"
	})
	if n := len(l.order) - most; n > 0 {
		shown = append(shown, fmt.Sprintf("%d more", n))
	}
	verb := " have no value; "
	if len(l.order) == 1 {
		verb = " has no value; "
	}
	return errors.New(quantity.And(shown) + verb + l.hint)
}

// ofOneHost keeps the requests to the host that most ask.
func (m *maker) ofOneHost() (base string) {
	hosts := map[string]int{}
	var order []string
	for _, r := range m.requests {
		if b := baseOf(r.url); hosts[b] == 0 {
			order = append(order, b)
		}
		hosts[baseOf(r.url)]++
	}
	if len(order) == 0 {
		return ""
	}
	base = slices.MaxFunc(order, func(a, b string) int { return cmp.Compare(hosts[a], hosts[b]) })
	m.requests = slices.DeleteFunc(m.requests, func(r request) bool {
		other := baseOf(r.url)
		if other != base {
			m.left["to another host, "+cmp.Or(other, "which is not named")]++
		}
		return other != base
	})
	return base
}

// baseOf is the scheme, host and port of a URL; "" of a path.
func baseOf(text string) string {
	if strings.HasPrefix(text, "/") {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil { // it was parsed
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// pathOf is what a request line asks for: the path and query of a URL.
func pathOf(text string) string {
	if text = strings.TrimPrefix(text, baseOf(text)); text == "" || text[0] == '?' {
		text = "/" + text
	}
	return text
}

// notes say what was left out, and what is to be given.
func (m *maker) notes() (notes []string) {
	writes, count := []string{}, 0
	for _, why := range slices.Sorted(maps.Keys(m.left)) {
		n := m.left[why]
		name, isQuery := strings.CutPrefix(why, "query parameter ")
		switch {
		case isQuery:
			notes = append(notes, fmt.Sprintf("not written: %s %s, which is secret; add it to the paths if it is needed", quantity.Plural(n, "query parameter"), name))
		case strings.Contains(why, " "):
			notes = append(notes, fmt.Sprintf("left out: %s %s", quantity.Plural(n, "request"), why))
		default:
			writes, count = append(writes, why), count+n
		}
	}
	if count > 0 {
		what, kept := "by other methods", m.options.Methods
		if len(kept) == 0 {
			what, kept = "that may change what the service holds", reads[:1]
		}
		all := append(slices.Clone(kept), writes...)
		notes = append(notes, fmt.Sprintf("left out: %s %s (%s); --methods %s has them too", quantity.Plural(count, "request"), what, strings.Join(writes, ", "), strings.Join(all, ",")))
	}
	for _, form := range slices.Sorted(maps.Keys(m.headers)) {
		notes = append(notes, fmt.Sprintf("not written: the header %s of %s, which is secret; -H gives it to all", form, quantity.Plural(m.headers[form], "request")))
	}
	return each.Of(notes, printable.Text)
}
