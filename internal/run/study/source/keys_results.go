package source

import (
	"maps"
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// Limits of what is said of the results.
const (
	maxPublished = 1000
	maxViews     = 100 // of every other list
	maxTerms     = 16
	maxLeast     = 8
	maxParts     = 8
	maxSideArms  = 20 // of a claim, or of a side of a replacement
	maxRungs     = 20
)

// resultKeys say what to make of the results. They are read when the study is complete,
// as each must speak of what it has.
var resultKeys = []key[study.Study]{
	blocksOf("published", length{0, maxPublished}, publishedBlock, func(s *study.Study) *[]record.Published { return &s.Published }, "ratios of publications, which stand beside yours").result().kept(),
	blocksOf("charts", length{0, maxViews}, chartBlock, func(s *study.Study) *[]record.Chart { return &s.Charts }, "charts of the report").result(),
	blocksOf("fits", length{0, maxViews}, fitBlock, func(s *study.Study) *[]record.Fit { return &s.Fits }, "how a metric grows with a count").result(),
	blocksOf("reaches", length{0, maxViews}, reachBlock, func(s *study.Study) *[]record.Reach { return &s.Reaches }, "with how little each arm comes near the best").result(),
	blocksOf("pays", length{0, maxViews}, paysBlock, func(s *study.Study) *[]record.Pays { return &s.Pays }, "what replacing some arms by others saves").result(),
	fillsKey(),
	blocksOf("costs", length{0, maxViews}, costBlock, func(s *study.Study) *[]record.Cost { return &s.Costs }, "models of what an exchange or a process costs").result(),
	blocksOf("claims", length{0, maxViews}, claimBlock, func(s *study.Study) *[]record.Claim { return &s.Claims }, "conclusions that are put to the test").result(),
	ladderKey(),
}

var publishedBlock = block[record.Published]{
	name: "published",
	keys: []key[record.Published]{
		keyOf("source", aText, func(p *record.Published) *string { return &p.Source }, "who published it, and of what").must(),
		keyOf("metric", aMetric, func(p *record.Published) *string { return &p.Metric }, "metric of the ratio").must(),
		keyOf("arm", aText, func(p *record.Published) *string { return &p.Arm }, "arm that was compared").must(),
		keyOf("base", aText, func(p *record.Published) *string { return &p.Base }, "arm that it was compared with, or link, whose rate is declared").must(),
		keyOf("base_where", oneLevelEach, func(p *record.Published) *map[string]string { return &p.BaseWhere }, "levels of the base, where it was measured in another cell"),
		keyOf("ratio", aRatio, func(p *record.Published) *float64 { return &p.Ratio }, "the published ratio of arm to base").must(),
		keyOf("unmeasured", aText, func(p *record.Published) *string { return &p.Unmeasured }, "why no arm here can be compared with it"),
		keyOf("note", aText, func(p *record.Published) *string { return &p.Note }, "the original figures, say"),
		{
			about: about{name: "cell", form: "the name of a cell", doc: "a shorter way to write the levels of a cell as conditions"},
			read:  readCell,
			write: func(*record.Published) *node { return nil },
		},
		underKey(func(p *record.Published) *map[string]string { return &p.Under }, "conditions that the publication states"),
		keyOf("shape", oneLevelEach, func(p *record.Published) *map[string]string { return &p.Shape }, "levels at which a trial is what the publication ran"),
	},
	rule: study.Scope.Published,
}

// keyTitle and its like are the keys that most blocks have.
func keyTitle[T any](where func(*T) *string) key[T] {
	return keyOf("title", aText, where, "what stands above it")
}

func keyWhere[T any](where func(*T) *map[string]string) key[T] {
	return keyOf("where", oneLevelEach, where, "levels to whose trials it is confined")
}

var chartBlock = block[record.Chart]{
	name: "chart",
	keys: []key[record.Chart]{
		keyTitle(func(c *record.Chart) *string { return &c.Title }).must(),
		keyOf("kind", oneOf("kind", record.Lines, record.Heat, record.Front), func(c *record.Chart) *record.ChartKind { return &c.Kind }, "kind of the chart").must(),
		keyOf("metric", aMetric, func(c *record.Chart) *string { return &c.Metric }, "metric that is drawn"),
		keyOf("x", anAxis, func(c *record.Chart) *string { return &c.X }, "of lines and heat: factor along the axis"),
		keyOf("y", anAxis, func(c *record.Chart) *string { return &c.Y }, "of heat: factor along the other axis"),
		keyOf("by", aFactor, func(c *record.Chart) *string { return &c.By }, "of lines and front: factor with a line, or a mark, for each level"),
		keyOf("against", aMetric, func(c *record.Chart) *string { return &c.Against }, "of front: the metric that it costs"),
		keyWhere(func(c *record.Chart) *map[string]string { return &c.Where }),
		keyOf("arms", someArms(0, maxArms), func(c *record.Chart) *[]string { return &c.Arms }, "only these arms; all unless given"),
	},
	check: func(n *node, c *record.Chart, _ whole) error {
		allowed := axes[c.Kind]
		may := append(slices.Clone(allowed.needs), allowed.may...)
		for _, key := range []string{"metric", "x", "y", "by", "against"} {
			switch e := n.entryOf(key); {
			case e == nil && slices.Contains(allowed.needs, key):
				return n.at.errorf("chart: the key %q is missing; %s needs %s", key, c.Kind, joined(allowed.needs))
			case e != nil && !slices.Contains(may, key):
				return e.at.errorf("chart: %s has no %s; it has %s", c.Kind, key, joined(may))
			}
		}
		return nil
	},
	rule: func(c study.Scope, x record.Chart) (key, text string) { return c.Where(x.Where, x.Arms) },
}

// axes says which keys a kind of chart needs and which it may have.
var axes = map[record.ChartKind]struct{ needs, may []string }{
	record.Lines: {needs: []string{"metric", "x"}, may: []string{"by"}},
	record.Heat:  {needs: []string{"metric", "x", "y"}},
	record.Front: {needs: []string{"metric", "against"}, may: []string{"by"}},
}

var fitBlock = block[record.Fit]{
	name: "fit",
	keys: []key[record.Fit]{
		keyTitle(func(f *record.Fit) *string { return &f.Title }).must(),
		keyOf("metric", aMetric, func(f *record.Fit) *string { return &f.Metric }, "metric that grows").must(),
		keyOf("per", anAxis, func(f *record.Fit) *string { return &f.Per }, "factor that it grows with").must(),
		keyOf("source", aText, func(f *record.Fit) *string { return &f.Source }, "who published the coefficients"),
		keyOf("terms", someAxes(maxTerms), func(f *record.Fit) *[]string { return &f.Terms }, "factors that decide by how much").must(),
		keyWhere(func(f *record.Fit) *map[string]string { return &f.Where }),
		keyOf("published", someNumbers, func(f *record.Fit) *[]float64 { return &f.Published }, "published coefficients, one for each term"),
	},
	check: func(n *node, f *record.Fit, _ whole) error {
		if e := n.entryOf("published"); e != nil && f.Source == "" {
			return e.at.errorf("published: the key \"source\" is missing; expected who published the coefficients")
		} else if e != nil && len(f.Published) != len(f.Terms) {
			return e.value.at.errorf("published: found %d coefficients; expected one for each of the %d terms", len(f.Published), len(f.Terms))
		}
		return nil
	},
	rule: func(c study.Scope, f record.Fit) (key, text string) { return termsRule(c, f.Per, f.Terms, f.Where) },
}

// termsRule is what the terms of a model must be beside axes.
func termsRule(c study.Scope, per string, terms []string, where map[string]string) (key, text string) {
	switch {
	case len(terms) == 0:
		return "terms", "no factor is left"
	case slices.Contains(terms, per):
		return "terms", per + " is named twice"
	}
	return c.Where(where, nil)
}

// standardReach is the share of the best that is near it.
const standardReach = 0.95

var reachBlock = block[record.Reach]{
	name:  "reach",
	start: record.Reach{Share: standardReach},
	keys: []key[record.Reach]{
		keyTitle(func(r *record.Reach) *string { return &r.Title }).must(),
		keyOf("metric", aGain, func(r *record.Reach) *string { return &r.Metric }, "metric of which more is better").must(),
		keyOf("share", aShare(some, float), func(r *record.Reach) *float64 { return &r.Share }, "share of the best that is near it; 95% unless given"),
		keyOf("least", someAxes(maxLeast), func(r *record.Reach) *[]string { return &r.Least }, "what costs something: factors whose levels are numbers").must(),
		keyWhere(func(r *record.Reach) *map[string]string { return &r.Where }),
	},
	rule: func(c study.Scope, r record.Reach) (key, text string) { return c.Where(r.Where, nil) },
}

var paysBlock = block[record.Pays]{
	name: "pays",
	keys: []key[record.Pays]{
		keyTitle(func(p *record.Pays) *string { return &p.Title }).must(),
		keyOf("arms", someArms(0, maxSideArms), func(p *record.Pays) *[]string { return &p.Arms }, "arms that would come"),
		keyOf("instead_of", someArms(0, maxSideArms), func(p *record.Pays) *[]string { return &p.InsteadOf }, "arms that would go"),
		keyOf("unmeasured", aText, func(p *record.Pays) *string { return &p.Unmeasured }, "why no arm of the study can weigh it, in place of arms"),
		keyOf("at", aBitRate, func(p *record.Pays) *int64 { return &p.At }, "speed that the saved cores are of; the link's, or what went over it, unless given"),
		keyWhere(func(p *record.Pays) *map[string]string { return &p.Where }),
	},
	check: func(n *node, p *record.Pays, _ whole) error {
		for _, key := range []string{"arms", "instead_of"} {
			switch e := n.entryOf(key); {
			case p.Unmeasured != "" && e != nil:
				return e.at.errorf("%s: what no arm can weigh has none; leave out %s, or unmeasured", key, key)
			case p.Unmeasured == "" && e == nil:
				return n.at.errorf("pays: the key %q is missing", key)
			}
		}
		return nil
	},
	rule: func(c study.Scope, p record.Pays) (key, text string) {
		if p.Unmeasured != "" {
			return "", ""
		}
		for _, name := range p.Arms {
			if slices.Contains(p.InsteadOf, name) {
				return "instead_of", name + " would replace itself"
			}
		}
		if len(p.Arms) == 0 || len(p.InsteadOf) == 0 {
			return "arms", "no arm is left"
		}
		return c.Where(p.Where, slices.Concat(p.Arms, p.InsteadOf))
	},
}

// standardFull is the share of a link's rate from which on it is full: the reader's own
// (specification §5).
const standardFull = 0.95

// fillsKey is the key of what is asked of a link (link is the prefix of its factors).
func fillsKey() key[study.Study] {
	k := sub("fills", fillsBlock, func(s *study.Study) **record.LinkQuestion { return &s.Fills }, "whether TCP fills the link, with how little, and what else is worth it").result()
	k.fits = func(c study.Scope, s *study.Study) string {
		if s.Fills == nil {
			return ""
		}
		_, text := fillsBlock.problem(c, s.Fills)
		return text
	}
	k.keep = func(c study.Scope, s *study.Study) {
		if k.fits(c, s) != "" {
			s.Fills = nil
		}
	}
	return k
}

var fillsBlock = block[record.LinkQuestion]{
	name:  "fills",
	start: record.LinkQuestion{Share: standardFull},
	keys: []key[record.LinkQuestion]{
		keyOf("tcp", someArms(1, maxSideArms), func(l *record.LinkQuestion) *[]string { return &l.TCP }, "arms that are plain TCP").must(),
		keyOf("share", aShare(some, float), func(l *record.LinkQuestion) *float64 { return &l.Share }, "share of the link's rate from which on it is full, headers counted; 95% unless given"),
		keyWhere(func(l *record.LinkQuestion) *map[string]string { return &l.Where }),
	},
	rule: func(c study.Scope, l record.LinkQuestion) (key, text string) {
		if len(l.TCP) == 0 {
			return "tcp", "no arm is left"
		}
		return c.Where(l.Where, l.TCP)
	},
}

var costBlock = block[record.Cost]{
	name: "cost",
	keys: []key[record.Cost]{
		keyTitle(func(c *record.Cost) *string { return &c.Title }).must(),
		keyOf("metric", aMetric, func(c *record.Cost) *string { return &c.Metric }, "metric that is modelled").must(),
		keyOf("per", anAxis, func(c *record.Cost) *string { return &c.Per }, "factor that multiplies all but the constant"),
		keyOf("terms", someAxes(maxTerms), func(c *record.Cost) *[]string { return &c.Terms }, "factors whose levels are numbers").must(),
		keyOf("holdout", holdoutOf, func(c *record.Cost) *map[string][]string { return &c.Holdout }, "levels whose cells are not fitted, by factor"),
		keyWhere(func(c *record.Cost) *map[string]string { return &c.Where }),
	},
	rule: func(c study.Scope, x record.Cost) (key, text string) {
		for _, factor := range slices.Sorted(maps.Keys(x.Holdout)) {
			for _, level := range x.Holdout[factor] {
				if _, text := c.Where(map[string]string{factor: level}, nil); text != "" {
					return "holdout", text
				}
			}
		}
		return termsRule(c, x.Per, x.Terms, x.Where)
	},
}

// holdoutOf are levels in canonical text by factor.
var holdoutOf = kind[map[string][]string]{
	form: "a mapping from factors to lists of levels",
	read: func(e entry) (map[string][]string, error) {
		held := map[string][]string{}
		return held, e.each(length{0, maxLevels}, "a mapping from factors to lists of levels", func(factor entry) error {
			v, err := readVariedFactor(factor, readLevels)
			for _, l := range v.Levels {
				held[v.Factor] = append(held[v.Factor], l.Text)
			}
			return err
		})
	},
	write: func(held map[string][]string) *node {
		return mapNode(held, func(levels []string) *node { return oneLine(textsNode(levels)) })
	},
}

var claimBlock = block[record.Claim]{
	name: "claim",
	keys: []key[record.Claim]{
		keyOf("title", aText, func(c *record.Claim) *string { return &c.Title }, "the claim, as a sentence that is true or not").must(),
		keyOf("source", aText, func(c *record.Claim) *string { return &c.Source }, "the publication; none of a claim of your own"),
		keyOf("unmeasured", aText, func(c *record.Claim) *string { return &c.Unmeasured }, "why no arm of the study can test it, in place of parts"),
		underKey(func(c *record.Claim) *map[string]string { return &c.Under }, "conditions that the claim is about"),
		blocksOf("parts", length{1, maxParts}, partBlock, func(c *record.Claim) *[]record.ClaimPart { return &c.Parts }, "what must hold, all of it"),
	},
	check: func(n *node, c *record.Claim, _ whole) error {
		switch e := n.entryOf("parts"); {
		case c.Unmeasured != "" && e != nil:
			return e.at.errorf("parts: a claim that no arm can test has none; leave out parts, or unmeasured")
		case c.Unmeasured == "" && e == nil:
			return n.at.errorf(`claim: the key "parts" is missing; expected it, or unmeasured: why no arm can test the claim`)
		}
		return nil
	},
}

// ladderKey is the key of ladders: the arms of one, or a list of ladders, each as its
// arms or as a mapping.
func ladderKey() key[study.Study] {
	k := blocksOf("ladder", length{0, maxViews}, ladderBlock, func(s *study.Study) *[]record.Ladder { return &s.Ladders }, "arms in an order in which each differs from the one before in one thing").result()
	read := k.read
	k.read = func(e entry, into *study.Study, w whole) error {
		items := []*node{e.value}
		if e.value.kind == list && len(e.value.items) > 0 && e.value.items[0].kind != scalar {
			items = e.value.items
		}
		all := &node{at: e.value.at, kind: list}
		for _, item := range items {
			if item.kind == list {
				item = mappingNode(item.at, "arms", item)
			}
			all.items = append(all.items, item)
		}
		e.value = all
		if err := read(e, into, w); err != nil {
			return err
		}
		into.SetLadders(into.Ladders)
		return nil
	}
	keep := k.keep
	k.keep = func(c study.Scope, into *study.Study) {
		keep(c, into)
		into.SetLadders(into.Ladders)
	}
	return k
}

var ladderBlock = block[record.Ladder]{
	name: "ladder",
	keys: []key[record.Ladder]{
		keyTitle(func(l *record.Ladder) *string { return &l.Title }),
		key[record.Ladder]{
			about: about{name: "arms", form: "a list of arms", doc: "three arms or more, in order", needed: true},
			read:  readRungs,
			write: func(l *record.Ladder) *node { return textsNode(l.Arms) },
		}.inline(),
		key[record.Ladder]{
			about: about{name: "steps", form: "a list of titles", doc: "a few words on what each step adds"},
			read:  readSteps,
			write: func(l *record.Ladder) *node { return textsNode(l.Titles()) },
		}.inline(),
	},
	check: func(_ *node, l *record.Ladder, _ whole) error {
		if l.Steps == nil {
			l.Steps = make([]record.Step, max(0, len(l.Arms)-1))
		}
		return nil
	},
	rule: study.Scope.Ladder,
}

// readRungs reads the arms of a ladder; an error names the one that is wrong.
func readRungs(e entry, l *record.Ladder, w whole) error {
	if e.value.kind != list || len(e.value.items) > maxRungs {
		return e.value.at.errorf("ladder: found %s; expected a list of at most %d arms, in order", counted(e.value), maxRungs)
	}
	for _, item := range e.value.items {
		if item.kind != scalar {
			return item.at.errorf("ladder: found %s; expected an arm", item.kind)
		}
		if text := w.scope.Rung(l.Arms, item.text); text != "" {
			return item.at.errorf("ladder: %s", text)
		}
		l.Arms = append(l.Arms, item.text)
	}
	return nil
}

// readSteps reads the titles of a ladder's steps, which are all there or none.
func readSteps(e entry, l *record.Ladder, _ whole) error {
	steps := max(0, len(l.Arms)-1)
	if e.value.kind != list || len(e.value.items) != steps {
		return e.value.at.errorf("steps: found %s; expected a list of %d titles, one for each step between two arms", counted(e.value), steps)
	}
	for i, item := range e.value.items {
		title, err := aText.read(entry{key: "steps", value: item})
		if err != nil || title == "" {
			return item.at.errorf("steps: %q is not a title; expected a few words on what the step from %s to %s adds", quantity.Clip(item.text, 40), l.Arms[i], l.Arms[i+1])
		}
		l.Steps = append(l.Steps, record.Step{Title: title})
	}
	return nil
}
