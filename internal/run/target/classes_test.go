package target_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"netdyno/internal/run/target"
)

// api has no page at its root.
type api struct {
	mu   sync.Mutex
	came []string
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	a.came = append(a.came, fmt.Sprintf("%s %s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), r.Header.Get("X-Of"), body))
	a.mu.Unlock()
	switch r.Method + " " + r.URL.Path {
	case "GET /items/1":
	case "POST /orders":
		w.WriteHeader(http.StatusCreated)
	case "GET /old":
		http.Redirect(w, r, "/new", http.StatusFound)
	default:
		http.NotFound(w, r)
	}
}

// What a workload's classes ask is asked, and not the URL's own path.
func TestClassesAreAskedFor(t *testing.T) {
	var a api
	s := httptest.NewServer(&a)
	defer s.Close()
	item, order := target.Class{Name: "item", Path: "/items/1?x=1"}, target.Class{
		Name: "buy", Method: "POST", Path: "/orders", Headers: []string{"content-type: application/json", "x-of: b"}, Body: `{"a":1}`, Status: 201,
	}
	f := levels(t, target.Target{URL: s.URL, Headers: []string{"X-Of: all"}, Classes: []target.Class{item, order}}, map[string]string{"opt.client.status": "", "opt.client.method": "", "opt.client.path": ""})
	want := []string{"GET /items/1?x=1  all ", `POST /orders application/json b {"a":1}`}
	if slices.Sort(a.came); !slices.Equal(slices.Compact(a.came), want) || !strings.Contains(f.Words, "2 kinds of request") {
		t.Errorf("%q; came %q, want %q", f.Words, a.came, want)
	}
	for text, c := range map[string]target.Class{
		"class gone (GET): " + s.URL + "/gone answers 404 Not Found":  {Name: "gone", Path: "/gone"},
		"answers 201 Created; its class says 200":                     {Name: "buy", Method: "POST", Path: "/orders", Status: 200},
		"redirects to /new; give the class that path, or status: 302": {Name: "old", Path: "/old"},
		"class root (GET)": {Name: "root"},
	} {
		_, err := target.Ask(t.Context(), target.Target{URL: s.URL, Follow: true, Classes: []target.Class{item, c}})
		if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "--expect-status") {
			t.Errorf("%+v: %v, want %q", c, err, text)
		}
	}
	levels(t, target.Target{URL: s.URL, Classes: []target.Class{{Name: "gone", Path: "/gone", Status: 404}}}, nil)
}
