package race

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// Setting is one setting of an arm that the baseline does not have.
type Setting struct {
	Factor string `json:"factor"`
	Level  string `json:"level"`
	As     string `json:"as,omitempty"` // as it is written outside of netdyno: "grpc.ReadBufferSize(131072)"
}

// Option is one factor by itself: the arms that differ from the baseline in that factor
// alone.
type Option struct {
	Factor string   `json:"factor"`
	Effect Effect   `json:"effect"`
	Tried  []Tried  `json:"tried"` // in the study's order
	Best   *Tried   `json:"best,omitempty"`
	Open   []string `json:"open,omitempty"` // levels of which it cannot be told
}

// Tried is one level of an option against the baseline.
type Tried struct {
	Level string        `json:"level"`
	Arm   string        `json:"arm"`
	Ratio stat.Estimate `json:"ratio"` // 95 % interval by the race's noise; zero without figures
}

// Effect says whether an option mattered by itself.
type Effect string

// The effects, by the 95 % intervals of all its levels.
const (
	Mattered  Effect = "mattered"      // one lies wholly beyond the margin
	NoMatter  Effect = "no matter"     // all lie wholly within it
	OpenStill Effect = "open"          // neither
	Unraced   Effect = "not by itself" // no arm differs in this factor alone
)

// levelsOf returns an arm's levels; nil when no trial of it is planned.
func levelsOf(s *cells.Dataset, arm string) map[string]string {
	for _, v := range s.Trials {
		if v.Plan.Arm == arm {
			return v.Plan.Levels
		}
	}
	return nil
}

// settings returns in what an arm differs from another, by factor.
func settings(s *cells.Dataset, arm, base string) []Setting {
	own, others := levelsOf(s, arm), levelsOf(s, base)
	var all []Setting
	for factor, level := range own {
		if others[factor] != level && factor != s.Header.Study.Compare.Factor {
			all = append(all, Setting{Factor: factor, Level: level, As: written(s.Header.Study.Race.As[factor], level)})
		}
	}
	slices.SortFunc(all, func(a, b Setting) int { return strings.Compare(a.Factor, b.Factor) })
	return all
}

// placeholder stands for the value in the text of a setting.
const placeholder = "{value}"

// written puts a level into the text by which a setting is written elsewhere: sizes as
// bytes, yes and no as true and false. "" for no text.
func written(text, level string) string {
	if text == "" {
		return ""
	}
	value := level
	switch n, err := quantity.ParseBytes(level); {
	case level == "yes":
		value = "true"
	case level == "no":
		value = "false"
	case err == nil:
		value = strconv.FormatInt(n, 10)
	}
	return strings.ReplaceAll(text, placeholder, value)
}

// options tells what each factor did by itself.
func (f field) options(s *cells.Dataset) []Option {
	base := f.baseline()
	if base == nil {
		return nil
	}
	_, noise := f.paces()
	var all []Option
	for _, r := range f.runners {
		differs := settings(s, r.name, base.name)
		for _, one := range differs {
			i := slices.IndexFunc(all, func(k Option) bool { return k.Factor == one.Factor })
			if i < 0 {
				i, all = len(all), append(all, Option{Factor: one.Factor})
			}
			if len(differs) == 1 {
				all[i].Tried = append(all[i].Tried, Tried{Level: one.Level, Arm: r.name, Ratio: f.ratio(r, base, noise)})
			}
		}
	}
	for i := range all {
		f.weigh(&all[i])
	}
	return all
}

// ratio is a's metric over b's with its 95 % interval; zero without a block that both have,
// and while no noise is known: one block gives no ratio.
func (f field) ratio(a, b *runner, n noise) stat.Estimate {
	mean, variances, ok := ahead(a, b)
	if !ok || n.degrees == 0 {
		return stat.Estimate{}
	}
	reach := n.reach((1-stat.Confidence)/2, variances)
	mean = toward(f.better, mean)
	return stat.Estimate{Point: math.Exp(mean), Low: math.Exp(mean - reach), High: min(math.Exp(mean+reach), math.MaxFloat64)}
}

// weigh judges an option by the intervals of its levels.
func (f field) weigh(k *Option) {
	inside, beyond := 0, false
	better := func(a, b float64) bool { return toward(f.better, math.Log(a)) > toward(f.better, math.Log(b)) }
	for i, t := range k.Tried {
		switch {
		case t.Ratio.Low >= 1/(1+f.margin) && t.Ratio.High <= 1+f.margin:
			inside++
		case t.Ratio.Point > 0 && (t.Ratio.Low > 1+f.margin || t.Ratio.High < 1/(1+f.margin)):
			beyond = true
		default:
			k.Open = append(k.Open, t.Level)
		}
		if t.Ratio.Point > 0 && (k.Best == nil || better(t.Ratio.Point, k.Best.Ratio.Point)) {
			k.Best = &k.Tried[i]
		}
	}
	switch {
	case len(k.Tried) == 0:
		k.Effect = Unraced
	case beyond:
		k.Effect = Mattered
	case inside == len(k.Tried):
		k.Effect = NoMatter
	default:
		k.Effect = OpenStill
	}
}
