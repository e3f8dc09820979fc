package target_test

import (
	"strings"
	"testing"

	"netdyno/internal/run/target"
)

func TestURLsAreReadAsCurlDoes(t *testing.T) {
	for _, c := range []struct{ text, host, line string }{
		{"http://h:1", "h:1", "/"},
		{"HTTP://h:1/x?q=1", "h:1", "/x?q=1"},
		{"http://h:1?s=64", "h:1", "/?s=64"},
		{"http://h:1/a%20b", "h:1", "/a%20b"},
		{"http://h:1/a b?c d#e", "h:1", "/a%20b?c%20d"},
		{"http://h:1/~joe/(x);v=1/@me,b'!*=&", "h:1", "/~joe/(x);v=1/@me,b'!*=&"},
		{"http://h:1/50%/%zz/%41", "h:1", "/50%25/%25zz/%41"},
		{"http://h:1/é?ü=ß", "h:1", "/%C3%A9?%C3%BC=%C3%9F"},
		{"http://h:1//double//", "h:1", "//double//"},
		{"http://h:1/a/../b/./c", "h:1", "/a/../b/./c"},
		{"http://h:1/a?b=[1]&c={2}|3", "h:1", "/a?b=[1]&c=%7B2%7D%7C3"},
		{"http://bücher.example:8080/", "xn--bcher-kva.example:8080", "/"},
		{"http://[::1]:80/", "[::1]:80", "/"},
		{"http://[fe80::1%eth0]:80/", "[fe80::1%eth0]:80", "/"},
		{"http://[fe80::1%25eth0]:80/", "[fe80::1%eth0]:80", "/"},
		{"localhost:8080/x", "localhost:8080", "/x"},
		{"127.0.0.1:80?x", "127.0.0.1:80", "/?x"},
		{"http://user:p%40ss@h:1/x", "h:1", "/x"},
		{"http://user:p@ss@h:1/x", "h:1", "/x"},
		{"http://h:1/" + strings.Repeat("x", 8000), "h:1", "/" + strings.Repeat("x", 8000)},
	} {
		u, err := target.Parse(c.text)
		if err != nil || u.Host != c.host || u.RequestURI() != c.line {
			t.Errorf("%.80s: %v, %v; want %s and %s", c.text, u, err, c.host, c.line)
			continue
		}
		if password, _ := u.User.Password(); strings.Contains(c.text, "user:") && (u.User.Username() != "user" || password != "p@ss") {
			t.Errorf("%s: the user is %v", c.text, u.User)
		}
		if strings.Contains(target.Shown(u), "ss@") {
			t.Errorf("%s is shown as %s", c.text, target.Shown(u))
		}
	}
	for _, text := range []string{"http://user:s3cret@", "http:///x", "http://user:s3cret@[::1", "http://" + strings.Repeat("x", 9000)} {
		if _, err := target.Parse(text); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

func TestIsURL(t *testing.T) {
	for text, want := range map[string]bool{
		"http://x": true, "https://x/": true, "HTTP://x": true, "tcp://x:1": true, "event-loops": false, "my.yaml": false, "transport=go-net": false, "ftp://x": false,
		"localhost:8080": true, "localhost:8080/x?y=1": true, "[::1]:80/": true, "results/x:1": false, "x:y": false, "rate=1:2": false,
	} {
		if _, is := target.WithScheme(text); is != want {
			t.Errorf("%q names a server: %v", text, is)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("http://u:p@bücher.example:8080/a b?c=%zz#d")
	f.Add("[fe80::1%eth0]:80/x")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := target.Parse(text)
		if err != nil {
			return
		}
		if strings.ContainsAny(u.RequestURI(), " \r\n\x00") || !strings.HasPrefix(u.RequestURI(), "/") {
			t.Errorf("%q asks for %q", text, u.RequestURI())
		}
	})
}
