package quantity

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

var (
	binarySteps   = []unit{{" B", 1}, {" KiB", 1 << 10}, {" MiB", 1 << 20}, {" GiB", 1 << 30}, {" TiB", 1 << 40}}
	byteRateSteps = []unit{{" B/s", 1}, {" kB/s", 1e3}, {" MB/s", 1e6}, {" GB/s", 1e9}, {" TB/s", 1e12}}
	countSteps    = []unit{{"", 1}, {" k", 1e3}, {" M", 1e6}, {" G", 1e9}, {" T", 1e12}}
	durationSteps = []unit{{" ns", 1}, {" µs", 1e3}, {" ms", 1e6}, {" s", 1e9}}
)

// FormatBytes prints an amount of memory or payload for people, in binary
// units with three significant digits: "1.50 MiB", "100 B".
func FormatBytes(bytes float64) string { return format(bytes, binarySteps) }

// FormatByteRate prints a goodput in bytes per second, in decimal units as
// links are rated: "1.25 GB/s".
func FormatByteRate(bytesPerSecond float64) string { return format(bytesPerSecond, byteRateSteps) }

// FormatCount prints a count: "50", "20.0 k", "1.50 M".
func FormatCount(n float64) string { return format(n, countSteps) }

// FormatRate prints a rate per second: "20.0 k/s".
func FormatRate(perSecond float64) string {
	return withUnit(format(perSecond, countSteps), "/s")
}

// FormatDuration prints a duration: "1.50 ms", "12.3 s"; from two minutes on
// as Go does, in whole seconds: "4m30s".
func FormatDuration(d time.Duration) string {
	if d.Abs() >= 2*time.Minute {
		return DurationText(d.Round(time.Second))
	}
	return format(float64(d), durationSteps)
}

// FormatMicroseconds prints a duration that metrics have in µs.
func FormatMicroseconds(us float64) string { return FormatDuration(Microseconds(us)) }

// Microseconds is a duration that metrics have in µs.
func Microseconds(us float64) time.Duration { return time.Duration(us * float64(time.Microsecond)) }

// FormatShare prints a share that was measured: "12.5 %".
func FormatShare(share float64) string { return withUnit(FormatFigure(100*share), " %") }

// ChosenShare prints a share that somebody chose: "2 %".
func ChosenShare(share float64) string {
	if share >= 10 { // %g would write an exponent
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return fmt.Sprintf("%.3g %%", 100*share)
}

// format picks the largest step that leaves at least 1 before the point, of
// the value as it will be printed: 999.6 kB is 1.00 MB, never 1000 kB.
func format(value float64, steps []unit) string {
	if value-value != 0 { // NaN and ±Inf
		return absent
	}
	for i, step := range steps {
		scaled := value / float64(step.scale)
		limit := 999.5
		if i+1 < len(steps) {
			limit = math.Max(limit, float64(steps[i+1].scale)/float64(step.scale)-0.5)
		}
		if math.Abs(scaled) < limit || i+1 == len(steps) {
			return digits(scaled, i == 0) + step.name
		}
	}
	return absent
}

func withUnit(text, unit string) string {
	if text == absent {
		return text
	}
	return text + unit
}

// digits prints an amount that was not scaled as it is when it is whole: 50
// connections are not 50.0.
func digits(x float64, unscaled bool) string {
	if unscaled && x == math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return FormatFigure(x)
}

// Roughly shows a time as one would say it: "45 s", "16 min", "1.8 h".
func Roughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", max(5, d.Round(5*time.Second).Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
