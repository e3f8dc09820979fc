package suggest

import (
	"cmp"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// levels are what may stand behind KEY=, after the levels that stand there.
func (l Line) levels(key, value string) []Word {
	before := value[:strings.LastIndexByte(value, ',')+1]
	stands := strings.Split(before, ",")
	var all []Word
	for _, level := range l.levelsOf(key, value) {
		if !slices.Contains(stands, level.Text) {
			all = append(all, Word{key + "=" + before + level.Text, level.Doc, level.Open})
		}
	}
	return all
}

// levelsOf are the levels of a key, each by itself.
func (l Line) levelsOf(key, value string) []Word {
	switch key {
	case study.ArmFactor:
		return l.bundles()
	case "baseline":
		return l.arms()
	case "primary":
		return metrics(false)
	case "require":
		return metrics(true)
	}
	if f, err := study.FactorNamed(key); err == nil {
		return l.levelsOfFactor(f, value)
	}
	for _, s := range source.Settings() {
		if s.Name == key {
			return plain(s.Usual...)
		}
	}
	return nil
}

func (l Line) levelsOfFactor(f study.Factor, value string) []Word {
	switch {
	case strings.HasPrefix(f.Name, study.OptionPrefix):
		return l.levelsOfOption(f.Name)
	case f.Name == "build":
		return each.Of(l.Directories(value[strings.LastIndexByte(value, ',')+1:]), func(d string) Word { return Word{Text: d} })
	case f.Kind == study.Transport:
		return Transports(l.Transports(), contract.Role(strings.TrimPrefix(f.Name, "transport")))
	case f.Kind == study.Paths:
		own := func(w Word) bool { return strings.HasPrefix(w.Text, "hop-") }
		return append(plain(record.Direct), slices.DeleteFunc(Transports(l.Transports(), contract.Hop), own)...)
	case f.Kind == study.Choice:
		return plain(f.Choices...)
	case f.Kind == study.Flag:
		return plain("yes", "no")
	}
	return usual(f)
}

// usual are the default of a factor and the levels that the built-in studies give
// it, the lowest first.
func usual(f study.Factor) []Word {
	var levels []study.Level
	add := func(l study.Level) {
		if !slices.ContainsFunc(levels, func(known study.Level) bool { return known.Text == l.Text }) {
			levels = append(levels, l)
		}
	}
	if l, err := f.Level(f.Default); err == nil && f.Default != "" {
		add(l)
	}
	for _, name := range source.List() {
		s, err := source.Named(name)
		if err != nil { // each is held by a test
			continue
		}
		for factor, level := range s.Levels() {
			if factor == f.Name {
				add(*level)
			}
		}
	}
	slices.SortStableFunc(levels, func(a, b study.Level) int { return cmp.Compare(a.Value, b.Value) })
	var all []Word
	for _, l := range levels {
		doc := ""
		if l.Text == f.Default {
			doc = "unless given"
		}
		all = append(all, Word{Text: l.Text, Doc: doc})
	}
	return all
}

// bundles are the named arms of the study that the line names, to choose among.
func (l Line) bundles() []Word {
	s, err := source.ParseArgs(l.Typed[:min(1, len(l.Typed))], l.Read)
	if err != nil {
		return nil // no study is named yet: there is nothing to offer
	}
	return each.Of(s.Arms, func(a study.Arm) Word { return Word{Text: a.Name} })
}

// arms are what the study compares, as far as it is typed.
func (l Line) arms() []Word {
	s, err := source.ParseArgs(l.Typed, l.Read)
	if err != nil {
		return nil // what is typed is no study yet
	}
	var all []Word
	for _, v := range s.Vary {
		for _, level := range v.Levels {
			if v.Factor == s.Compare.Factor {
				all = append(all, Word{Text: level.Text})
			}
		}
	}
	return all
}

func metrics(open bool) []Word {
	return each.Of(metric.All(), func(m metric.Metric) Word { return Word{m.Name, m.Doc, open} })
}

func plain(texts ...string) []Word {
	return each.Of(texts, func(text string) Word { return Word{Text: text} })
}
