package cost

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// Title says what a forecast is of: the work, the rate, the hosts.
func (n Load) Title() string {
	var messages []string
	if n.Up > 0 {
		messages = append(messages, quantity.FormatBytes(n.Up)+" up")
	}
	if n.Down > 0 {
		messages = append(messages, quantity.FormatBytes(n.Down)+" down")
	}
	if n.Spread != "" {
		messages = append(messages, "on average of "+n.Spread)
	}
	s := fmt.Sprintf("%s, %s exchanges/s: %s and %s", strings.Join(messages, ", "), quantity.FormatCount(n.Rate),
		quantity.Plural(n.Servers, "server"), quantity.Plural(n.Clients, "client"))
	var each []string
	if n.Link > 0 {
		each = append(each, quantity.BitRateText(int64(n.Link*8)))
	}
	if n.Cores > 0 {
		each = append(each, quantity.Plural(int(n.Cores), "core"))
	}
	if n.Memory > 0 {
		each = append(each, quantity.FormatBytes(n.Memory))
	}
	if len(each) > 0 {
		s += ", each with " + strings.Join(each, ", ")
	}
	return s
}

// Sentences say what a forecast comes to: what is reached first, and how the choices compare.
func (f Forecast) Sentences() []string {
	var all []string
	for _, c := range f.Choices {
		all = append(all, limitSentence(c)...)
	}
	for _, c := range f.Choices {
		if c.Ratio != nil {
			all = append(all, choiceRatio(f.Choices[0], c))
		}
	}
	for _, why := range f.Without {
		all = append(all, "Not forecast: "+why+".")
	}
	return all
}

// limitSentence says which resource a choice fills first, what was extrapolated for the
// choice, and which of its ends is not known.
func limitSentence(c Choice) []string {
	var all []string
	name := c.named()
	if len(c.Limits) > 0 {
		first := c.Limits[0]
		unsure := slices.IndexFunc(c.Limits, Limit.Unsure)
		switch {
		case unsure >= 0 && (unsure == 0 || first.Share <= 1): // one that is surely full decides
			l := c.Limits[unsure]
			all = append(all, fmt.Sprintf("Whether %s carries it cannot be told: it needs %s times the %s (%s–%s).", name, quantity.FormatFigure(l.Share), l.Name,
				quantity.FormatFigure(l.Low), quantity.FormatFigure(l.High)))
		case first.Share > 1:
			all = append(all, fmt.Sprintf("%s does not carry it: it needs %s times the %s.", name, quantity.FormatFigure(first.Share), first.Name))
		case first.Share > 0 && !c.Whole():
			all = append(all, fmt.Sprintf("The %s of %s carries it; of what is known the %s is full first, at %s times this rate.", knownEnd(c), name, first.Name, quantity.FormatFigure(1/first.Share)))
		case first.Share > 0:
			all = append(all, fmt.Sprintf("%s carries it; the %s is full first, at %s times this rate.", name, first.Name, quantity.FormatFigure(1/first.Share)))
		}
	}
	if !c.Whole() {
		all = append(all, fmt.Sprintf("Of %s the %s alone is forecast, and the connections are at least those that it needs; of the other end there is %s.", name, knownEnd(c), c.Server.Why+c.Client.Why))
	}
	if len(c.Rough) > 0 {
		var rough []string
		for _, r := range c.Rough {
			rough = append(rough, fmt.Sprintf("%s ±%s", metric.Shown(r.Metric).Label, quantity.FormatShare(r.Off)))
		}
		all = append(all, fmt.Sprintf("The models of %s are rough, which the intervals allow for: %s.", name, strings.Join(rough, ", ")))
	}
	if len(c.Beyond) > 0 {
		all = append(all, fmt.Sprintf("Extrapolated for %s: %s.", name, strings.Join(c.Beyond, "; ")))
	}
	return all
}

// named is the choice's arm with its levels.
func (c Choice) named() string { return part.Joined(" ", c.Arm, c.At) }

// knownEnd is the end of a choice that has a model, where the other one has none.
func knownEnd(c Choice) contract.Role {
	if c.Server.Why == "" {
		return contract.Server
	}
	return contract.Client
}

func choiceRatio(first, c Choice) string {
	r := *c.Ratio
	verdict := ""
	if r.Low <= 1 && 1 <= r.High {
		verdict = ", which does not tell them apart"
	}
	return fmt.Sprintf("%s takes %s the cores of %s (%s–%s)%s.", c.named(), part.Times(r.Value), first.named(),
		part.Times(r.Low), part.Times(r.High), verdict)
}

// MemoryWords prints an amount of memory; "?" for none.
func MemoryWords(f *Figure) string {
	if f == nil || math.IsInf(f.Value, 0) {
		return "?"
	}
	s := metric.Shown(metric.OfServer + metric.RSS).Scale(f.Value)
	return s.Format(f.Value) + " " + s.Unit
}
