package metric

import "netdyno/internal/quantity"

// Scale is a unit to show values in: shown = raw ÷ Factor. It is chosen once
// for a column or an axis, so that values beside each other compare.
type Scale struct {
	Factor float64 `json:"factor"`
	Unit   string  `json:"unit"`
}

// Format prints a raw value in the unit of the scale, without the unit.
func (s Scale) Format(raw float64) string { return quantity.FormatFigure(raw / s.Factor) }

// Interval prints both ends of an interval in the unit of the scale, without
// the unit.
func (s Scale) Interval(low, high float64) string { return s.Format(low) + "–" + s.Format(high) }

// The units that a raw unit is shown in, the smallest first: decimal prefixes
// for rates and times, binary ones for memory, because sizes in memory are
// powers of two and what crosses a link is counted in powers of ten.
var ladders = map[string][]Scale{
	"1/s":   {{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}},
	"B/s":   {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}},
	"B":     {{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}},
	"µs":    {{1e-3, "ns"}, {1, "µs"}, {1e3, "ms"}, {1e6, "s"}},
	"µs/s":  {{1e-3, "ns/s"}, {1, "µs/s"}, {1e3, "ms/s"}, {1e6, "s/s"}},
	"share": {{1e-2, "%"}},
	"s":     {{1e-3, "ms"}, {1, "s"}},
	"s/GB":  {{1e-3, "ms/GB"}, {1, "s/GB"}},
	"s/s":   {{1, "cores"}},
	"1":     {{1, ""}},
}

// Scale returns the unit to show values in of which the largest is given.
func (m Metric) Scale(largest float64) Scale {
	ladder := ladders[m.Unit]
	if ladder == nil {
		return Scale{1, m.Unit + m.Suffix}
	}
	chosen := ladder[0]
	for _, s := range ladder[1:] {
		if largest >= s.Factor {
			chosen = s
		}
	}
	chosen.Unit += m.Suffix
	return chosen
}
