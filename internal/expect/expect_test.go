package expect_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"netdyno/internal/expect"
)

func TestEveryBodyIsTheFirstOne(t *testing.T) {
	first, err := expect.Same("")
	if err != nil || first.Expected() != "" {
		t.Fatal(first.Expected(), err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := first.Check([]byte("one")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	again, err := expect.Same(first.Expected()) // as a client is told before it asks
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*expect.Bodies{first, again} {
		for range 2 {
			for body, good := range map[string]bool{"one": true, "onE": false, "": false, "one\x00": false} {
				if err := b.Check([]byte(body)); (err == nil) != good {
					t.Errorf("%q: %v", body, err)
				}
			}
		}
	}
}

func TestPatterns(t *testing.T) {
	for pattern, bodies := range map[string]map[string]bool{
		`"ok":\s*true`: {`{"ok": true}`: true, `{"ok": false}`: false, "": false},
		`^a.c$`:        {"abc": true, "a\xffc": true, "a\nc": false},
		`(a*)*b`:       {strings.Repeat("a", 1<<16): false}, // catastrophic where an engine tracks back
		"late":         {strings.Repeat("x", 1<<20) + "late": false, strings.Repeat("x", 1<<20-4) + "late": true},
	} {
		b, err := expect.Matching(pattern)
		if err != nil || b.Expected() != pattern {
			t.Fatal(err)
		}
		for body, good := range bodies {
			if err := b.Check([]byte(body)); (err == nil) != good {
				t.Errorf("%s with %d bytes: %v", pattern, len(body), err)
			}
		}
	}
}

func TestWhatCannotBeExpectedIsNamed(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                        "has 0 bytes; expected 1 to 4096",
		strings.Repeat("a", 5000): "has 5000 bytes",
		"ok(":                     "missing closing )",
		"ab[z-a]":                 `at byte 4, "z-a": invalid character class range`,
		"a{1001}":                 `at byte 2, "{1001}": invalid repeat count`,
		`x(?=y)`:                  `at byte 2, "(?=": invalid or unsupported Perl syntax`,
		"\xff":                    "invalid UTF-8",
	} {
		if _, err := expect.Matching(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", pattern, err, want)
		}
	}
	for _, digits := range []string{"ab", strings.Repeat("x", 64), strings.Repeat("a", 66)} {
		if _, err := expect.Same(digits); err == nil || !strings.Contains(err.Error(), "expected 64 hexadecimal digits") {
			t.Error(digits, err)
		}
	}
}

func BenchmarkSame(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1<<10)
	same, _ := expect.Same("")
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if err := same.Check(body); err != nil {
			b.Fatal(err)
		}
	}
}
