package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// The Text functions print the canonical form: exact, and read back by the
// Parse function of the same name.

// BytesText prints a size in the largest binary unit that divides it: "64KiB",
// "100B".
func BytesText(bytes int64) string {
	for _, u := range byteUnits {
		if isBinary := u.scale&(u.scale-1) == 0; isBinary && bytes != 0 && bytes%u.scale == 0 {
			return strconv.FormatInt(bytes/u.scale, 10) + u.name
		}
	}
	return "0B"
}

// WithSpace parts a number from its unit: "64 KiB" of "64KiB". What is no number and a unit,
// such as a path or a name, stays as it is.
func WithSpace(text string) string {
	at := strings.IndexFunc(text, unicode.IsLetter)
	if at <= 0 {
		return text
	}
	other := func(r rune) bool { return !unicode.IsLetter(r) && r != '/' }
	if _, err := strconv.ParseFloat(text[:at], 64); err != nil || strings.ContainsFunc(text[at:], other) {
		return text
	}
	return text[:at] + " " + text[at:]
}

// BitRateText prints a bit rate in the largest unit that divides it: "10Gbit/s".
func BitRateText(bitsPerSecond int64) string {
	for _, u := range bitRateUnits {
		if bitsPerSecond != 0 && bitsPerSecond%u.scale == 0 {
			return strconv.FormatInt(bitsPerSecond/u.scale, 10) + u.name
		}
	}
	return "0bit/s"
}

// CountText prints a count in full: "10000".
func CountText(n int64) string { return strconv.FormatInt(n, 10) }

// RateText prints a rate per second in full, without its unit: "20000", "0.5".
func RateText(perSecond float64) string { return strconv.FormatFloat(perSecond, 'f', -1, 64) }

// ShareText prints a share as a percentage: "50%", "2.5%".
func ShareText(share float64) string {
	percent := strconv.FormatFloat(share*100, 'g', 15, 64) // 15 digits hide the error of ·100
	if back, err := ParseShare(percent + "%"); err != nil || math.Float64bits(back) != math.Float64bits(share) {
		return strconv.FormatFloat(share, 'f', -1, 64)
	}
	return percent + "%"
}

// DurationText prints a duration as Go does, without zero parts: "2ms", "1m",
// "1h30m".
func DurationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Plural says how many there are of something whose plural ends in s: "1 block",
// "3 blocks".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// And lists texts as a sentence does: "a", "a and b", "a, b and c".
func And(texts []string) string { return listed(texts, " and ") }

// Or lists texts as alternatives: "a, b or c".
func Or(texts []string) string { return listed(texts, " or ") }

func listed(texts []string, before string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + before + texts[last]
}

// Names lists the first six names, and counts the rest where they are more than one,
// which is as short as its name: "a, b, c, d, e, f and 3 more".
func Names(names []string) string {
	const most = 6
	if more := len(names) - most; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
