package profile

import (
	"cmp"
	"math"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Difference says in what one arm's end spends more or less CPU time than
// another's on the same work. A function's cost is its share of a probe's samples
// times what the meter counted for that end in the same window, so that
// activities add up to the whole.
type Difference struct {
	Cell       string   `json:"cell"`
	Arm        string   `json:"arm"`
	Base       string   `json:"base"`
	End        string   `json:"end"`        // "server" or "client"
	Source     Source   `json:"source"`     // how the profiles were taken: Mixed folds the kernel's frames, and NoKernel compares only the whole
	Metric     string   `json:"metric"`     // that is divided up, and the unit of all costs: "server.cpu_us_per_exchange"
	Pairs      int      `json:"pairs"`      // of probes of the same round, one of each arm
	Whole      Change   `json:"whole"`      // of the metric itself
	Activities []Change `json:"activities"` // every activity that either arm had, the largest difference first; they sum to Whole
	Functions  []Change `json:"functions"`  // by time in themselves within one activity, the largest differences first
	Sentence   string   `json:"sentence"`
}

// Change is what something costs in both arms, as means over pairs of probes.
type Change struct {
	Name       string  `json:"name"`               // "" of the whole
	Activity   string  `json:"activity,omitempty"` // of a function
	Arm        float64 `json:"arm"`
	Base       float64 `json:"base"`
	Difference float64 `json:"difference"` // Arm − Base
	Low        float64 `json:"low"`        // its 95 % interval; of fewer than 3 pairs, both are Difference
	High       float64 `json:"high"`
	Told       bool    `json:"told"` // apart from noise, adjusted for how many of its kind there are
}

const (
	fewestPairs    = 3     // with which an interval is computed
	least          = 0.005 // share of the whole, in either arm, from which on a function is looked at
	shownFunctions = 30
	level          = 1 - stat.Confidence
	wholly         = -1 // in place of an activity: all of them
)

// dividable are the metrics that a profile can divide among functions; the first that
// both arms have is used. CPU time per exchange stands first, unless the study judges CPU
// time per GB alone, so that figures beside each other have one unit.
func dividable(s *cells.Dataset) []string {
	exchange, volume := metric.CPUPerExchange, metric.CPUPerGB
	judged := func(name string) bool { return s.Primary("server."+name) || s.Primary("client."+name) }
	if judged(volume) && !judged(exchange) {
		return []string{volume, exchange}
	}
	return []string{exchange, volume}
}

// Differences compares the profiles of every arm with the baseline's, and those
// of the study's other pairs, cell by cell. Probes of one round are paired: they ran
// within the same minutes.
func Differences(s *cells.Dataset) []Difference {
	probes, _ := fit(s)
	names := dividable(s)
	var all []Difference
	for _, cell := range s.Cells {
		for _, pair := range pairs(s) {
			for _, end := range []contract.Role{contract.Server, contract.Client} {
				of, against := sideOf(probes[cells.KeyOf(cell, pair.Arm)], end), sideOf(probes[cells.KeyOf(cell, pair.Base)], end)
				for _, name := range names {
					if d, ok := between(of, against, string(end)+"."+name); ok {
						d.Cell, d.Arm, d.Base, d.End = cell, pair.Arm, pair.Base, string(end)
						d.Sentence = d.labelled(s.Names).sentence()
						all = append(all, d)
						break
					}
				}
			}
		}
	}
	return all
}

// pairs are the arms that a study compares, each pair once.
func pairs(s *cells.Dataset) []record.Pair {
	var all []record.Pair
	baseline := s.Compare.Baseline
	for _, arm := range s.Arms {
		if arm != baseline {
			all = append(all, record.Pair{Arm: arm, Base: baseline})
		}
	}
	for _, pair := range s.Compare.Also {
		if !slices.Contains(all, pair) {
			all = append(all, pair)
		}
	}
	return all
}

// side is one end's probes of one arm.
type side struct {
	probes []probe
	source Source
}

func sideOf(probes []*trial.Judged, end contract.Role) side {
	all, source, _ := readProfiles(probes, end) // what cannot be read is named where profiles are summed up
	return side{all, source}
}

// between pairs two arms' probes by their rounds. False when no round has both, or
// not both of them have the metric.
func between(arm, base side, name string) (Difference, bool) {
	d := Difference{Metric: name, Source: arm.source.and(base.source)}
	var of, against []*costs
	for _, p := range arm.probes {
		i := slices.IndexFunc(base.probes, func(b probe) bool { return b.Plan.Block == p.Plan.Block })
		if i < 0 {
			continue
		}
		a, ok := costsOf(p, name, d.Source == Mixed)
		b, both := costsOf(base.probes[i], name, d.Source == Mixed)
		if ok && both {
			of, against = append(of, a), append(against, b)
		}
	}
	if len(of) == 0 {
		return d, false
	}
	d.Pairs = len(of)
	d.Whole = changes(of, against, []place{{activity: wholly}}, func(c *costs, _ place) float64 { return c.whole })[0]
	if d.Source == NoKernel {
		return d, true // shares of the program's own code say nothing of the whole
	}
	d.Activities = changes(of, against, activitiesOf(of, against), func(c *costs, at place) float64 { return c.activity[at.activity] })
	d.Functions = changes(of, against, functionsOf(of, against), func(c *costs, at place) float64 { return c.flat[at] })
	d.Functions = d.Functions[:min(len(d.Functions), shownFunctions)]
	return d, true
}

// costs are what one probe's end spent, in the unit of the metric.
type costs struct {
	whole    float64
	activity []float64 // as classes
	flat     map[place]float64
}

// costsOf divides a probe's metric by its profile; false when it lacks one of them.
func costsOf(p probe, name string, folded bool) (*costs, bool) {
	m, err := metric.Named(name)
	if err != nil || p.partial {
		return nil, false
	}
	whole, ok := m.Value(p.Record)
	t := newSampled(folded)
	t.addProbe(p)
	if !ok || !(whole > 0) || math.IsInf(whole, 1) || t.whole <= 0 {
		return nil, false
	}
	c := &costs{whole: whole, activity: t.activity, flat: t.flat}
	for i := range c.activity {
		c.activity[i] *= whole / t.whole
	}
	for at := range c.flat {
		c.flat[at] *= whole / t.whole
	}
	return c, true
}

// activitiesOf are those that any probe has.
func activitiesOf(of, against []*costs) []place {
	var all []place
	for i := range classes {
		if slices.ContainsFunc(slices.Concat(of, against), func(c *costs) bool { return c.activity[i] > 0 }) {
			all = append(all, place{activity: i})
		}
	}
	return all
}

// functionsOf are the functions that cost enough in either arm, by cost, however the
// costs differ.
func functionsOf(of, against []*costs) []place {
	var all []place
	seen := map[place]bool{}
	for _, arm := range [][]*costs{of, against} {
		for _, c := range arm {
			for at := range c.flat {
				if seen[at] {
					continue
				}
				seen[at] = true
				whole, cost := 0.0, 0.0
				for _, probe := range arm {
					whole, cost = whole+probe.whole, cost+probe.flat[at]
				}
				if cost >= least*whole {
					all = append(all, at)
				} else {
					seen[at] = false // it may be enough in the other arm
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.activity, b.activity), cmp.Compare(a.function, b.function))
	})
	return slices.Compact(all)
}

// changes compares what each place costs over pairs of probes, the largest
// difference first.
func changes(of, against []*costs, places []place, cost func(*costs, place) float64) []Change {
	all := make([]Change, len(places))
	ps := make([]float64, len(places))
	told := make([]stat.Uncertain, len(places)) // no Degrees where there are too few pairs
	for i, at := range places {
		diffs := make([]float64, len(of))
		c := Change{Name: at.function}
		for k := range of {
			a, b := cost(of[k], at), cost(against[k], at)
			c.Arm, c.Base, diffs[k] = c.Arm+a/float64(len(of)), c.Base+b/float64(len(of)), a-b
		}
		switch {
		case at.function != "":
			c.Activity = classes[at.activity].Name
		case at.activity != wholly:
			c.Name = classes[at.activity].Name
		}
		c.Difference = c.Arm - c.Base
		c.Low, c.High, ps[i] = c.Difference, c.Difference, 1
		if part, ok := stat.MeanComponent(diffs); ok && len(diffs) >= fewestPairs {
			told[i] = stat.Apart(c.Difference, part)
			ps[i] = told[i].Beyond(0)
		}
		all[i] = c
	}
	for i, share := range stat.Shares(ps, level) {
		if c := &all[i]; told[i].Degrees > 0 {
			e := told[i].At(level / float64(share))
			c.Low, c.High, c.Told = e.Low, e.High, e.Low > 0 || e.High < 0
		}
	}
	slices.SortStableFunc(all, func(a, b Change) int { return cmp.Compare(math.Abs(b.Difference), math.Abs(a.Difference)) })
	return all
}
