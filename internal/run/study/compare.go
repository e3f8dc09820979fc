package study

import (
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// defaultMargin is the ratio below which a difference is none (METHOD §6.3).
const defaultMargin = 0.02

// responsePrefix begins the metrics that exist in an open loop only.
const responsePrefix = "response_"

func (s *Study) readCompare(tree *node) error {
	s.Compare = record.Compare{Factor: s.likelyCompared(), Margin: defaultMargin, Primary: s.likelyPrimary()}
	e := tree.get("compare")
	if e == nil {
		e = &entry{value: &node{at: s.top, kind: mapping}}
	}
	if err := e.value.mappingOf(compareKeys); err != nil {
		return err
	}
	if f := e.value.get("factor"); f != nil {
		name, err := f.scalarOf("one of the varied factors")
		if err != nil {
			return err
		}
		if s.varied(name) == nil {
			return f.value.at.errorf("compare: %q does not vary; %s", clip(name, 80), quantity.Hint(name, s.variedNames()))
		}
		s.Compare.Factor = name
		if err := s.checkCompared(); err != nil {
			return err
		}
	}
	if err := s.readBaseline(e.value.get("baseline")); err != nil {
		return err
	}
	if err := s.readPrimary(e.value.get("primary")); err != nil {
		return err
	}
	if err := s.readAlso(e.value.get("also")); err != nil {
		return err
	}
	return s.readMargin(e.value.get("margin"))
}

// likelyCompared is the factor that a study most probably asks about. Who names
// two builds asks what changed between them, whatever else varies.
func (s *Study) likelyCompared() string {
	for _, name := range []string{"build", armFactor, "transport", "server", "client"} {
		if s.varied(name) != nil {
			return name
		}
	}
	if len(s.Vary) > 0 {
		return s.Vary[0].Factor
	}
	if _, ok := find(s.Hold, "transport"); ok {
		return "transport"
	}
	return "server"
}

// likelyPrimary keeps the family of primary comparisons small: at an equal
// offered rate cost and response time differ, in a closed loop the rate does;
// of streams one asks for bytes, whatever an exchange of theirs is.
func (s *Study) likelyPrimary() []string {
	closed, open := s.loops()
	switch {
	case s.streams():
		return []string{"goodput_bytes_per_s", "client.cpu_s_per_gb", "server.cpu_s_per_gb"}
	case open && !closed:
		return []string{"server.cpu_us_per_exchange", "response_p99_us"}
	}
	return []string{"exchanges_per_s", "server.cpu_us_per_exchange"}
}

// streams reports whether every trial streams.
func (s *Study) streams() bool {
	return !slices.ContainsFunc(s.allLevels("stream"), func(l Level) bool { return l.Text == unstreamed })
}

// loops reports whether any trial runs a closed loop and any an open one.
func (s *Study) loops() (closed, open bool) {
	for _, d := range s.designs() {
		for _, arm := range d.armsOrNone() {
			for _, l := range d.choices(arm, "rate") {
				closed = closed || !positive(l)
				open = open || positive(l)
			}
		}
	}
	return closed, open
}

func (s *Study) variedNames() []string {
	names := make([]string, len(s.Vary))
	for i, v := range s.Vary {
		names[i] = v.Factor
	}
	return names
}

func (s *Study) readBaseline(e *entry) error {
	v := s.compared()
	s.Compare.Baseline = v.Levels[0].Text
	if e == nil {
		return nil
	}
	text, err := e.scalarOf("the arm that the others are compared with")
	if err != nil {
		return err
	}
	if f, err := factorNamed(v.Factor); err == nil && f.Kind != Bundle {
		if l, err := f.level(text); err == nil {
			text = l.Text
		}
	}
	var names []string
	for _, l := range v.Levels {
		names = append(names, l.Text)
	}
	if !slices.Contains(names, text) {
		return e.value.at.errorf("baseline: %s has no level %q; %s", v.Factor, clip(text, 80), quantity.Hint(text, names))
	}
	s.Compare.Baseline = text
	return nil
}

func (s *Study) readPrimary(e *entry) error {
	if e == nil {
		return nil
	}
	items := e.value.items
	if e.value.kind == scalar {
		items = []*node{e.value}
	}
	if len(items) == 0 {
		return e.value.at.errorf("primary: expected a list of metrics")
	}
	_, open := s.loops()
	s.Compare.Primary = nil
	for _, item := range items {
		switch {
		case item.kind != scalar:
			return item.at.errorf("primary: found %s; expected a metric's name", item.kind)
		case !slices.Contains(metricNames(), item.text):
			return item.at.errorf("primary: unknown metric %q; %s", clip(item.text, 80), quantity.Hint(item.text, metricNames()))
		case slices.Contains(s.Compare.Primary, item.text):
			return item.at.errorf("primary: %s is listed twice", item.text)
		case strings.HasPrefix(item.text, responsePrefix) && !open:
			return item.at.errorf("primary: %s exists in an open loop only, and no trial has a rate; name service_… or set rate", item.text)
		}
		s.Compare.Primary = append(s.Compare.Primary, item.text)
	}
	return nil
}

func metricNames() []string {
	var names []string
	for _, m := range metric.All() {
		names = append(names, m.Name)
	}
	return names
}

func (s *Study) readMargin(e *entry) error {
	if e == nil {
		return nil
	}
	text, err := e.scalarOf("a share such as 2%")
	if err != nil {
		return err
	}
	if s.Compare.Margin, err = quantity.ParseShare(text); err != nil {
		return e.value.at.errorf("margin: %s", err)
	}
	return nil
}
