package target

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"netdyno/internal/head"
	"netdyno/internal/quantity"
)

// Class is what the exchanges of a class of a workload ask for. What it leaves out is the
// target's.
type Class struct {
	Name         string
	Method, Path string
	Headers      []string // "Name: value", in place of the target's of that name
	Body         string
	Status       int // that its replies must have; 0 for any 2xx
}

// turn is how request i is made, where and with which body, filled: as the target says, for
// the path whose turn it is, or as the class whose turn it is.
func (t Target) turn(u *url.URL, body string, i int) (Target, *url.URL, string, error) {
	t, u, body, err := t.filled(u, body, uint64(t.asked.Load()))
	if err != nil {
		return t, u, body, err
	}
	path := ""
	if n := len(t.Paths); n > 0 {
		path = t.Paths[i%n]
	}
	if n := len(t.Classes); n > 0 {
		c := t.Classes[i%n]
		path, t.class, body = c.Path, c.Name, c.Body
		if t.Method = cmp.Or(c.Method, t.Method); t.Method == "" {
			t.Method = http.MethodGet
			if body != "" {
				t.Method = http.MethodPost
			}
		}
		if c.Status != 0 {
			t.Status = c.Status
		}
		own, err := head.Parse(strings.Join(c.Headers, "\n"))
		if err != nil {
			return t, u, body, fmt.Errorf("class %s: headers: %w", c.Name, err)
		}
		fields, err := t.fields()
		if err != nil {
			return t, u, body, err
		}
		t.Headers = strings.Split(head.Text(head.Over(own, fields)), "\n")
	}
	if path == "" {
		return t, u, body, nil
	}
	where, err := u.Parse(path)
	return t, where, body, err
}

// ofClass says of which class a request was that failed, and of a redirection what would do.
// said is what the failure means.
func (t Target) ofClass(u *url.URL, failure, said error) error {
	if t.class == "" {
		return said
	}
	var to redirected
	if errors.As(failure, &to) {
		said = fmt.Errorf("%s redirects to %s; give the class that path, or status: %d", u, quantity.Clip(to.to, 200), to.code)
	}
	return fmt.Errorf("class %s (%s): %w", t.class, t.Method, said)
}

// statusBy is what says which status is expected.
func (t Target) statusBy() string {
	if t.class != "" {
		return "its class"
	}
	return "--expect-status"
}

// least is how many good replies it takes to know the target.
func (t Target) least() int {
	if t.Events.Follow {
		return 1 // which may take long, and cost something
	}
	return max(asked, len(t.Classes))
}

// asksURL tells whether the URL's own path is asked for.
func (t Target) asksURL() bool {
	return len(t.Paths) == 0 && (len(t.Classes) == 0 || slices.ContainsFunc(t.Classes, func(c Class) bool { return c.Path == "" }))
}
