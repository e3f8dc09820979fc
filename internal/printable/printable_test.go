package printable

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unicode"
	"unicode/utf8"
)

// hostile is what a terminal, or a reader's eye, would obey.
var hostile = map[string]string{
	"a cursor that moves up":       "ok\x1b[2A\x1b[K",
	"a title":                      "\x1b]0;owned\x07",
	"a report of the cursor":       "\x1b[6n",
	"an 8-bit control sequence":    "\x9b31m",
	"a control of two UTF-8 bytes": "\u009b31m",
	"a carriage return":            "failed\rfine  ",
	"a backspace":                  "failed\b\b\b\b\b\b",
	"a bell":                       "\a",
	"a delete":                     "\x7f",
	"a zero byte":                  "a\x00b",
	"a turned reading direction":   "\u202efdp.exe",
	"an isolate":                   "\u2066a\u2069",
	"a space of no width":          "a\u200bb",
	"a byte order mark":            "\ufeffa",
	"a line separator":             "a\u2028b",
	"a tag":                        "a\U000e0041",
	"a private character":          "\ue000",
	"not UTF-8":                    "a\xffb",
	"half a character":             "a\xe2\x82",
}

func TestTextIsOneHarmlessLine(t *testing.T) {
	for name, text := range hostile {
		got := Text(text + "\n\t")
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			t.Errorf("%s: %q became %q", name, text, got)
		}
		if Text(got) != got {
			t.Errorf("%s: %q changes when it is made printable again", name, got)
		}
	}
	for _, text := range []string{"", "plain", "Grüße, 世界 · ½ µs → 3.2 GB/s", "a\u00a0b", "e\u0301"} {
		if got := Text(text); got != text {
			t.Errorf("%q became %q, want it unchanged", text, got)
		}
	}
	if got, want := Text("a\nb\tc\xff"), "a·b·c\ufffd"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Lines("a\nb\tc\rd"), "a\nb\tc·d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// However a text is cut into writes, a Writer passes on what Lines makes of the
// whole.
func TestWriterPassesLinesHoweverTheyAreCut(t *testing.T) {
	same := func(pieces []string, cut []byte) bool {
		whole := strings.Join(pieces, "\x1b[1m世\x1b")
		var out bytes.Buffer
		w := NewWriter(&out)
		rest := []byte(whole)
		for _, c := range cut {
			n := min(int(c)%5, len(rest))
			if written, err := w.Write(rest[:n]); err != nil || written != n {
				t.Fatalf("wrote %d of %d bytes: %v", written, n, err)
			}
			rest = rest[n:]
		}
		_, _ = w.Write(rest)
		_ = w.Flush()
		if out.String() != Lines(whole) {
			t.Logf("%q became %q, want %q", whole, out.String(), Lines(whole))
			return false
		}
		return true
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
	for name, text := range hostile {
		if !same([]string{text, text}, []byte{1, 2, 3, 1, 1, 1}) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestColouredWriterLetsThePaletteThrough(t *testing.T) {
	text := "\x1b[1mbold\x1b[0m \x1b[32mbetter\x1b[0m \x1b[8mhidden\x1b[0m \x1b[2J\x1b["
	want := "\x1b[1mbold\x1b[0m \x1b[32mbetter\x1b[0m ·[8mhidden\x1b[0m ·[2J·["
	for size := range 7 {
		var out bytes.Buffer
		w := NewColouredWriter(&out)
		for piece := range slices.Chunk([]byte(text), size+1) {
			_, _ = w.Write(piece)
		}
		_ = w.Flush()
		if out.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size+1, out.String(), want)
		}
	}
	var plain bytes.Buffer
	_, _ = NewWriter(&plain).Write([]byte("\x1b[32mbetter\x1b[0m"))
	if strings.Contains(plain.String(), "\x1b") {
		t.Errorf("without colours: %q", plain.String())
	}
}

type broken struct{}

var errBroken = errors.New("broken pipe")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestWriterReportsItsWritersError(t *testing.T) {
	if _, err := NewWriter(broken{}).Write([]byte("a")); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want that of the writer below", err)
	}
}

func TestJSONMeansTheSame(t *testing.T) {
	for name, text := range hostile {
		for _, value := range []string{text, text + "\U000e0041😀"} {
			plain, err := json.MarshalIndent(map[string]string{"a": value}, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			got := JSON(plain)
			if shown := Lines(string(got)); shown != string(got) {
				t.Errorf("%s: %q cannot be shown", name, got)
			}
			var before, after map[string]string
			if err := errors.Join(json.Unmarshal(plain, &before), json.Unmarshal(got, &after)); err != nil || before["a"] != after["a"] {
				t.Errorf("%s: %q became %q (%v)", name, before, after, err)
			}
		}
	}
}

func FuzzText(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := Text(text); strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) }) || utf8.RuneCountInString(got) != utf8.RuneCountInString(text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
