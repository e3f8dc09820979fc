package curl_test

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/curl"
)

// files are what the tests' words name.
func files(name string) ([]byte, error) {
	held, known := map[string]string{"order.json": "{\n \"a\": 1\n}\n", "-": "from\nstdin\n", "bin": "\x00\xff\n", "photo.png": "PNG", "head": "Authorization: x\r\n\nX-Key: 1\n"}[name]
	if !known {
		return nil, errors.New("open " + name + ": no such file or directory")
	}
	return []byte(held), nil
}

func TestBodiesAreMadeAsCurlDoes(t *testing.T) {
	const form = "Content-Type: application/x-www-form-urlencoded"
	for _, c := range []struct {
		pieces      []curl.Piece
		body, media string
	}{
		{nil, "", ""},
		{[]curl.Piece{{curl.Data, "a=1"}, {curl.Data, "b=2"}}, "a=1&b=2", form},
		{[]curl.Piece{{curl.Data, "@order.json"}}, `{ "a": 1}`, form},
		{[]curl.Piece{{curl.Data, "@-"}}, "fromstdin", form},
		{[]curl.Piece{{curl.Binary, "@order.json"}}, "{\n \"a\": 1\n}\n", form},
		{[]curl.Piece{{curl.Binary, "@bin"}}, "\x00\xff\n", form},
		{[]curl.Piece{{curl.Data, "@bin"}}, "\xff", form},
		{[]curl.Piece{{curl.Raw, "@home"}}, "@home", form},
		{[]curl.Piece{{curl.Encode, "q=a b&c"}, {curl.Encode, "=d/e"}, {curl.Encode, "f@bin"}}, "q=a%20b%26c&d%2Fe&f=%00%FF%0A", form},
		{[]curl.Piece{{curl.JSON, `{"a":`}, {curl.JSON, `1}`}}, `{"a":1}`, "Content-Type: application/json"},
	} {
		r, err := curl.Words{Pieces: c.pieces}.Request(files)
		if err != nil || r.Body != c.body || c.media != "" && !slices.Contains(r.Headers, c.media) {
			t.Errorf("%v: body %q, headers %q, %v", c.pieces, r.Body, r.Headers, err)
		}
	}
	r, err := curl.Words{Pieces: []curl.Piece{{curl.Data, ""}}}.Request(files)
	if err != nil || r.Method != http.MethodPost || !slices.Contains(r.Headers, form) {
		t.Errorf("an empty --data makes %+v, %v", r, err)
	}
	r, err = curl.Words{Pieces: []curl.Piece{{curl.Data, "a=1"}}, Get: true, Queries: []string{"q=a b", "+c=d e"}}.Request(files)
	if err != nil || r.Query != "a=1&q=a%20b&c=d e" || r.Body != "" || len(r.Headers) != 0 {
		t.Errorf("--get makes %+v, %v", r, err)
	}
}

func TestHeaders(t *testing.T) {
	r, err := curl.Words{
		Headers: []string{"Accept: text/html", "X-Empty;", "user-agent:", ":authority: a", "Connection: close", "Content-Length: 9", "X: a: b ", "x: 2", "Content-Type: text/plain"},
		Pieces:  []curl.Piece{{curl.Data, "a"}}, Agent: "me/1", User: "ann:p:w", Cookies: []string{"a=b; c=d"}, Refers: "http://r/", Compressed: true,
	}.Request(files)
	want := []string{"Accept: text/html", "X-Empty: ", "X: a: b", "x: 2", "Content-Type: text/plain", "Referer: http://r/", "Cookie: a=b; c=d", "Accept-Encoding: gzip, deflate, br", "Authorization: Basic YW5uOnA6dw=="}
	if err != nil || !slices.Equal(r.Headers, want) || !r.Close {
		t.Errorf("%q, close %v, %v\nwant %q", r.Headers, r.Close, err, want)
	}
}

func TestHeadersOfAFile(t *testing.T) {
	r, err := curl.Words{Headers: []string{"A: b", "@head"}}.Request(files)
	if want := []string{"A: b", "Authorization: x", "X-Key: 1"}; err != nil || !slices.Equal(r.Headers, want) {
		t.Errorf("%q, %v, want %q", r.Headers, err, want)
	}
	if _, err := (curl.Words{Headers: []string{"@none"}}).Request(files); err == nil || !strings.Contains(err.Error(), "--header: open none") {
		t.Error(err)
	}
}

func TestForms(t *testing.T) {
	w := curl.Words{Forms: []string{"name=value;x", "photo=@photo.png;type=image/x;filename=p.png", "text=<order.json"}}
	r, err := w.Request(files)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.Request(files); err != nil || again.Body != r.Body {
		t.Errorf("the same form gives another body, %v", err)
	}
	_, parameters, err := mime.ParseMediaType(strings.TrimPrefix(r.Headers[0], "Content-Type: "))
	if err != nil {
		t.Fatal(err)
	}
	m := multipart.NewReader(strings.NewReader(r.Body), parameters["boundary"])
	for _, want := range []string{"name|||value;x", "photo|p.png|image/x|PNG", "text|||{\n \"a\": 1\n}\n"} {
		p, err := m.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		content, _ := io.ReadAll(p)
		if got := strings.Join([]string{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), string(content)}, "|"); got != want {
			t.Errorf("part %q, want %q", got, want)
		}
	}
}

// As a browser copies a handshake for curl.
func TestHeadersOfAWebSocketAreItsClients(t *testing.T) {
	r, err := curl.Words{Headers: []string{"Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: AA==", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Extensions: permessage-deflate", "Sec-WebSocket-Protocol: json"}}.Request(files)
	if err != nil || !r.WebSocket || len(r.LeftOut) != 5 || !slices.Equal(r.Headers, []string{"Sec-WebSocket-Protocol: json"}) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAnUploadIsPut(t *testing.T) {
	for file, want := range map[string]curl.Request{
		"bin":  {Method: "PUT", Body: "\x00\xff\n", File: "bin"},
		"-":    {Method: "PUT", Body: "from\nstdin\n"},
		"none": {},
	} {
		r, err := curl.Words{Upload: file}.Request(files)
		if file == "none" {
			if err == nil || !strings.Contains(err.Error(), "--upload-file: open none: no such") {
				t.Error(err)
			}
		} else if err != nil || r.Method != want.Method || r.Body != want.Body || r.File != want.File || len(r.Headers) > 0 {
			t.Errorf("-T %s: %+v, %v, want %+v", file, r, err, want)
		}
	}
}

func TestWhatCurlWouldNotTakeIsNamed(t *testing.T) {
	for want, w := range map[string]curl.Words{
		"--user: expected":             {User: "s3cret"},
		"--cookie: expected":           {Cookies: []string{"s3cret"}},
		"the second of them: expected": {Headers: []string{"A: b", "Bearer s3cret"}},
		"the first of them: expected":  {Headers: []string{"A: s3cret\nB: c"}},
		"expected one of them":         {Forms: []string{"a=b"}, Pieces: []curl.Piece{{curl.Data, "a"}}},
		"--upload-file and --data":     {Upload: "bin", Pieces: []curl.Piece{{curl.Data, "a"}}},
		"--get and --head have none":   {Upload: "bin", Head: true},
		"a form cannot be there":       {Forms: []string{"a=b"}, Get: true},
		"--form a: expected NAME=TEXT": {Forms: []string{"a"}},
		"--data: open none: no such":   {Pieces: []curl.Piece{{curl.Data, "@none"}}},
		"--form a: open none: no such": {Forms: []string{"a=@none"}},
	} {
		if _, err := w.Request(files); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	to, err := curl.Addresses([]string{"shop.example:443:127.0.0.1", "six.example:80:[::1]", "plain.example:80:::1,127.0.0.1"}, []string{"a:1:b:2", "c:::9", "::[::2]:"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"shop.example:443": "127.0.0.1:443", "SHOP.example:443": "127.0.0.1:443", "six.example:80": "[::1]:80", "plain.example:80": "[::1]:80 127.0.0.1:80",
		"a:1": "b:2", "c:7": "c:9", "other:5": "[::2]:5",
	} {
		if got := strings.Join(to(address), " "); got != want {
			t.Errorf("%s goes to %s, want %s", address, got, want)
		}
	}
	for _, bad := range [][2][]string{{{"a:1"}, nil}, {{"a:1:"}, nil}, {nil, {"a:1:b"}}} {
		if _, err := curl.Addresses(bad[0], bad[1]); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
