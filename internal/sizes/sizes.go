// Package sizes reads how the sizes of messages, and the times that servers work, are
// distributed, and makes the tables from which workers draw them.
//
//	uniform:100B..4KiB
//	lognormal:median=1KiB,sigma=1.6,max=1MiB
//	pareto:min=100B,alpha=1.2,max=1MiB
//	choice:90%:1KiB,9%:64KiB,1%:4MiB
//	cdf:64B:20%,1KiB:90%,1MiB:100%
//	homa-w3
//	exp:200us
package sizes

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/quantity"
)

// Sizes are a distribution of sizes, or of times. It is not changed after Parse.
type Sizes struct {
	Text   string         // canonical
	Words  string         // as a person would say it
	Table  contract.Table // in bytes, or in ns
	Source string         // of a published one: where its figures are from
}

// Largest returns the largest size, in bytes or ns.
func (s *Sizes) Largest() int64 { return s.Table.Most() }

// Mean returns the mean size, in bytes or ns.
func (s *Sizes) Mean() float64 { return s.Table.Mean() }

// form is one way to write a distribution: NAME:REST.
type form struct {
	name, example string // of sizes
	ofTime        string // example of times; "" where there are none
	read          func(u unit, rest string) (*Sizes, error)
}

var forms = []form{
	{"uniform", "uniform:100B..4KiB", "uniform:50us..2ms", readUniform},
	{"lognormal", "lognormal:median=1KiB,sigma=1.6,max=1MiB", "lognormal:median=200us,sigma=1,max=50ms", readLognormal},
	{"pareto", "pareto:min=100B,alpha=1.2,max=1MiB", "pareto:min=50us,alpha=1.5,max=50ms", readPareto},
	{"choice", "choice:90%:1KiB,10%:64KiB", "choice:99%:50us,1%:10ms", readChoice},
	{"cdf", "cdf:FILE, or cdf:64B:20%,1KiB:100%", "", readCDF},
}

// Is tells whether a text stands for a distribution, and not for one size.
func Is(text string) bool {
	name, _, found := strings.Cut(text, ":")
	return found && slices.ContainsFunc(forms, func(f form) bool { return f.name == name }) || named(text) != nil
}

// Names returns how distributions may be written, as examples, and the names of the
// published ones.
func Names() []string {
	var all []string
	for _, f := range forms {
		all = append(all, f.example)
	}
	for _, p := range published() {
		all = append(all, p.Text)
	}
	return all
}

// kept are the distributions read last: a plan has the same few in every trial.
var kept struct {
	sync.Mutex
	by map[string]*Sizes
}

const mostKept = 64

// Parse reads a distribution for which Is holds. The error says what was found and what
// was expected.
func Parse(text string) (*Sizes, error) {
	kept.Lock()
	defer kept.Unlock()
	if s := kept.by[text]; s != nil {
		return s, nil
	}
	s, err := parse(text)
	if err != nil {
		return nil, err
	}
	if kept.by == nil || len(kept.by) >= mostKept {
		kept.by = map[string]*Sizes{}
	}
	kept.by[text] = s
	return s, nil
}

func parse(text string) (*Sizes, error) {
	if p := named(text); p != nil {
		return p, nil
	}
	name, rest, _ := strings.Cut(text, ":")
	for _, f := range forms {
		if f.name != name {
			continue
		}
		s, err := f.read(inBytes, rest)
		if err != nil {
			return nil, fmt.Errorf("%s: %w (such as %s)", name, err, f.example)
		}
		if err := s.Table.Check(contract.MaxMessage); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return s, nil
	}
	return nil, fmt.Errorf("%q is no distribution of sizes; %s", quantity.Clip(text, 80), quantity.Hint(text, Names()))
}

// readShare reads a probability: 20%, or 0.2.
func readShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	p, err := strconv.ParseFloat(number, 64)
	if percent {
		p /= 100
	}
	if err != nil || !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("%q is no share; expected 0%% to 100%%", quantity.Clip(text, 40))
	}
	return p, nil
}

func shareText(p float64) string {
	return strconv.FormatFloat(math.Round(p*1e12)/1e10, 'f', -1, 64) + "%"
}

func readUniform(u unit, rest string) (*Sizes, error) {
	least, most, found := strings.Cut(rest, "..")
	if !found {
		return nil, fmt.Errorf("found %q, expected the least and the most", quantity.Clip(rest, 40))
	}
	low, err := u.read(least)
	if err != nil {
		return nil, err
	}
	high, err := u.read(most)
	if err != nil {
		return nil, err
	}
	if high < low {
		return nil, fmt.Errorf("%s is less than %s, expected them rising", most, least)
	}
	return &Sizes{
		Text:  "uniform:" + u.text(low) + ".." + u.text(high),
		Words: u.spoken(low) + " to " + u.spoken(high) + ", evenly",
		Table: contract.Table{{contract.TableEnd, low, high}},
	}, nil
}

// pairsOf reads KEY=VALUE,…, each key at most once, none of them missing.
func pairsOf(rest string, keys ...string) (map[string]string, error) {
	all := map[string]string{}
	for _, part := range strings.Split(rest, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(part), "=")
		switch _, twice := all[key]; {
		case !found:
			return nil, fmt.Errorf("found %q, expected KEY=VALUE with %s", quantity.Clip(part, 40), quantity.And(keys))
		case !slices.Contains(keys, key):
			return nil, fmt.Errorf("unknown %q; %s", quantity.Clip(key, 40), quantity.Hint(key, keys))
		case twice:
			return nil, fmt.Errorf("%s is given twice", key)
		}
		all[key] = value
	}
	for _, key := range keys {
		if all[key] == "" {
			return nil, fmt.Errorf("%s is missing, expected %s", key, quantity.And(keys))
		}
	}
	return all, nil
}

func number(key, text string, least, most float64) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= least && x <= most) {
		return 0, fmt.Errorf("%s is %q, expected a number from %v to %v", key, quantity.Clip(text, 40), least, most)
	}
	return x, nil
}

func readLognormal(u unit, rest string) (*Sizes, error) {
	of, err := pairsOf(rest, "median", "sigma", "max")
	if err != nil {
		return nil, err
	}
	median, err := u.read(of["median"])
	most, wrong := u.read(of["max"])
	sigma, bad := number("sigma", of["sigma"], 0.01, 10)
	if err := errors.Join(err, wrong, bad); err != nil {
		return nil, err
	}
	if median < 1 || most < median {
		return nil, fmt.Errorf("median is %s and max is %s, expected a median of at least %s and no less than that as max", of["median"], of["max"], u.text(1))
	}
	below := func(size float64) float64 { return math.Erfc(-math.Log(size/float64(median))/sigma/math.Sqrt2) / 2 }
	return &Sizes{
		Text:  fmt.Sprintf("lognormal:median=%s,sigma=%v,max=%s", u.text(median), sigma, u.text(most)),
		Words: fmt.Sprintf("lognormal, median %s, sigma %v, to %s", u.spoken(median), sigma, u.spoken(most)),
		Table: draw.Cut(below, 1, most),
	}, nil
}

func readPareto(u unit, rest string) (*Sizes, error) {
	of, err := pairsOf(rest, "min", "alpha", "max")
	if err != nil {
		return nil, err
	}
	least, err := u.read(of["min"])
	most, wrong := u.read(of["max"])
	alpha, bad := number("alpha", of["alpha"], 0.05, 100)
	if err := errors.Join(err, wrong, bad); err != nil {
		return nil, err
	}
	if least < 1 || most < least {
		return nil, fmt.Errorf("min is %s and max is %s, expected them rising, from %s on", of["min"], of["max"], u.text(1))
	}
	below := func(size float64) float64 { return 1 - math.Pow(float64(least)/max(size, float64(least)), alpha) }
	return &Sizes{
		Text:  fmt.Sprintf("pareto:min=%s,alpha=%v,max=%s", u.text(least), alpha, u.text(most)),
		Words: fmt.Sprintf("Pareto, from %s, alpha %v, to %s", u.spoken(least), alpha, u.spoken(most)),
		Table: draw.Cut(below, least, most),
	}, nil
}

func readChoice(u unit, rest string) (*Sizes, error) {
	var points []point
	var texts, words []string
	sum := 0.0
	for _, part := range strings.Split(rest, ",") {
		share, size, found := strings.Cut(strings.TrimSpace(part), ":")
		if !found {
			return nil, fmt.Errorf("found %q, expected SHARE:SIZE", quantity.Clip(part, 40))
		}
		p, err := readShare(share)
		n, wrong := u.read(size)
		if err := errors.Join(err, wrong); err != nil {
			return nil, err
		}
		if !(p > 0) {
			return nil, fmt.Errorf("the share of %s is 0, expected more: leave it out", size)
		}
		sum += p
		points = append(points, point{n, sum, true})
		texts = append(texts, shareText(p)+":"+u.text(n))
		words = append(words, fmt.Sprintf("%s %s", strings.TrimSuffix(shareText(p), "%")+" %", u.spoken(n)))
	}
	if math.Abs(sum-1) > 1e-9 {
		return nil, fmt.Errorf("the shares add up to %s, expected 100%%", shareText(sum))
	}
	points[len(points)-1].below = 1
	table, err := joined(u, points)
	return &Sizes{Text: "choice:" + strings.Join(texts, ","), Words: strings.Join(words, ", "), Table: table}, err
}
