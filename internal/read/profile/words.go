package profile

import (
	"fmt"
	"math"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

const namedFunctions = 3 // of an activity, in a sentence

// sentence says in what an arm spends more CPU time than another; "" of a difference
// that is not told apart from noise, of which the tables have the figures. Its figures are those
// of the difference's tables, in the unit of the whole. What share of a difference its
// parts explain is said once for all of them, by Why.
func (d Difference) sentence() string {
	scale, unit, per := d.scale()
	amount := func(x float64) string { return scale.Format(math.Abs(x)) }
	costs := fmt.Sprintf("The %s of %s needs %s %s of CPU per %s, that of %s %s", d.End, d.Arm, amount(d.Whole.Arm), unit, per, d.Base, amount(d.Whole.Base))
	pairs := fmt.Sprintf("%d pairs of probes", d.Pairs)
	if d.Pairs == 1 {
		pairs = "one pair of probes"
	}
	switch {
	case d.Source == NoKernel:
		return costs + ", by " + pairs + "; perf was not permitted to see the kernel, so it cannot be told in what they differ (sudo sysctl kernel.perf_event_paranoid=1 permits it)."
	case d.Pairs < fewestPairs:
		return costs + fmt.Sprintf(", by %s; with three (probes=3) it can be told in what they differ.", pairs)
	case !d.Whole.Told:
		return ""
	}
	text := fmt.Sprintf("The %s of %s needs %s %s %s CPU per %s than that of %s (%s, %s)",
		d.End, d.Arm, amount(d.Whole.Difference), unit, comparative(d.Whole.Difference), per, d.Base, interval(scale, d.Whole), pairs)
	if parts := d.parts(func(a Change) string { return among(d, a) }); len(parts) > 0 {
		return text + ": " + quantity.And(parts) + "." + mixed(d)
	}
	return text + "; in what is not told apart from noise" + likely(d, scale) + "." + mixed(d)
}

// scale is the unit of a difference's figures, in its two halves: "µs", "exchange".
func (d Difference) scale() (scale metric.Scale, unit, per string) {
	scale = metric.Shown(d.Metric).Scale(max(d.Whole.Arm, d.Whole.Base))
	unit, per, _ = strings.Cut(scale.Unit, "/")
	return scale, unit, strings.TrimPrefix(per, " ")
}

// parts are the activities in which two arms are told to differ, the largest first:
// "11.0 µs less in waking goroutines". Detail may add to each.
func (d Difference) parts(detail func(Change) string) []string {
	scale, unit, _ := d.scale()
	var parts []string
	for _, a := range d.Activities {
		if a.Told {
			parts = append(parts, fmt.Sprintf("%s %s %s in %s%s", scale.Format(math.Abs(a.Difference)), unit, comparative(a.Difference), Spoken(a.Name), detail(a)))
		}
	}
	return parts
}

func comparative(difference float64) string {
	if difference < 0 {
		return "less"
	}
	return "more"
}

// likely names the parts that may be most of a difference, with their intervals.
func likely(d Difference, scale metric.Scale) string {
	var parts []string
	for _, a := range d.Activities { // the largest first
		if (a.Difference < 0) == (d.Whole.Difference < 0) && a.Difference != 0 && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf("%s in %s (%s)", scale.Format(math.Abs(a.Difference)), Spoken(a.Name), interval(scale, a)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; the largest seem to be " + quantity.And(parts)
}

// mixed says what a difference leaves out when its profiles were taken differently.
func mixed(d Difference) string {
	if d.Source != Mixed {
		return ""
	}
	return " Sources differ: perf sees into the kernel and Go's own profiler does not, so the kernel's work counts here as system calls and scheduler."
}

// Spoken is an activity in a reader's words, inside a sentence.
func Spoken(name string) string {
	for _, a := range classes {
		if a.Name == name && a.Spoken != "" {
			return a.Spoken
		}
	}
	return name
}

// interval is a difference's own, in the direction of the difference.
func interval(scale metric.Scale, c Change) string {
	low, high := c.Low, c.High
	if c.Difference < 0 {
		low, high = -high, -low
	}
	return strings.ReplaceAll(scale.Interval(low, high), "-", "−")
}

// among names the functions of an activity in which most of its difference is.
func among(d Difference, a Change) string {
	var names []string
	for _, f := range d.Functions {
		if f.Activity == a.Name && f.Told && (f.Difference < 0) == (a.Difference < 0) && len(names) < namedFunctions {
			names = append(names, f.Name)
		}
	}
	return part.Bracketed(strings.Join(names, ", "))
}
