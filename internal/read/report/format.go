package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"netdyno/internal/quantity"
)

// scale is a unit to show values in: shown = raw ÷ Factor. It is decided once
// for a column or an axis, so that what stands together compares.
type scale struct {
	Factor float64 `json:"factor"`
	Unit   string  `json:"unit"`
}

func (s scale) text(raw float64) string { return quantity.FormatFigure(raw / s.Factor) }

// interval prints both ends in the unit of the scale.
func (s scale) interval(low, high float64) string { return s.text(low) + "–" + s.text(high) }

// Decimal prefixes for rates and times, binary ones for memory: sizes in
// memory are powers of two, what crosses a link is counted in powers of ten.
var (
	rates    = []scale{{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}}
	goodputs = []scale{{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}}
	sizes    = []scale{{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}}
	micros   = []scale{{1e-3, "ns"}, {1, "µs"}, {1e3, "ms"}, {1e6, "s"}}
	percents = []scale{{1e-2, "%"}}
)

// scaleFor picks the unit for values of a metric whose largest is given, by
// the units that end its name. unit is what the metric itself declares, used
// when the name says nothing.
func scaleFor(metric, unit string, largest float64) scale {
	for _, known := range []struct {
		suffix string
		ladder []scale
		per    string
	}{
		{"bytes_per_s", goodputs, ""},
		{"bytes_per_exchange", sizes, "/exchange"},
		{"us_per_exchange", micros, "/exchange"},
		{"us_per_s", micros, "/s"},
		{"us_per_cycle", micros, "/cycle"},
		{"packets_per_s", rates, ""},
		{"cycles_per_s", rates, ""},
		{"threads", []scale{{1, "threads"}}, ""},
		{"goroutines", []scale{{1, "goroutines"}}, ""},
		{"exchanges_per_s", rates, ""},
		{"bytes", sizes, ""},
		{"_us", micros, ""},
		{"share", percents, ""},
		{"s_per_gb", []scale{{1, "s/GB"}}, ""},
		{"per_exchange", []scale{{1, "/exchange"}}, ""},
		{"work_s", []scale{{1e-3, "ms"}, {1, "s"}}, ""},
		{"gap_cv", []scale{{1, "sd ÷ mean"}}, ""},
		{"unfinished", []scale{{1, "exchanges"}}, ""},
	} {
		if strings.HasSuffix(metric, known.suffix) {
			s := step(known.ladder, largest)
			s.Unit += known.per
			return s
		}
	}
	return scale{1, unit}
}

// step returns the largest unit of the ladder in which the value is at least 1.
func step(ladder []scale, value float64) scale {
	chosen := ladder[0]
	for _, s := range ladder[1:] {
		if value >= s.Factor {
			chosen = s
		}
	}
	return chosen
}

// finite holds for numbers that can be drawn; x − x is NaN for NaN and ±Inf.
func finite(x float64) bool { return x-x == 0 }

// brief cuts a number to five significant digits: more than a figure can
// show, and half the bytes.
func brief(x float64) float64 {
	cut, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	if err != nil {
		return 0
	}
	return cut
}

func ratio(x float64) string { return quantity.FormatFigure(x) + "×" }

func ratioInterval(low, high float64) string {
	return quantity.FormatFigure(low) + "–" + quantity.FormatFigure(high)
}

// probability prints p; below 0.0001 only that bound, which is all it means.
func probability(p float64) string {
	switch {
	case !finite(p):
		return "–"
	case p < 1e-4:
		return "<0.0001"
	case p < 0.1:
		return strconv.FormatFloat(p, 'f', 4, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

func percent(share float64) string { return quantity.FormatFigure(100*share) + " %" }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// at names the cell inside a sentence, nothing when there is only one.
func at(cell string) string {
	if cell == "" {
		return ""
	}
	return " at " + cell
}

// shellLine prints an argv so that a POSIX shell reads it back unchanged.
func shellLine(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = shellWord(word)
	}
	return strings.Join(words, " ")
}

func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=,:@%+", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// labelOf names a metric in words short enough for a column: the registry's
// name without its units, "server CPU", "response p99.9". A name it does not
// know is shown as it is.
func labelOf(metric string) string {
	role, rest, found := strings.Cut(metric, ".")
	if !found {
		role, rest = "", metric
	}
	word, known := labels[rest]
	if !known {
		kind, percentile, ok := strings.Cut(strings.TrimSuffix(rest, "_us"), "_")
		if !ok || !slices.Contains([]string{"service", "response", "lag"}, kind) {
			return metric
		}
		word = kind + " " + strings.Replace(percentile, "p999", "p99.9", 1)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s", role, word))
}

var labels = map[string]string{
	"exchanges_per_s":             "rate",
	"goodput_bytes_per_s":         "goodput",
	"offered_share":               "achieved ÷ offered",
	"cpu_us_per_exchange":         "CPU",
	"cpu_s_per_gb":                "CPU per GB",
	"cores":                       "cores",
	"meter_share":                 "share of metering",
	"softirq_share":               "softirq",
	"steal_share":                 "steal",
	"rss_bytes":                   "RSS",
	"peak_rss_bytes":              "peak RSS",
	"switches_per_exchange":       "context switches",
	"gc_cpu_share":                "GC share of CPU",
	"gc_pause_us_per_s":           "GC pauses",
	"alloc_bytes_per_exchange":    "allocated",
	"error_share":                 "errors",
	"allocs_per_exchange":         "allocations",
	"heap_bytes":                  "heap",
	"idle_heap_bytes":             "idle heap",
	"idle_rss_bytes":              "idle RSS",
	"work_s":                      "time for the work",
	"arrival_gap_cv":              "variation of the gaps",
	"unfinished":                  "left unfinished",
	"unfinished_age_max_us":       "oldest unfinished",
	"link_bytes_per_exchange":     "bytes on the link",
	"link_packets_per_exchange":   "packets on the link",
	"tcp_rtt_us":                  "TCP round trip",
	"tcp_congestion_window_bytes": "TCP congestion window",
	"tcp_retransmit_share":        "TCP retransmits",
	"tcp_busy_share":              "TCP busy",
	"tcp_receive_window_share":    "TCP held by the window",
	"tcp_send_buffer_share":       "TCP held by the buffer",
	"tcp_delivery_bytes_per_s":    "TCP delivery",

	"gc_cycles_per_s":                "GC cycles",
	"gc_pause_us_per_cycle":          "pause per GC cycle",
	"goroutines":                     "goroutines",
	"heap_sys_bytes":                 "heap from the system",
	"stack_sys_bytes":                "stacks from the system",
	"threads":                        "OS threads",
	"link_rx_bytes_per_s":            "interfaces received",
	"link_tx_bytes_per_s":            "interfaces sent",
	"link_rx_packets_per_s":          "packets received",
	"link_tx_packets_per_s":          "packets sent",
	"link_rate_share":                "share of the link's rate",
	"slowest_connection_bytes_per_s": "slowest connection",
	"fastest_connection_bytes_per_s": "fastest connection",
}

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
