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

// Sentences say what a forecast comes to: what is reached first, how the
// choices compare, from which size on, and what hardware could save.
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
	for _, e := range f.Evens {
		all = append(all, fmt.Sprintf("%s takes fewer cores below about %s (%s–%s), %s above.", e.Below,
			quantity.FormatBytes(e.Size.Value), quantity.FormatBytes(e.Size.Low), quantity.FormatBytes(e.Size.High), e.Above))
	}
	if len(f.Choices) > 0 && f.Choices[0].Whole() {
		all = append(all, f.hardwareSentences()...)
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

// hardwareSentences say what moving the bytes without a CPU could save at most.
func (f Forecast) hardwareSentences() []string {
	c, hosts := f.Choices[0], float64(f.Load.Servers+f.Load.Clients)
	name := c.named()
	each := c.Cores.Times(1 / hosts)
	all := []string{fmt.Sprintf("RDMA can save at most all of %s's CPU, %s on each host: it pays only where it costs less than these cores.", name, coresWords(each))}
	if c.PerByte != nil && c.PerByte.Low > 0 {
		all = append(all, fmt.Sprintf("Zero copies can save at most what grows with the bytes, %s of them.", coresWords(c.PerByte.Times(1/hosts))))
	}
	return all
}

func coresWords(f Figure) string {
	return fmt.Sprintf("%s cores (%s–%s)", quantity.FormatFigure(f.Value), quantity.FormatFigure(f.Low), quantity.FormatFigure(f.High))
}

// MemoryWords prints an amount of memory; "?" for none.
func MemoryWords(f *Figure) string {
	if f == nil || math.IsInf(f.Value, 0) {
		return "?"
	}
	s := metric.Shown(metric.OfServer + metric.RSS).Scale(f.Value)
	return s.Format(f.Value) + " " + s.Unit
}
