package input

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const maxTest = 64 << 10

func TestYAMLIsBoundedBeforeItIsParsed(t *testing.T) {
	deep := strings.Repeat("[", MaxBrackets)
	for text, want := range map[string]string{
		"":                                        "",
		"a: [1, 2]\r\nb: {c: d}\r\n":              "",
		deep + strings.Repeat("]", MaxBrackets):   "",
		strings.Repeat("[]", 400):                 "",
		strings.Repeat("a", MaxYAMLLine) + "\n":   "",
		"x: 1\n" + deep + "[":                     "2:17: more than 16 brackets are open",
		strings.Repeat("{\n", MaxBrackets+1):      "17:1: more than 16 brackets are open",
		strings.Repeat("a", MaxYAMLLine+1):        "1:1: the line has 1001 bytes; expected at most 1000",
		"ä: \x1b[2J":                              "1:4: control character U+001B",
		"a\rb":                                    "1:2: control character U+000D",
		"\xff":                                    "the file is not UTF-8 text",
		strings.Repeat("a: b\n", maxTest/5+1):     "the file has 65540 bytes; expected at most 65536",
		strings.Repeat("[", 500_000):              "the file has 500000 bytes; expected at most 65536",
		"a: " + strings.Repeat("- ", MaxYAMLLine): "1:1: the line has 2003 bytes; expected at most 1000",
	} {
		got := ""
		if err := CheckYAML([]byte(text), maxTest); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

func FuzzCheckYAML(f *testing.F) {
	f.Add([]byte("a: [1, {b: c}]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		err := CheckYAML(text, maxTest)
		switch {
		case err == nil && (len(text) > maxTest || !utf8.Valid(text)):
			t.Error("an unbounded text passes")
		case err != nil && err.Line > strings.Count(string(text), "\n")+1:
			t.Errorf("line %d of a shorter text", err.Line)
		}
	})
}
