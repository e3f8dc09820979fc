package target_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"netdyno/internal/run/target"
	"netdyno/test/shop"
)

// failing answers request n, from 1 on, with a status, and counts them.
func failing(t *testing.T, answer func(n int64) int) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	n := new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := answer(n.Add(1))
		if code == 0 { // no answer
			<-r.Context().Done()
			return
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "busy")
	}))
	t.Cleanup(s.Close)
	return s, n
}

// A server is believed where as many requests fail as may, and no more.
func TestAShareOfTheFirstRequestsMayFail(t *testing.T) {
	each := func(n int64, code int) func(int64) int {
		return func(k int64) int {
			if k%n == 0 {
				return code
			}
			return 200
		}
	}
	always := func(int64) int { return 503 }
	for name, c := range map[string]struct {
		answer func(int64) int
		most   float64
		limit  time.Duration
		says   string // "" where it is measured
		lacks  string
	}{
		"each third, half may":           {each(3, 503), 0.5, 0, "", ""},
		"each third, 1 % may":            {each(3, 503), 0.01, 0, "2 of 6 requests failed, and at most 1% may: --max-errors 70%", "--expect-status"},
		"all, half may":                  {always, 0.5, 0, "--expect-status 503 measures them", "requests failed"},
		"all and none may":               {always, 0, 0, "503", "requests failed"},
		"the first, 1 % may":             {func(k int64) int { return map[bool]int{true: 500, false: 200}[k == 1] }, 0.01, 0, "", ""},
		"each second never, half may":    {each(2, 0), 0.5, 20 * time.Millisecond, "", ""},
		"never":                          {func(int64) int { return 0 }, 0.01, 20 * time.Millisecond, "did not answer a request within 20ms", "requests failed"},
		"each third never, 1 % may":      {each(3, 0), 0.01, 20 * time.Millisecond, "2 of 6 requests failed", ""},
		"two kinds of failures, all bad": {func(k int64) int { return 500 + int(k%2) }, 0.01, 0, "50", "--expect-status"},
	} {
		t.Run(name, func(t *testing.T) {
			s, n := failing(t, c.answer)
			asked := target.Target{URL: s.URL, MaxErrors: c.most, Limit: c.limit}
			_, err := target.Ask(t.Context(), asked)
			switch {
			case c.says == "" && err != nil, c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%v, want %q", err, c.says)
			case err != nil && c.lacks != "" && strings.Contains(err.Error(), c.lacks):
				t.Errorf("it says %q", err)
			}
			if n.Load() > 32 {
				t.Errorf("it was asked %d times", n.Load())
			}
		})
	}
}

// A server that fails as often as it may is not refused by chance.
func TestChanceRefusesNoServer(t *testing.T) {
	for _, c := range []struct{ share, most float64 }{{0.1, 0.3}, {0.3, 0.5}, {0.005, 0.01}, {0.1, 0.2}, {0.02, 0.05}} {
		rng, refused := rand.New(rand.NewPCG(1, 2)), 0
		s, _ := failing(t, func(int64) int {
			if rng.Float64() < c.share {
				return 503
			}
			return 200
		})
		const runs = 200
		for range runs {
			if _, err := target.Ask(t.Context(), target.Target{URL: s.URL, MaxErrors: c.most}); err != nil {
				refused++
			}
		}
		if refused > runs/100 {
			t.Errorf("%g fail and %g may: %d of %d are refused", c.share, c.most, refused, runs)
		}
	}
}

func TestAShareOfTheFirstCallsMayFail(t *testing.T) {
	n, protoFile := 0, filepath.Join(t.TempDir(), "shop.proto")
	if err := os.WriteFile(protoFile, []byte(`syntax = "proto3"; package shop.v1; message Item { string item = 1; } service Shop { rpc Buy(Item) returns (Item); }`), 0o600); err != nil {
		t.Fatal(err)
	}
	at := shop.Serve(t, func(stream grpc.ServerStream, _ string, request []byte) error {
		if n++; n%3 == 1 {
			return status.Error(codes.Unavailable, "try later")
		}
		return stream.SendMsg(request)
	})
	asked := target.Target{URL: "grpc://" + at + "/shop.v1.Shop/Buy", Proto: protoFile, MaxErrors: 0.5}
	if _, err := target.Ask(t.Context(), asked); err != nil {
		t.Error(err)
	}
	asked.MaxErrors = 0.01
	n = 0
	if _, err := target.Ask(t.Context(), asked); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("try later; 2 of %d requests failed", n)) {
		t.Error(err)
	}
}
