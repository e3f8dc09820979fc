package source

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

const (
	maxSweeps = 100
	maxAlso   = 20 // further comparisons: all share one level
)

// studyBlock is a study file.
var studyBlock = block[study.Study]{name: "study", start: study.Study{Seed: defaultSeed}, keys: slices.Concat(planKeys, resultKeys)}

// defaultSeed is the seed of a study that names none.
const defaultSeed = 1

// planKeys say what is run.
var planKeys = []key[study.Study]{
	keyOf("study", aName, func(s *study.Study) *string { return &s.Name }, "name of the study, and of its directory").must().typing("study"),
	keyOf("question", aLine("a sentence", 0, maxQuestion), func(s *study.Study) *string { return &s.Question }, "what the study asks").typing("question"),
	keyOf("hold", settingsOf, func(s *study.Study) *[]study.Setting { return &s.Hold }, "factors at one level each, for every trial"),
	{
		about: about{name: "vary", form: "a mapping from factors to levels", doc: "factors at several levels each, every combination of which runs; under arm the bundles, each with its levels"},
		read: func(e entry, s *study.Study, _ whole) (err error) {
			s.Vary, err = readVaried(e, func(f study.Factor, n *node) (levels []study.Level, err error) {
				if f.Kind == study.Bundle {
					s.Arms, levels, err = readArms(n)
					return levels, err
				}
				return readLevels(f, n)
			})
			return err
		},
		write: func(s *study.Study) *node { return variedNode(s.Vary, s.Arms) },
	},
	labelsKey,
	sweepsKey(),
	{
		about: about{name: "compare", form: "a mapping", doc: "what is compared with what", keys: compareBlock.abouts()},
		read:  func(e entry, s *study.Study, w whole) error { return compareBlock.readBlock(e.value, &s.Compare, w) },
		write: func(s *study.Study) *node {
			c := s.Compare
			if !s.Varies(c.Factor) {
				c.Factor = ""
			}
			return compareBlock.writeBlock(&c)
		},
	},
	keyOf("recommend", someMetrics, func(s *study.Study) *[]string { return &s.Recommend }, "primary metrics in the order in which they weigh in what to use: the next decides among the best of the one before; all alike unless given").typing("recommend"),
	keyOf("reference", someArms(1, maxLevels), func(s *study.Study) *[]string { return &s.Reference }, "arms that are measured and compared as all others, and never what to use: an echo as the bound of what runs over it").typing("reference"),
	ofWhole("blocks", ofFactor("blocks", unlessZero), func(s *study.Study) *int { return &s.Blocks }).writing(func(s *study.Study) *node {
		if !s.Fixed {
			return nil
		}
		return textNode(strconv.Itoa(s.Blocks))
	}),
	ofWhole("seed", ofFactor("seed", func(n uint64) string { return strconv.FormatUint(n, 10) }), func(s *study.Study) *uint64 { return &s.Seed }),
	ofWhole("mesh", aFlag, func(s *study.Study) *bool { return &s.Mesh }).typing("mesh", "yes"),
	{
		about: about{name: "settle", form: settleForm, doc: wholeDoc("settle"), typed: "settle", usual: []string{"2%", "5%", "10%"}},
		read: func(e entry, s *study.Study, _ whole) error {
			both, err := aPrecision.read(e)
			s.Settle, s.SettleS = both.share, both.time.Seconds()
			return err
		},
		write: func(s *study.Study) *node {
			return aPrecision.write(precision{s.Settle, time.Duration(s.SettleS * float64(time.Second))})
		},
	},
	sub("race", raceBlock, func(s *study.Study) **record.Race { return &s.Race }, "look for the best arm in far fewer trials than every arm in every block takes"),
	sub("capacity", capacityBlock, func(s *study.Study) **record.Capacity { return &s.Capacity }, "yes: look for the highest rate at which each arm meets an objective").typing("capacity", "yes"),
	ofWhole("probes", ofFactor("probes", unlessZero), func(s *study.Study) *int { return &s.Probes }),
}

// ofWhole makes a key that package study has among its factors, with its words.
func ofWhole[V any](name string, k kind[V], where func(*study.Study) *V) key[study.Study] {
	return keyOf(name, k, where, wholeDoc(name)).typing(name)
}

func wholeDoc(name string) string {
	for _, f := range study.Factors() {
		if f.Name == name {
			return f.Doc
		}
	}
	return ""
}

// sweepsKey is the key of sweeps. A sweep that varies A+B stands for one sweep for each
// level, which holds both factors at it.
func sweepsKey() key[study.Study] {
	k := blocksOf("sweeps", length{1, maxSweeps}, sweepBlock, func(s *study.Study) *[]study.Sweep { return &s.Sweeps }, "parts of the study with levels of their own; the plan is the union of them")
	read := k.read
	k.read = func(e entry, s *study.Study, w whole) error {
		if e.value.kind == list {
			apart := &node{at: e.value.at, kind: list}
			for _, item := range e.value.items {
				sweeps, err := eachTogether(item)
				if err != nil {
					return err
				}
				apart.items = append(apart.items, sweeps...)
			}
			e.value = apart
		}
		return read(e, s, w)
	}
	return k
}

// unitOf finds where a unit begins, which a label sets apart: "64 KiB there and back".
var unitOf = regexp.MustCompile(`(\d)([A-Za-z])`)

// eachTogether returns a sweep for each level of factors that vary together; the sweep
// itself where none do.
func eachTogether(sweep *node) (all []*node, err error) {
	vary, name, label := sweep.value("vary"), sweep.value("name"), sweep.value("label")
	at := slices.IndexFunc(vary.entries, func(e entry) bool { return strings.Contains(e.key, "+") })
	if at < 0 {
		return []*node{sweep}, nil
	}
	factors := vary.entries[at]
	for _, level := range listed(factors.value) {
		own := &node{at: sweep.at, kind: mapping, entries: []entry{{"name", name.at, scalarNode(name.at, name.text+"-"+level.text)}}}
		if label.kind == scalar {
			own.entries = append(own.entries, entry{"label", label.at, scalarNode(label.at, unitOf.ReplaceAllString(level.text, "$1 $2")+" "+label.text)})
		}
		hold := &node{at: factors.at, kind: mapping}
		for _, factor := range strings.Split(factors.key, "+") {
			if held := sweep.value("hold").entryOf(factor); held != nil {
				return nil, held.at.errorf("%s is set twice; also at %s", factor, factors.at)
			}
			hold.entries = append(hold.entries, entry{factor, factors.at, level})
		}
		own.entries = append(own.entries, entry{"hold", factors.at, hold})
		left := &node{at: vary.at, kind: mapping, entries: slices.Delete(slices.Clone(vary.entries), at, at+1)}
		all = append(all, own.over(mappingNode(vary.at, "vary", left).over(sweep.without("vary"))))
	}
	return all, nil
}

var sweepBlock = block[study.Sweep]{
	name: "sweeps",
	keys: []key[study.Sweep]{
		keyOf("name", aName, func(w *study.Sweep) *string { return &w.Name }, "name of the sweep").must(),
		labelKey(func(w *study.Sweep) *string { return &w.Label }, "what its cells are called; its name where there is one cell, and it is of no other sweep"),
		keyOf("hold", settingsOf, func(w *study.Sweep) *[]study.Setting { return &w.Hold }, "as hold of the study, which it goes before"),
		{
			about: about{name: "vary", form: "a mapping from factors to levels", doc: "factors that this sweep varies, two that vary together as request+response; of those that the study varies, some of their levels; under arm names, or a mapping from these to levels that the arms have in this sweep beside their own"},
			read: func(e entry, w *study.Sweep, s whole) (err error) {
				w.Vary, err = readVaried(e, func(f study.Factor, n *node) (levels []study.Level, err error) {
					if f.Kind == study.Bundle && n.kind == mapping {
						w.Arms, levels, err = readSweptArms(n, study.FindVaried(s.Vary, f.Name))
						return levels, err
					}
					return readSwept(f, n, study.FindVaried(s.Vary, f.Name))
				})
				return err
			},
			write: func(w *study.Sweep) *node { return variedNode(w.Vary, w.Arms) },
		},
	},
	check: func(n *node, w *study.Sweep, s whole) error {
		w.At = n.at
		for _, earlier := range s.Sweeps {
			if earlier.Name == w.Name {
				return n.at.errorf("sweeps: %s is the name of two sweeps; first at %s", w.Name, earlier.At)
			}
		}
		return nil
	},
}

var compareBlock = block[record.Compare]{
	name: "compare",
	keys: []key[record.Compare]{
		keyOf("factor", aWord("one of the varied factors"), func(c *record.Compare) *string { return &c.Factor }, "factor whose levels are compared; arm, the transport or the first that varies unless given").typing("compare.factor"),
		keyOf("baseline", aWord("the arm that the others are compared with"), func(c *record.Compare) *string { return &c.Baseline }, "arm that the others are compared with; the first unless given").typing("baseline"),
		keyOf("margin", aShare(0, quantity.ShareText), func(c *record.Compare) *float64 { return &c.Margin }, "difference below which arms count as equal; 2% unless given").typing("margin", "1%", "2%", "5%", "10%"),
		keyOf("primary", someMetrics, func(c *record.Compare) *[]string { return &c.Primary }, "metrics on which arms are judged, separated by commas").typing("primary"),
		keyOf("also", somePairs, func(c *record.Compare) *[]record.Pair { return &c.Also }, "pairs of other arms that are compared besides"),
	},
}

// somePairs are pairs of arms, of which the first is divided by the second.
var somePairs = several(length{0, maxAlso}, fmt.Sprintf("at most %d pairs, each ARM over ARM", maxAlso), "ARM over ARM",
	func(text string, _ []record.Pair) (p record.Pair, err error) {
		var two bool
		if p.Arm, p.Base, two = strings.Cut(text, " over "); !two {
			err = fmt.Errorf("found %q; expected ARM over ARM", quantity.Clip(text, 80))
		}
		return p, err
	}, func(p record.Pair) string { return p.Arm + " over " + p.Base })

// Limits of a race, and what it does where nothing is said.
const (
	maxConfirm   = 100
	standardRace = 10 // blocks that confirm
	raceBlocks   = 16 // and those of the race itself
)

var raceBlock = block[record.Race]{
	name:  "race",
	start: record.Race{Best: metric.ExchangesPerS, Confirm: standardRace},
	keys: []key[record.Race]{
		keyOf("best", aText, func(r *record.Race) *string { return &r.Best }, "metric that decides, better in its own direction; exchanges_per_s unless given").typing("race.best"),
		keyOf("confirm", aCount(maxConfirm), func(r *record.Race) *int { return &r.Confirm }, "fresh blocks of winner and baseline; 10 unless given, 6 at least"),
		keyOf("time", aTime, func(r *record.Race) *float64 { return &r.TimeS }, "about what its trials may take; no bound unless given").typing("race.time"),
		keyOf("within", someConditions, func(r *record.Race) *[]record.Bound { return &r.Within }, "conditions that the winner keeps, separated by commas, such as 'server.rss_bytes <= 2GB'").typing("race.within"),
	},
}

// What a search for a capacity does where nothing is said.
var defaultObjective = record.Bound{Text: "response_p99 <= 10ms", Metric: metric.ResponseP99, Value: 10_000}

const (
	defaultWithin  = 0.10
	defaultSeconds = 60
	leastWithin    = 0.02 // no interval is narrower
)

var capacityBlock = block[record.Capacity]{
	name:  "capacity",
	start: record.Capacity{Objective: []record.Bound{defaultObjective}, Within: defaultWithin, TimeS: defaultSeconds},
	keys: []key[record.Capacity]{
		keyOf("objective", someConditions, func(c *record.Capacity) *[]record.Bound { return &c.Objective }, "conditions of that search, separated by commas; 'response_p99 <= 10ms' unless given").typing("capacity.objective"),
		keyOf("within", aShare(leastWithin, quantity.ShareText), func(c *record.Capacity) *float64 { return &c.Within }, "how wide the interval of that rate may be; 10% unless given").typing("capacity.within", "5%", "10%", "20%"),
		keyOf("time", aTime, func(c *record.Capacity) *float64 { return &c.TimeS }, "how long the trials of each arm may take in that search; 60s unless given").typing("capacity.time", "30s", "60s", "5m"),
	},
}

// precision is the share within which a rate is to be known, and the time that the run
// may take until then; 0 for no bound. Of several arms there is a time alone.
type precision struct {
	share float64
	time  time.Duration
}

const settleForm = "a share such as 5%, a share and a time such as 5%/30s, or of several arms a time such as 30s"

var aPrecision = single(settleForm, func(text string) (p precision, err error) {
	if alone, err := quantity.ParseDuration(text); err == nil && alone > 0 {
		return precision{time: alone}, nil
	}
	text, bound, bounded := strings.Cut(text, "/")
	if bounded {
		if p.time, err = quantity.ParseDuration(bound); err != nil || p.time <= 0 {
			return p, fmt.Errorf("found %s behind the share; expected the time that the run may take for it, such as 5%%/30s", quantity.Clip(bound, 40))
		}
	}
	if p.share, err = quantity.ParseShare(text); err == nil && !(p.share > 0) {
		err = fmt.Errorf("found %s; expected a share above 0, up to 100%%", quantity.Clip(text, 40))
	}
	return p, err
}, func(p precision) string {
	var parts []string
	if p.share > 0 {
		parts = append(parts, quantity.ShareText(p.share))
	}
	if p.time > 0 {
		parts = append(parts, quantity.DurationText(p.time))
	}
	return strings.Join(parts, "/")
})
