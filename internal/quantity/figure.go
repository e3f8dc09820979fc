package quantity

import (
	"strconv"
	"strings"
)

// absent is what is printed of a value that is no number.
const absent = "–"

// FormatFigure prints a measured figure with three significant digits, in
// sentences and tables alike, without an exponent between 0.0001 and 10 million
// and with commas between thousands: "0.0612", "0.660", "20.4", "12,300".
// "–" for what is no number.
func FormatFigure(x float64) string {
	if x-x != 0 { // NaN and ±Inf
		return absent
	}
	if x == 0 {
		return "0"
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 2, 64), 64)
	size := max(rounded, -rounded)
	if size < 1e-4 || size >= 1e7 {
		return strconv.FormatFloat(x, 'e', 2, 64)
	}
	decimals := 0
	for limit := 100.0; size < limit && decimals < 6; limit /= 10 {
		decimals++
	}
	return grouped(strconv.FormatFloat(rounded, 'f', decimals, 64))
}

// grouped separates the thousands of a number of five digits or more.
func grouped(number string) string {
	whole, rest, _ := strings.Cut(number, ".")
	if rest != "" || len(strings.TrimPrefix(whole, "-")) < 5 {
		return number
	}
	for i := len(whole) - 3; i > len(number)-len(strings.TrimPrefix(number, "-")); i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole
}
