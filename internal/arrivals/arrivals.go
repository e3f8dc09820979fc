// Package arrivals reads how the exchanges of an open loop are spaced.
//
//	constant, poisson
//	gamma:cv=2                 gaps whose standard deviation is twice their mean
//	burst:on=10ms,off=90ms     all of the rate within on, again and again
//	steps:1k,5k,20k/10s        rates one after the other, each for so long
//	ramp:1k..50k/30s           a rate that rises or falls evenly
//	trace:FILE                 at the times that a file has
package arrivals

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/quantity"
)

// Arrivals are how exchanges are spaced. It is not changed after Parse.
type Arrivals struct {
	Text  string  // canonical
	Words string  // as a person would say it
	Rate  float64 // mean of its own rates, per second; 0 where the study says the rate
	Lasts time.Duration
	File  string // that has the times; "" where they follow from the rest

	process contract.Arrival
	cv      float64          // of drawn gaps
	phases  []contract.Phase // rates relative to the trial's, or own
	repeat  bool
}

type form struct {
	name, example string
	read          func(rest string) (*Arrivals, error)
}

var forms = []form{
	{"gamma", "gamma:cv=2", readGamma},
	{"burst", "burst:on=10ms,off=90ms", readBurst},
	{"steps", "steps:1k,5k,20k/10s", readSteps},
	{"ramp", "ramp:1k..50k/30s", readRamp},
	{"trace", "trace:FILE", readFile},
}

// Names returns how arrivals may be written, as examples.
func Names() []string {
	all := []string{string(contract.Constant), string(contract.Poisson)}
	for _, f := range forms {
		all = append(all, f.example)
	}
	return all
}

// Parse reads arrivals. The error says what was found and what was expected.
func Parse(text string) (*Arrivals, error) {
	switch process := contract.Arrival(text); process {
	case contract.Constant:
		return &Arrivals{Text: text, Words: "evenly spaced", process: process}, nil
	case contract.Poisson:
		return &Arrivals{Text: text, Words: "Poisson", process: process}, nil
	}
	name, rest, found := strings.Cut(text, ":")
	for _, f := range forms {
		if f.name == name && found {
			a, err := f.read(rest)
			if err != nil {
				return nil, fmt.Errorf("%s: %w (such as %s)", name, err, f.example)
			}
			return a, nil
		}
	}
	return nil, fmt.Errorf("unknown level %q; %s", quantity.Clip(text, 80), quantity.Hint(text, Names()))
}

// Enter makes a load follow the arrivals: one whose rate is that of all clients, before it
// is shared out.
func (a *Arrivals) Enter(l *contract.Load) {
	l.Arrival = a.process
	if a.cv > 0 {
		l.GapsCV, l.Gaps = a.cv, gammaGaps(a.cv)
	}
	if a.Rate > 0 {
		l.Rate = a.Rate
	}
	scale := 1.0
	if a.Rate == 0 {
		scale = l.Rate
	}
	l.Phases, l.Repeat = nil, a.repeat
	for _, p := range a.phases {
		l.Phases = append(l.Phases, contract.Phase{p[0], p[1] * scale, p[2] * scale})
	}
}

// Share returns the phases of a client that has a share of the load.
func Share(phases []contract.Phase, share float64) []contract.Phase {
	var own []contract.Phase
	for _, p := range phases {
		own = append(own, contract.Phase{p[0], p[1] * share, p[2] * share})
	}
	return own
}

const (
	leastCV, mostCV = 0.2, 10
)

func readGamma(rest string) (*Arrivals, error) {
	text, found := strings.CutPrefix(rest, "cv=")
	cv, err := strconv.ParseFloat(text, 64)
	if !found || err != nil || !(cv >= leastCV && cv <= mostCV) {
		return nil, fmt.Errorf("found %q, expected cv, the gaps' standard deviation ÷ mean, from %v to %v", quantity.Clip(rest, 40), leastCV, mostCV)
	}
	number := strconv.FormatFloat(cv, 'f', -1, 64)
	return &Arrivals{Text: "gamma:cv=" + number, Words: "gamma gaps, cv " + number, process: contract.Drawn, cv: cv}, nil
}

// gammaGaps is the table of gamma gaps of that coefficient of variation.
func gammaGaps(cv float64) contract.Table {
	shape := 1 / (cv * cv)
	return draw.Cut(func(gap float64) float64 { return gammaBelow(shape, gap*shape/draw.GapUnit) }, 0, draw.MostGap)
}

// gammaBelow is the regularized lower incomplete gamma function, by its series, or above
// the mean by the continued fraction of its complement (Abramowitz and Stegun, 6.5.29 and
// 6.5.31, the latter by Lentz's method).
func gammaBelow(shape, x float64) float64 {
	if x <= 0 {
		return 0
	}
	logGamma, _ := math.Lgamma(shape)
	front := math.Exp(shape*math.Log(x) - x - logGamma)
	const steps, enough = 10_000, 1e-15
	if x < shape+1 {
		term := 1 / shape
		sum := term
		for n := 1; n < steps && term > sum*enough; n++ {
			term *= x / (shape + float64(n))
			sum += term
		}
		return min(1, front*sum)
	}
	const tiny = 1e-300
	b := x + 1 - shape
	c, d := 1/tiny, 1/b
	fraction := d
	for n := 1; n < steps; n++ {
		an := -float64(n) * (float64(n) - shape)
		b += 2
		d = 1 / nonzero(an*d+b, tiny)
		c = nonzero(b+an/c, tiny)
		fraction *= d * c
		if math.Abs(d*c-1) < enough {
			break
		}
	}
	return max(0, 1-front*fraction)
}

func nonzero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}

func readBurst(rest string) (*Arrivals, error) {
	var of [2]time.Duration
	for i, part := range strings.SplitN(rest, ",", 2) {
		key := []string{"on", "off"}[i]
		text, found := strings.CutPrefix(strings.TrimSpace(part), key+"=")
		if !found {
			return nil, fmt.Errorf("found %q, expected %s=TIME", quantity.Clip(part, 40), key)
		}
		var err error
		if of[i], err = readTime(text); err != nil {
			return nil, err
		}
	}
	on, off := of[0], of[1]
	if off == 0 {
		return nil, fmt.Errorf("off is missing, expected on and off")
	}
	peak := float64(on+off) / float64(on)
	return &Arrivals{
		Text:    "burst:on=" + quantity.DurationText(on) + ",off=" + quantity.DurationText(off),
		Words:   fmt.Sprintf("bursts of %s every %s", spoken(on), spoken(on+off)),
		process: contract.Constant, repeat: true,
		phases: []contract.Phase{{float64(on), peak, peak}, {float64(off), 0, 0}},
	}, nil
}

// readTime reads how long a phase lasts.
func readTime(text string) (time.Duration, error) {
	d, err := quantity.ParseDuration(text)
	if err == nil && (d < time.Microsecond || d > 24*time.Hour) {
		err = fmt.Errorf("%s is out of range, expected 1us to 24h", quantity.Clip(text, 40))
	}
	return d, err
}

// ratesOf reads RATES/TIME, with the rates parted by sep.
func ratesOf(rest, sep string) (rates []float64, each time.Duration, err error) {
	text, lasts, found := strings.Cut(rest, "/")
	if !found {
		return nil, 0, fmt.Errorf("found %q, expected rates, a slash and a time", quantity.Clip(rest, 40))
	}
	if each, err = readTime(lasts); err != nil {
		return nil, 0, err
	}
	const most = 64
	parts := strings.Split(text, sep)
	if len(parts) > most {
		return nil, 0, fmt.Errorf("%d rates, expected at most %d", len(parts), most)
	}
	some := false
	for _, part := range parts {
		rate, err := quantity.ParseRate(strings.TrimSpace(part))
		if err != nil {
			return nil, 0, err
		}
		if rate > mostRate {
			return nil, 0, fmt.Errorf("%s is out of range, expected at most 1e9 exchanges per second", quantity.Clip(part, 40))
		}
		some = some || rate > 0
		rates = append(rates, rate)
	}
	if !some {
		return nil, 0, fmt.Errorf("every rate is 0")
	}
	return rates, each, nil
}

const mostRate = 1e9

// spoken is a time as a person writes it: 10 ms.
func spoken(d time.Duration) string {
	text := quantity.DurationText(d)
	unit := strings.TrimLeft(text, "0123456789.")
	return strings.TrimSuffix(text, unit) + " " + unit
}

func readSteps(rest string) (*Arrivals, error) {
	rates, each, err := ratesOf(rest, ",")
	if err != nil {
		return nil, err
	}
	a := &Arrivals{process: contract.Constant, Lasts: time.Duration(len(rates)) * each}
	var texts, words []string
	for _, rate := range rates {
		a.phases = append(a.phases, contract.Phase{float64(each), rate, rate})
		a.Rate += rate / float64(len(rates))
		texts, words = append(texts, quantity.RateText(rate)), append(words, quantity.RateText(rate))
	}
	a.Text = "steps:" + strings.Join(texts, ",") + "/" + quantity.DurationText(each)
	a.Words = quantity.Clip(strings.Join(words, ", "), 40) + " a second, " + spoken(each) + " each"
	return a, nil
}

func readRamp(rest string) (*Arrivals, error) {
	rates, lasts, err := ratesOf(rest, "..")
	if err != nil {
		return nil, err
	}
	if len(rates) != 2 {
		return nil, fmt.Errorf("found %d rates, expected the first and the last", len(rates))
	}
	a := &Arrivals{
		Text:    "ramp:" + quantity.RateText(rates[0]) + ".." + quantity.RateText(rates[1]) + "/" + quantity.DurationText(lasts),
		Words:   fmt.Sprintf("from %s to %s a second in %s", quantity.RateText(rates[0]), quantity.RateText(rates[1]), spoken(lasts)),
		process: contract.Constant, Rate: (rates[0] + rates[1]) / 2, Lasts: lasts,
	}
	for k := range rampParts {
		at := func(k int) float64 { return rates[0] + (rates[1]-rates[0])*float64(k)/rampParts }
		a.phases = append(a.phases, contract.Phase{float64(lasts) / rampParts, at(k), at(k + 1)})
	}
	return a, nil
}

// rampParts is into how many parts of equal length a ramp is cut: the same schedule, with
// figures for each part.
const rampParts = 5

// readFile names a file of times, which is read when a run is planned.
func readFile(rest string) (*Arrivals, error) {
	const most = 4096
	switch {
	case rest == "":
		return nil, fmt.Errorf("no file is named")
	case len(rest) > most || strings.ContainsFunc(rest, unicode.IsControl):
		return nil, fmt.Errorf("found %q, expected the name of a file of times", quantity.Clip(rest, 40))
	}
	return &Arrivals{Text: "trace:" + rest, Words: "at the times of " + filepath.Base(rest), File: rest, process: contract.Recorded}, nil
}
