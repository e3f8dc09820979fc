package answer

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
)

// Alone returns what an arm can do that is compared with nothing: the cell with
// its highest rate, with the p99 there and the limit. It has no sentence for a
// run of several arms or without a valid rate. Every interval is of 95 %.
func Alone(r compare.Run) []string {
	arm, cell, ok := fastest(r.Cells)
	if !ok {
		return nil
	}
	rate, _ := summary(arm, metric.ExchangesPerS)
	if !rate.Known() {
		return []string{fmt.Sprintf("The rate of %s%s is unknown (%s).", arm.Name, where(r, cell), cells.WhyUnknown(rate.N, rate.Of))}
	}
	text := fmt.Sprintf("%s answers %s%s%s", arm.Name, figure(rate, " "+exchangesOf(arm)), interval(rate), where(r, cell))
	if p99, ok := tail(arm); ok {
		text += fmt.Sprintf(", p99 %s%s", atLeast(p99), interval(p99))
	}
	text += cost(arm) + fmt.Sprintf("; limit: %s.", arm.Limit)
	switch rate.N {
	case 1:
		text += " One block gives no interval."
	case 2:
		text += " Two blocks give no interval."
	}
	return []string{text}
}

// fastest returns the only arm in the cell in which its rate is highest, of those in
// which it is known if there are any.
func fastest(all []cells.Cell) (arm cells.Arm, cell cells.Cell, ok bool) {
	best, known := 0.0, false
	for _, c := range all {
		if len(c.Arms) != 1 || c.Arms[0].Name != all[0].Arms[0].Name {
			return arm, cell, false
		}
		rate, has := summary(c.Arms[0], metric.ExchangesPerS)
		if has && (rate.Known() && !known || rate.Known() == known && rate.Value > best) {
			arm, cell, ok, best, known = c.Arms[0], c, true, rate.Value, rate.Known()
		}
	}
	return arm, cell, ok
}

func summary(arm cells.Arm, name string) (cells.Summary, bool) {
	for _, s := range arm.Metrics {
		if s.Metric == name {
			return s, true
		}
	}
	return cells.Summary{}, false
}

// tail is the p99 of the time that a user of the load waits: from when an exchange was
// due in an open loop, from when it was sent in a closed one, which has no other.
func tail(arm cells.Arm) (cells.Summary, bool) {
	if p99, open := summary(arm, metric.ResponseP99); open {
		return p99, true
	}
	return summary(arm, metric.ServiceP99)
}

// cost says what the server took for it, where it was metered: ", 21.0 µs of server
// CPU each, 8.20 MiB of server memory", and whether that is not all of it.
func cost(arm cells.Arm) string {
	var parts []string
	if cpu, ok := summary(arm, metric.OfServer+metric.CPUPerExchange); ok {
		parts = append(parts, figure(cpu, "")+" of server CPU each")
	}
	if memory, ok := summary(arm, metric.OfServer+metric.RSS); ok {
		parts = append(parts, figure(memory, "")+" of server memory")
	}
	if len(parts) == 0 {
		return ""
	}
	text := ", " + strings.Join(parts, ", ")
	if slices.ContainsFunc(arm.Trials, func(t trial.Trial) bool { return slices.Contains(t.Flags, trial.Onward) }) {
		text += ", without what it asked others for"
	}
	return text
}

// level is what a factor has in a cell, whether it varies or is held.
func level(cell cells.Cell, r compare.Run, factor string) string {
	if text := cell.Levels[factor]; text != "" {
		return text
	}
	return r.Header.Study.Hold[factor]
}

// where names the cell as people do: " on 100 connections", and what else varies.
func where(r compare.Run, cell cells.Cell) string {
	text := ""
	switch n := level(cell, r, "connections"); n {
	case "":
	case "1":
		text = " on 1 connection"
	default:
		text = " on " + n + " connections"
	}
	var others []string
	for _, f := range r.Header.Study.Vary {
		if l, varies := cell.Levels[f.Name]; varies && f.Name != "connections" {
			others = append(others, f.Name+"="+l)
		}
	}
	if len(others) > 0 {
		text += " at " + strings.Join(others, ", ")
	}
	return text
}

// exchangesOf is what an exchange is called on the arm's wire.
func exchangesOf(arm cells.Arm) string {
	if wire := arm.Settings["server.wire"]; strings.HasPrefix(wire, "http/") || wire == "h2c" {
		return "requests"
	}
	return "exchanges"
}

// figure prints a summary's value in the unit that suits it; what is what a rate
// counts.
func figure(s cells.Summary, what string) string {
	if !s.Known() {
		return cells.Unknown
	}
	scale := scaleOf(s)
	if s.Metric == metric.ExchangesPerS {
		return strings.TrimRight(scale.Format(s.Value)+" "+strings.TrimSuffix(scale.Unit, "/s"), " ") + what + "/s"
	}
	return scale.Format(s.Value) + " " + scale.Unit
}

// atLeast prints a time, marked where it is a lower bound.
func atLeast(s cells.Summary) string {
	if s.AtLeast {
		return "≥ " + figure(s, "")
	}
	return figure(s, "")
}

// interval prints that of a summary in the same unit; "" where there is none, and of a
// lower bound.
func interval(s cells.Summary) string {
	if !s.Sure() || s.AtLeast {
		return ""
	}
	return " (" + scaleOf(s).Interval(s.Low, s.High) + ")"
}

func scaleOf(s cells.Summary) metric.Scale {
	return metric.Metric{Name: s.Metric, Unit: s.Unit}.Scale(s.Value)
}
