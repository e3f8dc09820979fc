package recorded_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/recorded"
	"netdyno/internal/traffic"
)

// made makes recorded traffic of a text, and reads it back.
func made(t testing.TB, format, text string, o recorded.Options) (recorded.Summary, *traffic.Body, []traffic.Request, error) {
	t.Helper()
	f, err := recorded.Named(format)
	if err != nil {
		t.Fatal(err)
	}
	spool, err := os.Create(filepath.Join(t.TempDir(), "spool"))
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	var out bytes.Buffer
	s, err := recorded.Make(context.Background(), f, []recorded.Input{{Name: "log", From: strings.NewReader(text)}}, o, recorded.Output{Spool: spool, To: &out})
	if err != nil {
		return s, nil, nil, err
	}
	body, err := traffic.Open(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	var all []traffic.Request
	r, err := body.From(0)
	for err == nil {
		var next traffic.Request
		if next, err = r.Next(); err == nil {
			all = append(all, next)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return s, body, all, nil
}

// shown writes requests with the names of their classes and paths, to 10 ms: in a
// millisecond that a log tells they lie anywhere.
func shown(s recorded.Summary, b *traffic.Body, all []traffic.Request) string {
	var text strings.Builder
	for _, r := range all {
		path := ""
		if r.Path >= 0 {
			path = " " + b.Paths[r.Path]
		}
		fmt.Fprintf(&text, "%d %s %d %d%s\n", (r.AtNs+5e6)/1e7*10, s.Classes[r.Class].Name, r.Up, r.Down, path)
	}
	return text.String()
}

const combined = `192.0.2.1 - - [27/Nov/2026:10:00:00 +0100] "GET /cart/7?token=secret HTTP/1.1" 200 512 "-" "curl/8"
192.0.2.1 - bob [27/Nov/2026:10:00:02 +0100] "POST /orders HTTP/1.1" 201 33 "https://shop.example/" "Mozilla/5.0 (X11)"
192.0.2.1 - - [27/Nov/2026:10:00:03 +0100] "GET /gone HTTP/1.1" 404 9 "-" "curl/8"
`

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		format, text, want string
		o                  recorded.Options
	}{
		"common": {"nginx", `192.0.2.1 - - [27/Nov/2026:10:00:00 +0100] "GET /a?x=1 HTTP/1.1" 200 5
192.0.2.1 - - [27/Nov/2026:10:00:01 +0100] "PUT /b/c HTTP/2.0" 204 -
`, "", recorded.Options{}},
		"jsonl": {"jsonl", `{"time":"2026-11-27T09:00:00.100000001Z","class":"cart","down":7,"x":[1,{"time":3}],"y":{"down":9}}
{"time":"2026-11-27T09:00:01.100000001Z","class":"list","down":8}
`, "0 cart 0 7\n1000 list 0 8\n", recorded.Options{}},
		"har": {"har", `{"log":{"version":"1.2","pages":[{"id":"x"}],"entries":[
{"startedDateTime":"2026-11-27T09:00:00.000000Z","time":50,"request":{"method":"GET","url":"https://shop.example/app.js?v=2","headers":[{"name":"Cookie","value":"secret"}],"bodySize":-1},"response":{"status":200,"content":{"size":1000,"text":"aaaa"}}},
{"startedDateTime":"2026-11-27T09:00:00.040000Z","request":{"method":"POST","url":"https://shop.example","bodySize":12},"response":{"status":302,"content":{"size":0}}}]}}`,
			"0 GET /app.js 0 1000 /app.js\n40 POST / 302 12 0 /\n", recorded.Options{Paths: true}},
	} {
		s, body, all, err := made(t, c.format, c.text, c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := shown(s, body, all); c.want != "" && got != c.want {
			t.Errorf("%s:\n%swant\n%s%q", name, got, c.want, s.FirstShown)
		}
		if s.Requests != int64(len(all)) || len(all) != 2 || len(s.LeftOut) > 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if text := string(body.Header); strings.Contains(text, "secret") || strings.Contains(strings.Join(body.Paths, ""), "secret") {
			t.Errorf("%s keeps a secret: %s %q", name, text, body.Paths)
		}
	}
}

// A log of whole seconds has its requests placed in each second, in rising order, the same
// ones each time. Paths are kept only where asked for, and never with their query.
func TestWholeSeconds(t *testing.T) {
	s, body, all, err := made(t, "nginx", combined, recorded.Options{})
	if err != nil || s.Grain.Seconds() != 1 || len(all) != 3 || len(body.Paths) != 0 {
		t.Fatalf("%+v, %v, %v, %q", s, err, all, body.Paths)
	}
	for i, second := range []int64{0, 2, 3} {
		at := s.From.UnixNano() + all[i].AtNs
		if at/1e9 != 1795770000+second {
			t.Errorf("request %d came at %d", i, at)
		}
	}
	if _, _, again, _ := made(t, "nginx", combined, recorded.Options{}); !slices.Equal(all, again) {
		t.Error("the same log makes another file")
	}
	names := ""
	for _, c := range s.Classes {
		names += fmt.Sprintf("%s %d;", c.Name, c.Status)
	}
	if names != "GET 0;POST 0;GET 404 404;" {
		t.Error(names)
	}
	s, body, _, _ = made(t, "nginx", combined, recorded.Options{Paths: true})
	if got := strings.Join(body.Paths, " "); got != "/cart/7 /orders /gone" || s.Paths != 3 {
		t.Error(got)
	}
	if !strings.Contains(string(body.Header), `name: "GET /gone 404", requests: 1, up: 0B, down: 9B, most_up: 0B, most_down: 9B, method: GET, status: 404`) {
		t.Errorf("%s", body.Header)
	}
}

// Lines that are none are counted by what is wrong, and the first are shown as text.
func TestHostileLines(t *testing.T) {
	line := func(request string) string {
		return `192.0.2.1 - - [27/Nov/2026:10:00:00 +0100] "` + request + `" 200 512 "-" "x"` + "\n"
	}
	text := combined + "\x1b[31mtorn\x00\n" + line(`\x16\x03\x01`) + line("PROPFIND / HTTP/1.1") + line("GET // HTTP/1.1") + "\n" +
		strings.Replace(line("GET / HTTP/1.1"), "27/Nov", "99/Nov", 1) + strings.Replace(line("GET / HTTP/1.1"), "512", "many", 1) +
		strings.Replace(line("GET / HTTP/1.1"), " 200 ", " 499 ", 1) + line("GET /"+strings.Repeat("x", 300<<10)+" HTTP/1.1") + strings.Repeat("foreign\n", 20) +
		strings.TrimSuffix(line(`GET /caf\xC3\xA9 HTTP/1.1`), "\n")
	s, body, all, err := made(t, "nginx", text, recorded.Options{Paths: true})
	if err != nil || len(all) != 4 || len(s.FirstShown) != 10 || body.Paths[3] != "/caf%C3%A9" {
		t.Fatalf("%v, %d requests, %q, %q", err, len(all), s.FirstShown, body.Paths)
	}
	if want := "21 not of this format, 2 without a method of HTTP that can be replayed, 1 that the client gave up, or that became another protocol, " +
		"1 too long, 1 with a number that cannot be read, 1 with a path that cannot be asked for, 1 without a time that can be read"; s.LeftOutWords() != want {
		t.Errorf("left out: %s", s.LeftOutWords())
	}
	if first := s.FirstShown[0]; strings.ContainsAny(first, "\x1b\x00") || !strings.HasPrefix(first, "log:4: not of this format: ") {
		t.Errorf("%q", first)
	}
}

// Times that go back are put in order within a bound.
func TestTimesThatGoBack(t *testing.T) {
	var text strings.Builder
	const n = 300_000
	for i := range n {
		fmt.Fprintf(&text, `{"time":17958564%02d.%06d,"method":"GET","down":%d}`+"\n", i/100_000%100, (i^1)%100_000*10, i)
	}
	text.WriteString(`{"time":1795856399.000000,"method":"GET","down":1}` + "\n")
	s, _, all, err := made(t, "jsonl", text.String(), recorded.Options{})
	if err != nil || len(all) != n || s.Sorted != n/2 || s.LeftOutWords() != "1 earlier than what was written already; name the oldest file first" {
		t.Fatalf("%v: %d requests, %d sorted, %s", err, len(all), s.Sorted, s.LeftOutWords())
	}
	for i, r := range all {
		if r.Down != int64(i^1) {
			t.Fatalf("request %d is the log's %d", i, r.Down)
		}
	}
}

// However many classes and paths a log has, the file has as many as it may.
func TestClassesAndPathsAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 70_000 {
		fmt.Fprintf(&text, `{"time":1795856400.%06d,"method":%q,"path":"/p%d","status":200}`+"\n", i, []string{"GET", "POST"}[i%2], i)
	}
	s, body, all, err := made(t, "jsonl", text.String(), recorded.Options{Paths: true})
	if err != nil || len(all) != 70_000 || len(body.Paths) != traffic.MostPaths || s.PathsLeft != 70_000-traffic.MostPaths || len(s.Classes) != 58 {
		t.Fatalf("%v: %d requests, %d paths, %d left, %d classes", err, len(all), len(body.Paths), s.PathsLeft, len(s.Classes))
	}
	if last := s.Classes[57]; last.Name != "POST others" && last.Name != "GET others" {
		t.Errorf("%+v", last)
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		format, text, want string
		o                  recorded.Options
	}{
		"no archive": {"har", "[1]", "it is no HTTP archive", recorded.Options{}},
		"no entries": {"har", `{"log":{}}`, "it holds no log.entries", recorded.Options{}},
		"cut off":    {"har", `{"log":{"entries":[{"startedDateTime":"2026`, "entry 1: it is cut off", recorded.Options{}},
		"nothing":    {"nginx", "what\never\n", "no request could be read: 2 not of this format", recorded.Options{}},
		"empty":      {"jsonl", "", "no request could be read: there is none", recorded.Options{}},
	} {
		if _, _, _, err := made(t, c.format, c.text, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := recorded.Named("ngnix"); err == nil || !strings.Contains(err.Error(), "nginx") {
		t.Error(err)
	}
}

func TestCompressedLogs(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(combined)); err != nil {
		t.Fatal(err)
	}
	_ = w.Close() // into memory
	if _, _, all, err := made(t, "nginx", packed.String(), recorded.Options{}); err != nil || len(all) != 3 {
		t.Errorf("%d requests, %v", len(all), err)
	}
}

// An archive's bodies are kept with their types, each once; cookies and other headers are not.
// A request whose body it does not have is counted as such.
func TestBodiesOfAnArchive(t *testing.T) {
	number := 0
	entry := func(method, more string) string {
		number++
		return fmt.Sprintf(`{"startedDateTime":"2026-11-27T09:00:00.%09dZ"`, number) + `,"request":{"method":"` + method + `","url":"http://shop.example/orders?token=s3cret","headers":[{"name":"Cookie","value":"s3cret"}],` + more + `},"response":{"status":200,"content":{"size":2}}}`
	}
	post := `"bodySize":9,"postData":{"mimeType":"application/json; charset=utf-8","text":"{\"a\": 1}"}`
	text := `{"log":{"entries":[` + strings.Join([]string{
		entry("POST", post), entry("POST", post), entry("PUT", post), entry("GET", `"bodySize":-1`), entry("POST", `"bodySize":0`),
		entry("POST", `"bodySize":12`), entry("POST", `"bodySize":-1`), entry("DELETE", `"bodySize":-1`),
		entry("POST", `"bodySize":3,"postData":{"mimeType":"application/octet-stream","encoding":"base64","text":"AAEC"}`),
		entry("POST", `"bodySize":3,"postData":{"mimeType":"a\r\nX: y","text":"abc"}`),
		entry("POST", `"bodySize":9000000,"postData":{"mimeType":"text/plain","text":"`+strings.Repeat("x", traffic.MostBody+1)+`"}`),
	}, ",") + `]}}`
	for _, paths := range []bool{true, false} {
		s, body, all, err := made(t, "har", text, recorded.Options{Paths: paths})
		if err != nil || len(all) != 10 || s.Bodies != 2 || len(body.Carried) != 2 || !strings.Contains(s.LeftOutWords(), "1 with a body of more than 8 MiB") || strings.Contains(fmt.Sprint(body, s), "s3cret") {
			t.Fatalf("%v, %d requests, %+v", err, len(all), s)
		}
		known := map[string]string{}
		for _, c := range s.Classes {
			known[c.Method] = fmt.Sprintf("%d of %d", c.Known, c.Requests)
		}
		if want := map[string]string{"POST": "4 of 7", "PUT": "1 of 1", "GET": "1 of 1", "DELETE": "1 of 1"}; !maps.Equal(known, want) {
			t.Errorf("%v, want %v", known, want)
		}
		first := body.Carried[all[0].Path]
		if all[0].Path != all[1].Path || all[0].Up != 8 || string(first.Content) != `{"a": 1}` || first.MediaType != "application/json; charset=utf-8" {
			t.Errorf("%+v, %q", all[0], first)
		}
		if !paths && body.Paths[all[0].Path] != "" {
			t.Errorf("the path %q is kept", body.Paths[all[0].Path])
		}
	}
	s, _, all, err := made(t, "har", text, recorded.Options{Methods: []string{"GET", "DELETE"}})
	if err != nil || len(all) != 2 || s.NotAsked != 9 || s.LeftOutWords() != "" || s.HostsWords() != "" {
		t.Errorf("%v, %d requests, %+v", err, len(all), s)
	}
	text = strings.Replace(text, "shop.example", "font.example:81", 2)
	if s, _, _, err := made(t, "har", text, recorded.Options{}); err != nil || !strings.Contains(s.HostsWords(), "(http://shop.example 9, http://font.example:81 2)") {
		t.Errorf("%v, %q", err, s.HostsWords())
	}
	if s, _, all, err := made(t, "har", text, recorded.Options{Only: []string{"//font.example:81/"}}); err != nil || len(all) != 2 || s.HostsWords() != "" {
		t.Errorf("%v, %d requests, %q", err, len(all), s.HostsWords())
	}
}

// FuzzMake: whatever a file holds, an error or traffic that can be read back.
func FuzzMake(f *testing.F) {
	for i, text := range []string{combined, `{"time":1795856400.5,"method":"GET","down":5}`, `{"log":{"entries":[{"startedDateTime":"2026-11-27T09:00:00Z","request":{"method":"GET","url":"/","postData":{"mimeType":"a/b","text":"c"}}}]}}`} {
		f.Add(i, []byte(text))
	}
	f.Fuzz(func(t *testing.T, format int, text []byte) {
		all := recorded.Formats()
		of := all[((format%len(all))+len(all))%len(all)]
		_, _, _, _ = made(t, of.Name, string(text), recorded.Options{Paths: true}) // fails by itself where what it made cannot be read
	})
}
