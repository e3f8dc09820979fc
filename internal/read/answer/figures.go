package answer

import (
	"fmt"
	"math"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// span is a figure over several arms or cells: the least and the most of them.
type span struct{ low, high float64 }

func spanOf(values []float64) span {
	s := span{math.Inf(1), math.Inf(-1)}
	for _, x := range values {
		s.low, s.high = min(s.low, x), max(s.high, x)
	}
	return s
}

// between is one number where both ends are shown alike, else both.
func (s span) between(show func(float64) string) string {
	if show(s.low) == show(s.high) {
		return show(s.low)
	}
	return show(s.low) + "–" + show(s.high)
}

// bare is how much of a metric there is, with a unit that does not repeat its words.
func bare(m metric.Metric, s span, interval string) string {
	if isCost(m) { // whose words say of what
		m.Unit, _, _ = strings.Cut(m.Unit, "/")
		m.Suffix = ""
	}
	scale := m.Scale(s.high)
	figure, unit := s.between(scale.Format), scale.Unit
	if m.Name == metric.ExchangesPerS {
		figure, unit = part.Joined(" ", figure, strings.TrimSuffix(unit, "/s")), "exchanges/s"
	}
	return part.Joined(" ", figure, unit) + interval
}

// amount is bare in words that need no table beside them: "2.81 GB/s", "0.26 s of client
// CPU per GB", "a p99 response time of 388 µs".
func amount(m metric.Metric, s span, interval string) string {
	figure := bare(m, s, interval)
	switch {
	case isCost(m):
		return figure + " of " + m.Doc
	case isDuration(m):
		return figure + " for the work"
	case m.Name == metric.ExchangesPerS || m.Unit == "B/s":
		return figure
	}
	return article(m.Doc) + " " + m.Doc + " of " + figure
}

// intervalOf is an interval in the unit of bare.
func intervalOf(m metric.Metric, value, low, high float64) string {
	if isCost(m) {
		m.Unit, _, _ = strings.Cut(m.Unit, "/")
	}
	return part.Bracketed(m.Scale(value).Interval(low, high))
}

// joinAmounts lists amounts; a rate is had for its cost.
func joinAmounts(metrics []metric.Metric, amounts []string) string {
	if len(amounts) > 1 && metrics[0].Better == metric.Higher && isCost(metrics[1]) {
		return amounts[0] + " for " + part.And(amounts[1:])
	}
	return part.And(amounts)
}

// isCost holds for what a worker or a host uses up.
func isCost(m metric.Metric) bool {
	return m.Better == metric.Lower && (strings.HasPrefix(m.Name, "server.") || strings.HasPrefix(m.Name, "client.") || strings.HasPrefix(m.Name, "host."))
}

// isDuration holds for how long a work takes.
func isDuration(m metric.Metric) bool { return m.Better == metric.Lower && m.Unit == "s" }

// article is that of a word or of a number as it is read aloud.
func article(word string) string {
	first := strings.ToLower(word[:min(1, len(word))])
	if strings.Contains("aeio8", first) || strings.HasPrefix(word, "11") || strings.HasPrefix(word, "18") {
		return "an"
	}
	return "a"
}

// superlative names the best end of a metric: "the highest goodput", "the least server CPU
// per exchange".
func superlative(m metric.Metric) string {
	switch {
	case m.Better == metric.Higher:
		return "has the highest " + m.Doc
	case isCost(m):
		return "needs the least " + m.Doc
	}
	return "has the lowest " + m.Doc
}

// fractions are ratios that a reader knows by a word.
var fractions = []struct {
	ratio float64
	word  string
}{{0.25, "a quarter"}, {1.0 / 3, "a third"}, {0.5, "half"}, {2.0 / 3, "two thirds"}, {0.75, "three quarters"}, {2, "twice"}}

// aboutShare is how far a ratio may be off a fraction that stands for it.
const aboutShare = 0.02

func inAWord(r float64) string {
	for _, f := range fractions {
		if math.Abs(r/f.ratio-1) <= aboutShare {
			return f.word
		}
	}
	return ""
}

// priced says what arms have of a metric in place of the best one's: "reach half of that
// goodput", "need 2.4–3.7 times the client CPU per GB". Doc is left out where the words
// before have it.
func priced(m metric.Metric, s span, plural, short bool) string {
	verb := func(one, many string) string {
		if plural {
			return many
		}
		return one
	}
	low, high := inAWord(s.low), inAWord(s.high)
	var how string
	switch {
	case low != "" && low == high:
		how = low
	case low != "" && high != "" && s.high < 1:
		how = low + " to " + high
	case s.high < 1:
		how = s.between(percent) + " %"
	case s.high >= 1.95:
		how = s.between(twoDigits) + " times"
	default:
		how = span{s.low - 1, s.high - 1}.between(percent) + " %"
		more := "higher"
		switch {
		case isCost(m):
			more = "more"
		case isDuration(m):
			more = "longer"
		}
		if short {
			return how + " " + more
		}
		if isCost(m) {
			return verb("needs ", "need ") + how + " more " + m.Doc
		}
		if isDuration(m) {
			return verb("takes ", "take ") + how + " longer"
		}
		return verb("has a ", "have a ") + how + " higher " + m.Doc
	}
	switch {
	case short:
		return how
	case m.Better == metric.Higher && s.high < 1:
		return verb("reaches ", "reach ") + how + " of that " + m.Doc
	case isCost(m):
		return verb("needs ", "need ") + how + " the " + m.Doc
	case isDuration(m):
		return verb("takes ", "take ") + how + " as long"
	}
	return verb("has ", "have ") + how + " the " + m.Doc
}

func twoDigits(x float64) string {
	if x >= 9.95 {
		return quantity.FormatFigure(math.Round(x))
	}
	return fmt.Sprintf("%.1f", x)
}

// percent shows a share in percent, with as many digits as a difference of that
// size deserves. It is rounded once, from the ratio itself.
func percent(share float64) string {
	x := 100 * share
	switch size := math.Abs(x); {
	case size >= 9.95:
		return fmt.Sprintf("%.0f", x)
	case size >= 0.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2g", x)
}
