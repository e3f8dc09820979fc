package profile

import (
	"fmt"
	"math"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/part"
)

const namedFunctions = 3 // of an activity, in a sentence

// sentence says in what an arm spends more CPU time than another. Its
// figures are those of the difference's tables, in the unit of the whole.
func (d Difference) sentence() string {
	whole := d.Whole
	m := metric.Shown(d.Metric)
	scale := m.Scale(max(whole.Arm, whole.Base))
	unit, per, _ := strings.Cut(scale.Unit, "/")
	per = strings.TrimPrefix(per, " ")
	amount := func(x float64) string { return scale.Format(math.Abs(x)) }
	costs := fmt.Sprintf("The %s of %s needs %s %s of CPU per %s, that of %s %s", d.End, d.Arm, amount(whole.Arm), unit, per, d.Base, amount(whole.Base))
	pairs := fmt.Sprintf("%d pairs of probes", d.Pairs)
	if d.Pairs == 1 {
		pairs = "one pair of probes"
	}
	if d.Source == NoKernel {
		return costs + ", by " + pairs + "; perf was not permitted to see the kernel, so it cannot be told in what they differ (sudo sysctl kernel.perf_event_paranoid=1 permits it)."
	}
	if d.Pairs < 3 {
		return costs + fmt.Sprintf(", by %s; with three (probes=3) it can be told in what they differ.", pairs)
	}
	if !whole.Told {
		return costs + fmt.Sprintf(", by %s; the difference is not told apart from noise.", pairs)
	}
	more, other := "more", "less"
	if whole.Difference < 0 {
		more, other = other, more
	}
	parts, rest := []string{}, whole.Difference
	var against []string
	for _, a := range d.Activities {
		if !a.Told {
			continue
		}
		rest -= a.Difference
		where := fmt.Sprintf("in %s%s", Spoken(a.Name), among(d, a))
		switch {
		case (a.Difference < 0) != (whole.Difference < 0):
			against = append(against, amount(a.Difference)+" "+other+" "+where)
		case len(parts) == 0:
			parts = append(parts, amount(a.Difference)+" are "+where)
		default:
			parts = append(parts, amount(a.Difference)+" "+where)
		}
	}
	text := fmt.Sprintf("Of the %s %s of %s CPU that %s costs %s per %s than %s (%s, %s), ",
		amount(whole.Difference), unit, d.End, d.Arm, more, per, d.Base, interval(scale, whole), pairs)
	if len(parts) == 0 {
		return text + "no part is told apart from noise" + likely(d, scale) + "." + mixed(d)
	}
	text += part.And(parts)
	if len(against) > 0 {
		text += "; it costs " + part.And(against)
	}
	if remains := amount(rest); strings.Trim(remains, "0.") != "" {
		text += fmt.Sprintf("; %s%s are not told apart from noise", sign(rest, whole.Difference), remains)
	}
	return text + "." + mixed(d)
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
	return "; the largest seem to be " + part.And(parts)
}

// mixed says what a difference leaves out when its profiles were taken differently.
func mixed(d Difference) string {
	if d.Source != Mixed {
		return ""
	}
	return " Sources differ: perf sees into the kernel and Go's own profiler does not, so the kernel's work counts here as system calls and scheduler."
}

// Spoken is an activity's name inside a sentence.
func Spoken(name string) string {
	part, kernel := strings.CutPrefix(name, "kernel: ")
	switch {
	case kernel && part == "other":
		return "the kernel's other work"
	case kernel:
		return "the kernel's " + strings.ReplaceAll(part, ", ", " and ")
	case name == "scheduler" || name == "library":
		return "the " + name
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

func sign(part, whole float64) string {
	if (part < 0) != (whole < 0) {
		return "−"
	}
	return ""
}

// among names the functions of an activity in which most of its difference is.
func among(d Difference, a Change) string {
	var names []string
	for _, f := range d.Functions {
		if f.Activity == a.Name && f.Told && (f.Difference < 0) == (a.Difference < 0) && len(names) < namedFunctions {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}
