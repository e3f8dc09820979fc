package export

import (
	"fmt"
	"strings"

	"netdyno/internal/metric"
)

// base is the unit of a figure as formats with units of their own have it.
type base int

const (
	ofCount   base = iota // of what the name says
	ofSeconds             // from µs and s
	ofBytes
	ofRatio
)

// naming is a metric taken apart, for formats that put units elsewhere.
type naming struct {
	stem  string // "server.cpu", "response_p99", "exchanges"
	base  base
	per   string  // what it is divided by: "exchange", "s", "cycle", "gb"; "" for nothing
	scale float64 // of a value in base: µs are 1e-6
}

// unitEndings are the units as metrics' names have them, before any "_per_".
var unitEndings = []struct {
	ending string
	base   base
	scale  float64
}{
	{"_us", ofSeconds, 1e-6}, {"_s", ofSeconds, 1}, {"_bytes", ofBytes, 1}, {"_share", ofRatio, 1},
}

// namingOf takes a metric's name apart: its unit stands last, as the registry has it.
func namingOf(m metric.Metric) naming {
	stem, per, _ := strings.Cut(m.Name, "_per_")
	n := naming{stem: stem, per: per, scale: 1}
	for _, u := range unitEndings {
		if rest, has := strings.CutSuffix(stem, u.ending); has {
			n.stem, n.base, n.scale = rest, u.base, u.scale
			break
		}
	}
	return n
}

// escaped writes s so that only plain characters stay as they are; every byte of the
// others becomes %XX, and what is not UTF-8 first becomes U+FFFD.
func escaped(s string, plain func(rune) bool) string {
	var b strings.Builder
	for _, r := range valid(s) {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// wordly tells letters, digits and underscores of ASCII.
func wordly(c rune) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// identifier makes a name of letters, digits and underscores that begins with a letter:
// "opt.server.buffer" is opt_server_buffer.
func identifier(s string) string {
	name := strings.Map(func(r rune) rune {
		if wordly(r) {
			return r
		}
		return '_'
	}, s)
	name = strings.TrimLeft(name, "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "x" + name
	}
	return name
}
