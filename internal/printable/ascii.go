package printable

import (
	"strings"
	"unicode/utf8"
)

// inASCII is what stands for each character that this program writes itself and
// that is not ASCII. A character that is not here is somebody else's: it stays.
var inASCII = map[rune]string{
	'\u00a0': " ", // between a figure and its unit
	'×':      "x", '≈': "~", '÷': "/", '±': "+/-", '−': "-", '–': "-", '—': "-", '─': "-",
	'≤': "<=", '≥': ">=", '→': "->", '…': "...", '·': "|", '✓': "v", '✗': "x",
	'µ': "u", 'Δ': "delta ", '█': "#", '²': "2", '⁶': "^6", '⁹': "^9",
	utf8.RuneError: "?",
}

// InASCII returns what stands for a character where only ASCII can be shown; false
// for one that is shown as it is.
func InASCII(r rune) (string, bool) {
	if r < utf8.RuneSelf {
		return "", false
	}
	text, ours := inASCII[r]
	return text, ours
}

// ASCII is Text with its characters in ASCII, but for those of other people.
func ASCII(s string) string {
	var f folder
	var b []byte
	for _, r := range Text(s) {
		b = f.append(b, r)
	}
	return string(b)
}

// folder writes characters in ASCII, one after the other. The space behind a sign
// that becomes wider is left out, so that columns stay where they were.
type folder struct{ wider bool }

func (f *folder) append(b []byte, r rune) []byte {
	wider := f.wider
	f.wider = false
	if wider && r == ' ' {
		return b
	}
	text, ours := InASCII(r)
	if !ours {
		return utf8.AppendRune(b, r)
	}
	f.wider = strings.HasSuffix(text, "=")
	return append(b, text...)
}
