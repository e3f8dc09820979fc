package target

import (
	"net/http"
	"strings"
	"testing"

	"netdyno/internal/head"
	"netdyno/internal/printable"
)

// A value stands in each place as that place needs it, and what is no name stays.
func TestFill(t *testing.T) {
	f := Fill{"t": `a"b&c/d é`}
	if got := f.url("/x/{t}/%7Bt%7D?q={t}&r={u}"); got != "/x/a%22b%26c%2Fd%20%C3%A9/a%22b%26c%2Fd%20%C3%A9?q=a%22b%26c%2Fd%20%C3%A9&r={u}" {
		t.Errorf("URL %s", got)
	}
	form := []head.Field{{Name: "content-type", Value: "application/x-www-form-urlencoded"}}
	for body, want := range map[string]string{
		`{"a": "{t}", "b": {"c": "{u}"}}`: `{"a": "a\"b\u0026c/d é", "b": {"c": "{u}"}}`,
		`[{"a": "{t}"}]`:                  `[{"a": "a\"b\u0026c/d é"}]`,
		"x={t}&y={u}":                     "x=a%22b%26c%2Fd+%C3%A9&y={u}",
		"{t}":                             "a%22b%26c%2Fd+%C3%A9",
	} {
		if got := f.body(body, form); got != want {
			t.Errorf("body %s is %s, want %s", body, got, want)
		}
	}
	if got := f.body("x {t}", nil); got != `x a"b&c/d é` {
		t.Errorf("body %s", got)
	}
	if h, err := f.header(head.Field{Name: "A", Value: "Bearer {t}"}); err != nil || h.Value != `Bearer a"b&c/d é` {
		t.Errorf("header %v, %v", h, err)
	}
	for _, value := range []string{"a\r\nX: y", "a\nb", "a\x00"} {
		if h, err := (Fill{"t": value}).header(head.Field{Name: "A", Value: "{t}"}); err == nil || strings.Contains(err.Error(), value) {
			t.Errorf("header %q, %v; want an error without the value", h, err)
		}
	}
	if got := f.Hide(`404 a%22b%26c%2Fd+%C3%A9: a"b&c/d é, a"b&c/d X`); got != "404 ***: ***, ***X" {
		t.Errorf("hidden %s", got)
	}
}

// A value in a request is a secret of the trial, wherever it stands.
func TestFilledTextsAreSecret(t *testing.T) {
	f := Fill{"t": "7"}
	for _, text := range []string{"/x/7", `{"a": 7}`} {
		if !f.within(text) {
			t.Errorf("%q has the value", text)
		}
	}
	if f.within("/x/8") {
		t.Error("/x/8 has no value")
	}
}

func TestTakes(t *testing.T) {
	c := Came{
		Words: "GET http://a: 200 OK", header: http.Header{"X-Id": {"5"}}, cookies: []*http.Cookie{{Name: "sid", Value: "s"}},
		body: []byte(`{"a": {"b": [{"c": "deep"}, 12345678901234567890]}, "none": null, "yes": true, "long": "` + strings.Repeat("x", mostValue+1) + `"}`),
	}
	for text, want := range map[string]string{
		"n=json:$.a.b[0].c": "deep", "n=json:$.a.b[1]": "12345678901234567890", "n=json:$.yes": "true", "n=json:$['a']['b'][-2].c": "deep",
		"n=header:x-id": "5", "n=cookie:sid": "s",
	} {
		take, err := ParseTake(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := take.Value(c); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"n": "expected NAME=json:", "1n=header:x": "expected NAME=json:", "n=json:": "expected NAME=json:", "n=json:a.b": "RFC 9535", "n=json:$.a[": "RFC 9535",
		"n=jsn:$.a": `"json"`, "n=regexp:x": "k6", "n=json:$.a": "an object or an array", "n=json:$.none": "without such a value", "n=json:$.long": "bytes; expected 1 to",
		"n=header:y": "its headers are X-Id", "n=cookie:y": "its cookies are sid",
	} {
		take, err := ParseTake(text)
		if err == nil {
			_, err = take.Value(c)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "deep") {
			t.Errorf("%s: %v; want an error with %q and without values", text, err, want)
		}
	}
}

// Whatever is asked for and whatever comes, a value has its bounds, and an error is printable.
func FuzzTake(f *testing.F) {
	f.Add("n=json:$.a[0]['b']", `{"a": [{"b": 1}]}`)
	f.Add("n=json:$..*", `[[1], "x"]`)
	f.Add("n=cookie:a", "")
	f.Fuzz(func(t *testing.T, text, body string) {
		take, err := ParseTake(text)
		value := ""
		if err == nil {
			value, err = take.Value(Came{Words: "GET http://a: 200 OK", body: []byte(body)})
		}
		if err == nil && (value == "" || len(value) > mostValue) {
			t.Errorf("%q of %q is %q", text, body, value)
		}
		if err != nil && printable.Text(err.Error()) != err.Error() {
			t.Errorf("%q of %q: %q", text, body, err)
		}
	})
}
