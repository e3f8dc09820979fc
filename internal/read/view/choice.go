package view

import (
	"cmp"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Choice is a choice that the study asked for. Reason says why there is none.
type Choice struct {
	Spec     record.Choice `json:"spec"`
	Unit     string        `json:"unit"`              // of Spec.Best
	Options  []Option      `json:"options,omitempty"` // in the study's order
	Best     *Option       `json:"best,omitempty"`    // whatever the bounds
	Chosen   *Option       `json:"chosen,omitempty"`  // the best whose bounds are all kept; nil when none keeps them
	Sentence string        `json:"sentence,omitempty"`
	Reason   string        `json:"reason,omitempty"`
}

// Option is an arm in a cell.
type Option struct {
	cells.Key
	Figure cells.Figure `json:"figure"` // of Spec.Best
	Ratio  Relative     `json:"ratio"`  // to Best
	Bounds []Kept       `json:"bounds"` // of Spec.Within, in its order
}

// Kept is an option's figure beside a bound.
type Kept struct {
	Figure cells.Figure  `json:"figure"`
	State  compare.State `json:"state"` // by the figure's 95 % interval
	Ratio  Relative      `json:"ratio"` // to the figure of Best
}

// Relative is a ratio within blocks with its 95 % interval; zero where fewer than
// two blocks have both figures.
type Relative struct {
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Blocks int     `json:"blocks"`
}

// Choices makes the choices that the study asks for, from valid trials alone.
func Choices(s *cells.Dataset) []Choice {
	var all []Choice
	for _, spec := range s.Header.Study.Choices {
		c := Choice{Spec: spec}
		if c.Reason = c.choose(s); c.Reason != "" {
			c.Options, c.Best, c.Chosen = nil, nil, nil
		}
		all = append(all, c)
	}
	return all
}

// option is an Option with its figures by block: of Spec.Best, then of the bounds.
type option struct {
	Option
	pools []*cells.Pool
}

// choose fills in a choice, or returns why there is none.
func (c *Choice) choose(s *cells.Dataset) string {
	m, err := metric.Named(c.Spec.Best)
	if err != nil {
		return err.Error()
	}
	c.Unit = m.Unit
	judged, why := where(s, scope{levels: c.Spec.Where})
	if why != "" {
		return why
	}
	options := c.gather(judged)
	if len(options) == 0 {
		return "no arm has two blocks with a valid " + c.Spec.Best + " and a figure for every bound"
	}
	better := func(a, b *option) int {
		order := cmp.Compare(a.Figure.Value, b.Figure.Value)
		if m.Better != metric.Higher {
			order = -order
		}
		return order
	}
	best := slices.MaxFunc(options, better)
	var kept []*option
	for _, o := range options {
		o.compareWith(best)
		if !slices.ContainsFunc(o.Bounds, func(b Kept) bool { return b.State != compare.Met }) {
			kept = append(kept, o)
		}
		c.Options = append(c.Options, o.Option)
	}
	c.Best = &best.Option
	if len(kept) > 0 {
		c.Chosen = &slices.MaxFunc(kept, better).Option
	}
	return ""
}

// gather returns the arms and cells that have every figure in two blocks or more.
func (c *Choice) gather(judged []*trial.Judged) []*option {
	at := map[cells.Key]*option{}
	var options []*option
	for _, v := range judged {
		key := cells.KeyOf(v.Plan.Cell, v.Plan.Arm)
		o := at[key]
		if o == nil {
			o = &option{Option: Option{Key: key}}
			for range 1 + len(c.Spec.Within) {
				o.pools = append(o.pools, &cells.Pool{})
			}
			at[key], options = o, append(options, o)
		}
		for i, name := range c.metrics() {
			if value, ok := v.Trial.Values[name]; ok {
				o.pools[i].Add(v.Plan.Block, value)
			}
		}
	}
	return slices.DeleteFunc(options, func(o *option) bool { return !o.figures(c.Spec) })
}

// metrics are those of an option's pools.
func (c *Choice) metrics() []string {
	names := []string{c.Spec.Best}
	for _, b := range c.Spec.Within {
		names = append(names, b.Metric)
	}
	return names
}

// figures fills in an option's figures; false when one has fewer than two blocks.
func (o *option) figures(spec record.Choice) bool {
	if slices.ContainsFunc(o.pools, func(p *cells.Pool) bool { return len(p.Blocks) < LeastSearched }) {
		return false
	}
	o.Figure, _ = o.pools[0].Figure() // every pool has values
	for i, bound := range spec.Within {
		k := Kept{}
		k.Figure, _ = o.pools[i+1].Figure()
		k.State = compare.Hold(k.Figure, bound)
		o.Bounds = append(o.Bounds, k)
	}
	return true
}

// compareWith divides an option's figures by those of the best, block by block.
func (o *option) compareWith(best *option) {
	o.Ratio = relative(o.pools[0], best.pools[0])
	for i := range o.Bounds {
		o.Bounds[i].Ratio = relative(o.pools[i+1], best.pools[i+1])
	}
}

func relative(a, b *cells.Pool) Relative {
	p := compare.Divide(a, b)
	e, ok := p.Estimate()
	if !ok {
		return Relative{}
	}
	return Relative{Value: e.Point, Low: e.Low, High: e.High, Blocks: len(p.Ratios)}
}
