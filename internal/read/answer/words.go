package answer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// rest says how the arms came out that were not named, those alike together.
func rest(named []string, others []Effect) string {
	alike := map[string][]string{}
	var order []string
	for _, arm := range armsOf(others) {
		if slices.Contains(named, arm) {
			continue
		}
		var verdicts []string
		for _, e := range ofArm(arm, others) {
			if words := verdictWords[e.Verdict]; !slices.Contains(verdicts, words) {
				verdicts = append(verdicts, words)
			}
		}
		words := strings.Join(verdicts, " or ")
		if alike[words] == nil {
			order = append(order, words)
		}
		alike[words] = append(alike[words], arm)
	}
	text := ""
	for _, words := range order {
		text += "; " + few(alike[words]) + isAre(len(alike[words])) + " " + words
	}
	return text
}

var verdictWords = map[compare.Verdict]string{
	compare.Better: "better", compare.Worse: "worse", compare.Equivalent: "equal", compare.CannotTell: "not settled", compare.Invalid: "invalid", compare.Unsupported: "unsupported",
}

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func compareSize(a, b Effect) int {
	size := func(e Effect) float64 {
		if !cells.Usable(e.Ratio) {
			return -1
		}
		return math.Abs(math.Log(e.Ratio))
	}
	switch x, y := size(a), size(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// differs says by how much an arm differs from the base, over one effect or
// several of the same direction: "needs 34 % less server CPU per exchange than
// go-net (31–37 %)". Without a base, or a metric's words, these are understood.
func differs(m metric.Metric, base string, effects []Effect) string {
	first := effects[0]
	least, most, low, high := first.Ratio, first.Ratio, first.Low, first.High
	for _, e := range effects[1:] {
		least, most, low, high = min(least, e.Ratio), max(most, e.Ratio), min(low, e.Low), max(high, e.High)
	}
	below := most < 1
	if !below && (most > 2 || least < 1) || most < 0.1 { // no percentage says these well
		return fmt.Sprintf("%s %s×%s%s (%s)", verb(m, below), between(least, most, quantity.FormatFigure), after(" the ", m.Doc), after(" of ", base), between(low, high, quantity.FormatFigure))
	}
	share, span := between(least-1, most-1, percent), between(low-1, high-1, percent)
	more, less := "more", "less"
	if below {
		share, span = between(1-most, 1-least, percent), between(1-high, 1-low, percent)
	}
	if !isCost(m) && !isTime(m) {
		more, less, share = "higher", "lower", article(share)+share
	}
	direction := more
	if below {
		direction = less
	}
	return fmt.Sprintf("%s %s %% %s%s%s (%s %%)", verb(m, below), share, direction, after(" ", m.Doc), after(" than ", base), span)
}

// article is that of a number as it is read aloud: an 8, an 11, a 12.
func article(number string) string {
	whole, _, _ := strings.Cut(strings.TrimRight(strings.SplitN(number, "–", 2)[0], " "), ".")
	if strings.HasPrefix(whole, "8") || whole == "11" || whole == "18" {
		return "an "
	}
	return "a "
}

// after puts a word before a name, if there is one.
func after(word, name string) string {
	if name == "" {
		return ""
	}
	return word + name
}

// between is one number where both are shown alike, else both.
func between(low, high float64, show func(float64) string) string {
	if show(low) == show(high) {
		return show(low)
	}
	return show(low) + "–" + show(high)
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

// verb suits costs, rates and times; below is of one that is lower.
func verb(m metric.Metric, below bool) string {
	switch {
	case isCost(m):
		return "needs"
	case isTime(m):
		return "takes"
	case m.Better == metric.Higher && !below:
		return "reaches"
	}
	return "has"
}

// isTime holds for how long work takes, in seconds.
func isTime(m metric.Metric) bool { return m.Better == metric.Lower && m.Unit == "s" }

// isCost holds for what a worker or a host uses up.
func isCost(m metric.Metric) bool {
	return m.Better == metric.Lower && (strings.HasPrefix(m.Name, "server.") || strings.HasPrefix(m.Name, "client.") || strings.HasPrefix(m.Name, "host."))
}

// inCells names the cells of some effects, beside those of the same arm in the
// other cells.
func inCells(effects, others []Effect) string {
	switch {
	case len(others) == 0 && len(effects) == 1:
		return atCell(effects[0].Cell)
	case len(others) == 0:
		return inAll(len(effects))
	case len(effects) <= 2:
		var names []string
		for _, e := range effects {
			names = append(names, cells.Spoken(e.Cell))
		}
		return " at " + strings.Join(names, " and at ")
	}
	return fmt.Sprintf(" in %d of %d cells", len(effects), len(effects)+len(others))
}

// elsewhere counts how the other cells came out.
func elsewhere(others []Effect) string {
	by := byVerdict(others)
	var parts []string
	for _, verdict := range []compare.Verdict{compare.Better, compare.Worse, compare.Equivalent, compare.CannotTell, compare.Invalid, compare.Unsupported} {
		own, words := by[verdict], verdictWords[verdict]
		switch {
		case len(own) == 0:
		case len(own) == 1 && verdict == compare.Worse && own[0].Ratio > 0:
			parts = append(parts, "worse"+atCell(own[0].Cell)+", "+part.TimesIn(own[0].Ratio, own[0].Low, own[0].High))
		case len(own) == 1 && own[0].Cell != "":
			parts = append(parts, words+atCell(own[0].Cell))
		default:
			parts = append(parts, fmt.Sprintf("%s in %d", words, len(own)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}

func atCell(cell string) string {
	if cell == "" {
		return ""
	}
	return " at " + cells.Spoken(cell)
}

func inAll(n int) string {
	if n < 2 {
		return ""
	}
	if n == 2 {
		return " in both cells"
	}
	return fmt.Sprintf(" in all %d cells", n)
}

// armsOf lists the arms of effects, the one nearest to the baseline first.
func armsOf(effects []Effect) []string {
	sorted := slices.Clone(effects)
	slices.SortStableFunc(sorted, compareSize)
	var arms []string
	for _, e := range sorted {
		if !slices.Contains(arms, e.Arm) {
			arms = append(arms, e.Arm)
		}
	}
	return arms
}

func ofArm(arm string, effects []Effect) []Effect {
	return slices.DeleteFunc(slices.Clone(effects), func(e Effect) bool { return e.Arm != arm })
}

func cellsOf(effects []Effect) int {
	names := map[string]bool{}
	for _, e := range effects {
		names[e.Cell] = true
	}
	return len(names)
}
