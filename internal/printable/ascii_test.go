package printable

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

func TestASCII(t *testing.T) {
	for text, want := range map[string]string{
		"1.71× (1.56–1.87) −": "1.71x (1.56-1.87) -", "≥ 9.60 µs": ">=9.60 us", "a → b …": "a -> b ...", "12,300 ± 5\u00a0%": "12,300 +/- 5 %",
		"grün · größe": "grün | größe", "": "", "世界": "世界",
	} {
		if got := ASCII(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		for _, size := range []int{1, 2, 100} {
			var out bytes.Buffer
			w := NewColouredWriter(&out).InASCII()
			for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				if _, err := w.Write(rest[:min(size, len(rest))]); err != nil {
					t.Fatal(err)
				}
			}
			if out.String() != want {
				t.Errorf("%q in pieces of %d became %q, want %q", text, size, out.String(), want)
			}
		}
	}
}

func TestASCIIOfTheTable(t *testing.T) {
	for r, text := range inASCII {
		for _, c := range text {
			if c >= utf8.RuneSelf {
				t.Errorf("%q becomes %q", r, text)
			}
		}
	}
	if got := string(JSONInASCII([]byte("\"µ\u202e世\""))); got != `"\u00b5\u202e\u4e16"` {
		t.Errorf("JSON became %s", got)
	}
}
