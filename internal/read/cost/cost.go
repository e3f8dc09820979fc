// Package cost fits what an exchange, or a process, costs: straight lines in the bytes
// and the connections, bent where that is needed. A model is tested on cells that it was
// not fitted to, is printed with how far it misses them, and is refused where it misses
// them by too much to plan with. The needs of a load follow from the models. It is pure.
package cost

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// Cost is what a study asks to be modelled, with a model for each arm, and for each
// level of a factor that is varied besides: a codec, an option. Reason says why there
// is none at all.
type Cost struct {
	Spec   record.Cost `json:"spec"`
	Unit   string      `json:"unit"` // of Spec.Metric
	Models []Model     `json:"models,omitempty"`
	Reason string      `json:"reason,omitempty"`
}

// Model is one fitted cost. It is fitted within each block; the blocks' coefficients
// make the intervals (specification §6.21).
type Model struct {
	Arm          string        `json:"arm"`
	At           string        `json:"at,omitempty"` // the levels of other varied factors: "codec=json"
	Blocks       []int         `json:"blocks,omitempty"`
	Fitted       int           `json:"fitted"` // cells
	Coefficients []Coefficient `json:"coefficients,omitempty"`
	Ranges       []Range       `json:"ranges,omitempty"`   // of the fitted cells
	Rate         float64       `json:"rate,omitempty"`     // the highest exchanges per second in any of them
	HeldOut      []HeldOut     `json:"held_out,omitempty"` // in the study's order
	Median       float64       `json:"median,omitempty"`   // of the held-out cells' errors without their signs
	P90          float64       `json:"p90,omitempty"`
	Noise        float64       `json:"noise,omitempty"`  // within which half of the held-out cells' errors are known
	Rough        bool          `json:"rough,omitempty"`  // P90 is above Tolerance: give or take that
	Spread       float64       `json:"spread,omitempty"` // standard deviation of the logarithm of predicted ÷ measured that a forecast allows for
	With         string        `json:"with,omitempty"`   // implementation and library version
	On           string        `json:"on,omitempty"`     // processor and kernel of the metric's end
	Sentence     string        `json:"sentence,omitempty"`
	Reason       string        `json:"reason,omitempty"` // why this is no model to rely on; what was found stays beside it

	metric, per string
	drawn       []drawnCell
}

// Coefficient is one number of a model with its 95 % interval. It multiplies 1, the
// level of factor Of, or what the level is above a hinge: with Of "request" and Above
// 4096, a request of 5,000 bytes counts 904. In a model with Per, all coefficients but the
// first are multiplied by the level of factor Per too.
type Coefficient struct {
	Of      string    `json:"of,omitempty"`
	Above   float64   `json:"above,omitempty"` // the hinge; 0 for none
	Value   float64   `json:"value"`
	Low     float64   `json:"low"`
	High    float64   `json:"high"`
	ByBlock []float64 `json:"by_block"` // in the order of Model.Blocks
}

// Range is from which level of a factor to which a model was fitted.
type Range struct {
	Factor string  `json:"factor"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// HeldOut is a cell that a model has not seen: means over the blocks that have both.
type HeldOut struct {
	Cell      string  `json:"cell"`
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
	Error     float64 `json:"error"` // predicted ÷ measured − 1
}

// point is one trial, or the mean of a cell: its numbers by factor.
type point struct {
	view  *trial.Judged
	x     map[string]float64
	y     float64
	held  bool
	block int
}

// Read fits the costs that a study asks for, by valid trials alone.
func Read(s *cells.Dataset) Costs {
	var all Costs
	for _, spec := range s.Costs {
		c := Cost{Spec: spec}
		c.Reason = c.readModels(s)
		all = append(all, c)
	}
	return all
}

// maxTerms bounds a model; each term needs levels of its own to be seen.
const maxTerms = 16

func (c *Cost) readModels(s *cells.Dataset) string {
	m, err := metric.Named(c.Spec.Metric)
	if err != nil {
		return err.Error()
	}
	if len(c.Spec.Terms) > maxTerms {
		return fmt.Sprintf("the model has %d terms; at most %d can be estimated", len(c.Spec.Terms), maxTerms)
	}
	c.Unit = m.Unit
	groups, why := c.groups(s)
	if why != "" {
		return why
	}
	for _, g := range groups {
		model := Model{Arm: g.arm, At: g.at, metric: c.Spec.Metric, per: c.Spec.Per}
		measured := slices.DeleteFunc(g.points, func(p point) bool { return !(p.y > 0) })
		model.Reason = model.fit(c.Spec, measured)
		model.drawn = drawnCells(measured)
		if len(measured) > 0 {
			model.stamp(s, measured)
		}
		model.Sentence = modelSentence(*c, model)
		c.Models = append(c.Models, model)
	}
	return ""
}

// group are the points of one model.
type group struct {
	arm, at string
	points  []point
}

// groups parts the trials by model, in the order of the arms, or says why it cannot.
func (c *Cost) groups(s *cells.Dataset) ([]group, string) {
	var all []group
	for _, v := range s.Trials {
		if !s.IsAt(v, c.Spec.Where) {
			continue
		}
		p, why := c.pointOf(s, v)
		if why != "" {
			return nil, why
		}
		arm, at := v.Plan.Arm, c.besides(s, v)
		i := slices.IndexFunc(all, func(g group) bool { return g.arm == arm && g.at == at })
		if i < 0 {
			i, all = len(all), append(all, group{arm: arm, at: at})
		}
		all[i].points = append(all[i].points, p)
	}
	if len(all) == 0 {
		return nil, "no trial has the levels of where"
	}
	slices.SortStableFunc(all, func(a, b group) int {
		return cmp.Or(slices.Index(s.Arms, a.arm)-slices.Index(s.Arms, b.arm), cmp.Compare(a.at, b.at))
	})
	return all, ""
}

// factorsOf returns the factors whose levels are a model's numbers.
func factorsOf(spec record.Cost) []string {
	if spec.Per == "" {
		return spec.Terms
	}
	return append([]string{spec.Per}, spec.Terms...)
}

// besides names the levels of the varied factors that are neither compared nor numbers
// of the model: each has a model of its own.
func (c *Cost) besides(s *cells.Dataset, v *trial.Judged) string {
	var parts []string
	factors := factorsOf(c.Spec)
	for _, f := range s.Vary {
		_, fixed := c.Spec.Where[f.Name]
		level, has := v.Plan.Levels[f.Name]
		if has && !fixed && f.Name != s.Compare.Factor && !slices.Contains(factors, f.Name) {
			parts = append(parts, f.Name+"="+level)
		}
	}
	return strings.Join(parts, " ")
}

// pointOf reads a trial's numbers; y is 0 of one without a usable figure.
func (c *Cost) pointOf(s *cells.Dataset, v *trial.Judged) (point, string) {
	p := point{view: v, x: map[string]float64{}, block: v.Plan.Block}
	for _, factor := range factorsOf(c.Spec) {
		level, has := s.LevelOf(v, factor)
		x, ok := view.NumberOf(level)
		switch {
		case !has:
			return p, fmt.Sprintf("trial %s has no factor %q", v.Plan.ID, factor)
		case !ok || x < 0:
			return p, fmt.Sprintf("%s=%s of trial %s is no number", factor, level, v.Plan.ID)
		}
		p.x[factor] = x
	}
	for factor, levels := range c.Spec.Holdout {
		level, _ := s.LevelOf(v, factor)
		p.held = p.held || slices.Contains(levels, level)
	}
	if y, ok := v.Trial.Values.Of(c.Spec.Metric); ok && v.Trial.Status == trial.Valid && cells.Usable(y) {
		p.y = y
	}
	return p, ""
}

// stamp says of what the figures are.
func (m *Model) stamp(s *cells.Dataset, points []point) {
	var judged []*trial.Judged
	for _, p := range points {
		judged = append(judged, p.view)
	}
	m.With = view.Implementations(s, m.metric, judged)
	end, _, _ := strings.Cut(m.metric, ".")
	var machines []string
	for _, v := range judged {
		for _, w := range v.Record.Workers {
			if string(w.Role) != end {
				continue
			}
			host := s.Facts.Seats[w.Seat].Values
			machine := strings.TrimSpace(host["cpu.model"] + ", Linux " + host["kernel.release"])
			if host["kernel.release"] != "" && !slices.Contains(machines, machine) {
				machines = append(machines, machine)
			}
		}
	}
	m.On = strings.Join(machines, "; ")
}

// rangesOf returns from where to where the points of a model reach.
func rangesOf(points []point) []Range {
	var all []Range
	for _, factor := range slices.Sorted(maps.Keys(points[0].x)) {
		r := Range{Factor: factor, Low: points[0].x[factor], High: points[0].x[factor]}
		for _, p := range points {
			r.Low, r.High = min(r.Low, p.x[factor]), max(r.High, p.x[factor])
		}
		all = append(all, r)
	}
	return all
}
