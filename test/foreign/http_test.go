package foreign_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
)

// The servers of each wire of HTTP.
var (
	http1Servers = []string{"go-http1", "fasthttp", "gin", "http1-uring"}
	h2cServers   = []string{"go-http2"}
)

const block = 4 << 20

func TestCurl(t *testing.T) {
	for _, name := range append(http1Servers, h2cServers...) {
		t.Run(name, func(t *testing.T) {
			need(t, []string{"curl"}, name)
			t.Run("get", func(t *testing.T) {
				s := listen(t, "transport="+name, "request=0B", "response=4MiB")
				for range 3 {
					curl(t, exchange{name, "http://" + s.address + "/any", 0, block})
				}
				s.counted(3, 1)
			})
			t.Run("post", func(t *testing.T) {
				s := listen(t, "transport="+name, "request=1000B", "response=10B")
				e := exchange{name, "http://" + s.address + "/", 1000, 10}
				curl(t, e)
				curl(t, e, "-H", "Transfer-Encoding: chunked")
				s.counted(2, 1)
			})
			t.Run("post of another size", func(t *testing.T) {
				s := listen(t, "transport="+name, "request=1000B", "response=10B")
				for _, size := range []int64{999, 1001} {
					refused(t, exchange{name, "http://" + s.address + "/", size, 0})
				}
				s.counted(0, 0)
			})
			if offer, err := catalog.Offer(name, ""); err != nil || !slices.Contains(offer.Features, contract.FeatureTLS) {
				return
			}
			t.Run("encrypted", func(t *testing.T) {
				s := listen(t, "transport="+name, "request=0B", "response=64KiB", "tls=yes")
				for range 3 {
					curl(t, exchange{name, "https://" + s.address + "/", 0, 64 << 10}, "-k")
				}
				s.counted(3, 1)
			})
		})
	}
}

// curl does one exchange and demands status 200 and a body of that size.
func curl(t *testing.T, e exchange, more ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "down")
	status := curlStatus(t, e, append(more, "-o", file)...)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if status != "200" || info.Size() != e.down {
		t.Errorf("curl %s: status %s and %d bytes, want 200 and %d", e.url, status, info.Size(), e.down)
	}
}

// exchange is one exchange for curl: GET without anything to send, else POST.
type exchange struct {
	transport, url string
	up, down       int64
}

// refused demands status 400. An HTTP/2 server that refuses a request unread
// resets the stream behind its reply, and curl before 8 then forgets the reply;
// nghttp2's own client does not.
func refused(t *testing.T, e exchange) {
	t.Helper()
	if e.transport != "go-http2" {
		if status := curlStatus(t, e); status != "400" {
			t.Errorf("a request of %d bytes has status %s, want 400", e.up, status)
		}
		return
	}
	need(t, []string{"h2load"})
	out := run(t, "h2load", "-n", "1", "-c", "1", "-d", upFile(t, e), e.url)
	if !strings.Contains(out, " 1 4xx") {
		t.Errorf("a request of %d bytes is not refused: %s", e.up, out)
	}
}

// upFile holds what the exchange sends.
func upFile(t *testing.T, e exchange) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "up")
	if err := os.WriteFile(file, make([]byte, e.up), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// curlStatus does one exchange and returns the status of the reply.
func curlStatus(t *testing.T, e exchange, more ...string) string {
	t.Helper()
	argv := []string{"curl", "-sS", "--noproxy", "*", "-w", "\n%{http_code} %{http_version}"}
	version := "1.1"
	if e.transport == "go-http2" {
		version = "2"
		if strings.HasPrefix(e.url, "http:") {
			argv = append(argv, "--http2-prior-knowledge")
		}
	}
	if e.up > 0 {
		argv = append(argv, "--data-binary", "@"+upFile(t, e))
	}
	out := run(t, append(append(argv, more...), e.url)...)
	status, got, _ := strings.Cut(out[strings.LastIndexByte(out, '\n')+1:], " ")
	if got != version {
		t.Errorf("curl %s spoke HTTP/%s, want HTTP/%s", e.url, got, version)
	}
	return status
}
