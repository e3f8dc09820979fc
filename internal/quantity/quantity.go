// Package quantity reads and prints the quantities that people type and read:
// sizes, durations, counts, rates and shares. SI against IEC is decided here
// once: KiB is 1024 bytes, kB is 1000, bit rates and counts are decimal, a bare
// number is bytes or a plain count.
//
// Each Parse function has a Text function that prints exactly what Parse reads
// back; the Format functions print three significant digits for people.
package quantity

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// maxText bounds the text of one quantity, so that no number is computed from
// a text longer than any sensible one.
const maxText = 40

type unit struct {
	name  string
	scale int64
}

// Each table is ordered from the largest scale to the smallest; the empty name
// is a bare number.
var (
	byteUnits = []unit{
		{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6},
		{"KiB", 1 << 10}, {"kB", 1e3}, {"B", 1}, {"", 1},
	}
	bitRateUnits = []unit{
		{"Tbit/s", 1e12}, {"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}, {"bit/s", 1},
		{"Tbit", 1e12}, {"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}, // as tc(8) takes them
	}
	countUnits    = []unit{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}}
	rateUnits     = []unit{{"M/s", 1e6}, {"k/s", 1e3}, {"/s", 1}, {"M", 1e6}, {"k", 1e3}, {"", 1}}
	shareUnits    = []unit{{"%", 1}, {"", 100}} // in hundredths
	durationUnits = []unit{
		{"h", int64(time.Hour)}, {"m", int64(time.Minute)}, {"s", int64(time.Second)}, {"ms", int64(time.Millisecond)},
		{"us", int64(time.Microsecond)}, {"µs", int64(time.Microsecond)}, {"ns", 1},
	}
)

// ParseBytes reads a size such as "64KiB", "1.5MB" or "100", in bytes. The
// error names the text, what was expected and the nearest unit.
func ParseBytes(text string) (int64, error) {
	return whole(text, "a size such as 64KiB", "bytes", byteUnits)
}

// ParseBitRate reads a link's rate such as "10Gbit/s", in bits per second.
func ParseBitRate(text string) (int64, error) {
	return whole(text, "a bit rate such as 10Gbit/s", "bits per second", bitRateUnits)
}

// ParseCount reads a count such as "10000", "20k" or "1.5M".
func ParseCount(text string) (int64, error) {
	return whole(text, "a count such as 20k", "", countUnits)
}

// ParseRate reads a rate per second such as "20000", "20k" or "0.5/s".
func ParseRate(text string) (float64, error) {
	const expected = "a rate per second such as 20k"
	value, err := number(text, expected, rateUnits)
	if err != nil {
		return 0, err
	}
	rate, _ := value.Float64()
	return rate, nil
}

// ParseShare reads a share such as "50%" or "0.5", from 0 to 1.
func ParseShare(text string) (float64, error) {
	const expected = "a share such as 50% or 0.5"
	hundredths, err := number(text, expected, shareUnits)
	if err != nil {
		return 0, err
	}
	if hundredths.Cmp(big.NewRat(100, 1)) > 0 {
		return 0, fmt.Errorf("%q is more than the whole; expected %s", text, expected)
	}
	share, _ := hundredths.Quo(hundredths, big.NewRat(100, 1)).Float64()
	return share, nil
}

// ParseDuration reads a duration as Go writes it: "2ms", "1.5s", "1m30s". Only
// 0 needs no unit; a day is not a unit.
func ParseDuration(text string) (time.Duration, error) {
	const expected = "a duration such as 2ms"
	rest := strings.TrimSpace(text)
	if rest == "0" {
		return 0, nil
	}
	sum, first := new(big.Rat), true
	for first || rest != "" {
		digits, name, tail := split(rest)
		part, err := scaled(text, expected, digits, name, durationUnits)
		if err != nil {
			return 0, err
		}
		sum.Add(sum, part)
		rest, first = tail, false
	}
	return bounded[time.Duration](text, "nanoseconds", sum)
}

// whole reads a quantity that must be a whole number of its base unit.
func whole(text, expected, base string, units []unit) (int64, error) {
	value, err := number(text, expected, units)
	if err != nil {
		return 0, err
	}
	return bounded[int64](text, base, value)
}

func bounded[T ~int64](text, base string, value *big.Rat) (T, error) {
	of := ""
	if base != "" {
		of = " of " + base
	}
	if !value.IsInt() {
		return 0, fmt.Errorf("%q is not a whole number%s", text, of)
	}
	if !value.Num().IsInt64() {
		return 0, fmt.Errorf("%q is too large; the most is %d%s", text, int64(1<<63-1), strings.TrimPrefix(of, " of"))
	}
	return T(value.Num().Int64()), nil
}

// number reads one number with one unit.
func number(text, expected string, units []unit) (*big.Rat, error) {
	digits, name, rest := split(strings.TrimSpace(text))
	return scaled(text, expected, digits, name+rest, units)
}

// split takes the leading number and the unit after it off a text; the unit
// ends where the next number begins.
func split(text string) (digits, name, rest string) {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' || c == '.' }
	i := 0
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	j := i
	for j < len(text) && !isDigit(text[j]) {
		j++
	}
	return text[:i], strings.TrimSpace(text[i:j]), text[j:]
}

func scaled(text, expected, digits, name string, units []unit) (*big.Rat, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%q… is longer than %d characters; expected %s", text[:maxText], maxText, expected)
	}
	if strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("%q is negative; expected %s", text, expected)
	}
	if digits == "" || digits == "." || strings.Count(digits, ".") > 1 {
		return nil, fmt.Errorf("%q does not begin with a number; expected %s", text, expected)
	}
	for _, u := range units {
		if u.name == name {
			value, ok := new(big.Rat).SetString(digits)
			if !ok {
				return nil, fmt.Errorf("%q does not begin with a number; expected %s", text, expected)
			}
			return value.Mul(value, new(big.Rat).SetInt64(u.scale)), nil
		}
	}
	if name == "" {
		return nil, fmt.Errorf("%q has no unit; expected one of %s", text, unitNames(units))
	}
	if near := nearestUnit(name, units); near != "" {
		return nil, fmt.Errorf("%q: unknown unit %q; did you mean %s%s?", text, name, digits, near)
	}
	return nil, fmt.Errorf("%q: unknown unit %q; expected one of %s", text, name, unitNames(units))
}

func unitNames(units []unit) string {
	var names []string
	for _, u := range units {
		if u.name != "" && u.name != "µs" {
			names = append(names, u.name)
		}
	}
	return strings.Join(names, ", ")
}

// nearestUnit prefers the unit that differs only in case ("KIB" means KiB),
// then the longest that the name begins with ("sec" means s), then one that
// begins alike and lacks two letters at most ("Gb/s" means Gbit/s).
func nearestUnit(name string, units []unit) string {
	var prefix, alike string
	for _, u := range units {
		switch {
		case u.name == "":
		case strings.EqualFold(u.name, name):
			return u.name
		case strings.HasPrefix(name, u.name) && len(u.name) > len(prefix):
			prefix = u.name
		case alike == "" && name[0] == u.name[0] && len(u.name) > 2 && distance([]rune(name), []rune(u.name)) <= 2:
			alike = u.name
		}
	}
	if prefix != "" {
		return prefix
	}
	return alike
}
