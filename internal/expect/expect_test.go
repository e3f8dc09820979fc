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

func TestConditionsOnJSON(t *testing.T) {
	const (
		good = `{"data":{"shop":{"items":[1,2.50,"x"],"a b":{"it's":true}}},"errors":null}`
		bad  = `{"errors":[{"message":"no"}],"data":null}`
	)
	for condition, want := range map[string][3]bool{ // of good, of bad, and of an empty object
		`$.errors == null`:                 {true, false, true},
		`$.errors != null`:                 {false, true, false},
		`$.data.shop`:                      {true, false, false},
		`$.data.shop.items[1] == 2.5`:      {true, false, false},
		`$.data.shop.items[1]==25e-1`:      {true, false, false},
		`$.data.shop.items[3]`:             {false, false, false},
		`$.data.shop.items == [1,2.5,"x"]`: {true, false, false},
		`$.errors[0].message == "no"`:      {false, true, false},
		`$['errors'][0]['message'] != 7`:   {true, true, true},
		`$.data.shop['a b']['it\'s']`:      {true, false, false},
		`$ == {}`:                          {false, false, true},
		`$`:                                {true, true, true},
		`$.errors[*].message != "yes"`:     {true, true, true},
		`$.errors[?@.message == "no"]`:     {false, true, false},
	} {
		b, err := expect.Of(expect.JSON, condition)
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		if again, err := expect.Of(expect.JSON, b.Expected()); err != nil || again.Expected() != b.Expected() {
			t.Errorf("%s becomes %q: %v", condition, b.Expected(), err)
		}
		for i, body := range []string{good, bad, `{}`} {
			if err := b.Check([]byte(body)); (err == nil) != want[i] {
				t.Errorf("%s of %s: %v", condition, body, err)
			}
		}
	}
	b, err := expect.Of(expect.JSON, `$.n`)
	if err != nil {
		t.Fatal(err)
	}
	for body, says := range map[string]string{"": "is no JSON", "<html>": "is no JSON", `{} {}`: "is no JSON", strings.Repeat(" ", 17<<20): "at most"} {
		if err := b.Check([]byte(body)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: %v, want %q", body, err, says)
		}
	}
}

func TestWhatMustNotBeThere(t *testing.T) {
	b, err := expect.Of(expect.NotRegexp, `"errors":\[`)
	if err != nil {
		t.Fatal(err)
	}
	if b.Check([]byte(`{"data":1}`)) != nil || b.Check([]byte(`{"errors":[1]}`)) == nil || b.Reason() == "body differs" {
		t.Error(b.Reason())
	}
}

func TestWrongConditionsAreNamed(t *testing.T) {
	for condition, want := range map[string]string{
		``:               "has 0 bytes",
		`errors == null`: "position 1",
		`$.`:             "position 3",
		`$.a[x]`:         "position 5",
		`$.a = 1`:        "position 4",
		`$.a == nul`:     "nul is no JSON value",
		`$.a == `:        "is no JSON value",
		`$.a == 1 2`:     "1 2 is no JSON value",
	} {
		if _, err := expect.Of(expect.JSON, condition); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", condition, err, want)
		}
	}
}

func FuzzCondition(f *testing.F) {
	f.Add(`$.a['b'][0] == {"c":[1,null]}`, `{"a":{"b":[{"c":[1,null]}]}}`)
	f.Add(`$ != 1e999`, `[[[]]]`)
	f.Fuzz(func(_ *testing.T, condition, body string) {
		if b, err := expect.Of(expect.JSON, condition); err == nil {
			_ = b.Check([]byte(body)) // it ends
		}
	})
}
