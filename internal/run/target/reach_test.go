package target_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"netdyno/internal/run/target"
)

// homes are servers of one port at several loopback addresses, and how often each was asked.
func homes(t *testing.T, answer http.HandlerFunc, at ...string) (port string, asked []*atomic.Int64) {
	t.Helper()
	for i, ip := range at {
		l, err := net.Listen("tcp", net.JoinHostPort(ip, port))
		if err != nil {
			t.Skipf("%s cannot be listened at: %v", ip, err)
		}
		if i == 0 {
			_, port, _ = net.SplitHostPort(l.Addr().String())
		}
		n := new(atomic.Int64)
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n.Add(1); answer(w, r) }))
		_ = s.Listener.Close()
		s.Listener = l
		s.Start()
		t.Cleanup(s.Close)
		asked = append(asked, n)
	}
	return port, asked
}

// All addresses of a name are asked, and those that take no connection left out, which is said.
func TestAllAddressesOfANameAreAsked(t *testing.T) {
	port, asked := homes(t, func(http.ResponseWriter, *http.Request) {}, "127.0.0.2", "127.0.0.3")
	one, two := "127.0.0.2:"+port, "127.0.0.3:"+port
	dial := func(of string) []string {
		if of != "shop.example:80" {
			return nil
		}
		return []string{"127.0.0.1:1", one, two, one, "[::1]:1"}
	}
	f := levels(t, target.Target{URL: "http://shop.example/x", Dial: dial, Client: cheap}, map[string]string{
		"opt.server.address": one + "+" + two, "opt.client.host": "shop.example", "client": "http1-uring",
	})
	if !strings.Contains(f.Spread, "2 addresses of shop.example") || !strings.Contains(f.Spread, "left out, as they take no connection: 127.0.0.1:1") || len(f.Addresses) != 2 {
		t.Errorf("%q, %v", f.Spread, f.Addresses)
	}
	if asked[0].Load() == 0 || asked[1].Load() == 0 || f.Asked != asked[0].Load()+asked[1].Load() {
		t.Errorf("asked %d and %d times, and says %d", asked[0].Load(), asked[1].Load(), f.Asked)
	}
	f = levels(t, target.Target{URL: "http://shop.example/x", Dial: dial, Client: cheap, First: true}, map[string]string{"opt.server.address": one, "client": "http1-uring"})
	if !strings.Contains(f.Spread, one+" alone") {
		t.Errorf("%q", f.Spread)
	}
	refused(t, target.Target{URL: "http://127.0.0.2:" + port, Family: "6"}, "127.0.0.2 has no address of IPv6; it has 127.0.0.2")
	levels(t, target.Target{URL: "http://localhost:" + port, Family: "4", Dial: func(string) []string { return []string{two} }}, map[string]string{"opt.server.address": two})
}

// One that answers otherwise is named before the run.
func TestAnAddressThatAnswersOtherwiseIsNamed(t *testing.T) {
	port, _ := homes(t, func(w http.ResponseWriter, r *http.Request) {
		if at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr); strings.HasPrefix(at.String(), "127.0.0.3:") {
			http.NotFound(w, r)
		}
	}, "127.0.0.2", "127.0.0.3")
	refused(t, target.Target{URL: "http://shop.example/", Dial: func(string) []string { return []string{"127.0.0.2:" + port, "127.0.0.3:" + port} }},
		"127.0.0.3:"+port+", one of 2 addresses of shop.example: http://shop.example/ answers 404 Not Found")
}
