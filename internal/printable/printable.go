// Package printable makes text from outside safe to show. A worker's error, a
// server's reason phrase, what ssh prints and the names in a study file or a
// record are somebody else's words: they must not move a terminal's cursor,
// change its title, hide what stands beside them or turn the reading direction.
package printable

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Replaced stands for every character that is not shown.
const Replaced = '·'

// Text returns s as one line that shows what it is. Control characters (line
// breaks and tabs included), invisible and direction-changing characters, and
// code points without a meaning become Replaced; a byte that is not UTF-8
// becomes U+FFFD.
func Text(s string) string { return strings.Map(shown, s) }

// Lines is Text that keeps line feeds and tabs.
func Lines(s string) string { return strings.Map(shownInLines, s) }

func shownInLines(r rune) rune {
	if r == '\n' || r == '\t' {
		return r
	}
	return shown(r)
}

// shown is the one rule. Graphic are letters, marks, numbers, punctuation,
// symbols and spaces (Unicode's categories L, M, N, P, S and Zs), which leaves
// out the controls (Cc), the invisible and direction-changing formats (Cf), the
// separators of lines and paragraphs (Zl, Zp), private and unassigned ones.
func shown(r rune) rune {
	if unicode.IsGraphic(r) {
		return r
	}
	return Replaced
}

// JSON returns JSON text in which every character that Text would replace is
// written as an escape, so that it means the same and can be shown. The text
// must be valid JSON, where such characters stand in strings alone.
func JSON(text []byte) []byte {
	return escaped(text, func(r rune) bool { return shownInLines(r) != r })
}

// JSONInASCII is JSON with every character that is not ASCII written as an escape.
func JSONInASCII(text []byte) []byte {
	return escaped(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

func escaped(text []byte, escape func(rune) bool) []byte {
	var out bytes.Buffer
	for _, r := range string(text) {
		switch {
		case !escape(r) && shownInLines(r) == r:
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}

// incomplete returns how many bytes at the end of b begin a character that the
// next write may complete.
func incomplete(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
