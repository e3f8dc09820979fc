package source

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// What a search for a capacity does where nothing is said.
const (
	defaultObjective = "response_p99 <= 10ms"
	defaultWithin    = 0.10
	defaultSeconds   = 60
)

// Bounds of what may be said.
const (
	leastWithin  = 0.02
	leastSeconds = 5
	mostSeconds  = 24 * 3600
)

// objectiveForm is what one condition looks like, for errors.
const objectiveForm = "METRIC <= BOUND or METRIC >= BOUND, such as response_p99 <= 10ms"

var (
	capacityKeys  = []string{"objective", "within", "time"}
	objectiveLine = regexp.MustCompile(`^(\S+?) ?(<=|>=|≤|≥) ?(.+)$`)
)

// search is the section capacity with its position.
type search struct {
	at position
	record.Capacity
}

// readCapacity reads the section capacity of a file: what is not said is the default.
func readCapacity(e entry) (*search, error) {
	c := newSearch(e.at)
	if e.value.kind != mapping {
		return nil, e.value.at.errorf("capacity: found %s; expected a mapping with %s", e.value.kind, strings.Join(capacityKeys, ", "))
	}
	if err := e.value.mappingOf(capacityKeys); err != nil {
		return nil, err
	}
	for _, one := range e.value.entries {
		if err := c.take(one); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func newSearch(at position) *search {
	c := &search{at: at, Capacity: record.Capacity{Within: defaultWithin, TimeS: defaultSeconds}}
	c.Objective = []record.Bound{mustCondition(defaultObjective)}
	return c
}

// take reads one of its keys.
func (c *search) take(e entry) (err error) {
	switch e.key {
	case "objective":
		c.Objective, err = readObjective(e)
	case "within":
		c.Within, err = readWithin(e)
	case "time":
		c.TimeS, err = readTime(e)
	}
	return err
}

func readObjective(e entry) ([]record.Bound, error) {
	items := listed(e.value)
	if e.value.kind == mapping || len(items) == 0 || len(items) > maxBounds {
		return nil, e.value.at.errorf("objective: found %s; expected 1 to %d conditions, each %s", counted(e.value), maxBounds, objectiveForm)
	}
	var all []record.Bound
	for _, item := range items {
		if item.kind != scalar {
			return nil, item.at.errorf("objective: found %s; expected %s", item.kind, objectiveForm)
		}
		for text := range strings.SplitSeq(item.text, ",") {
			b, err := readCondition(text)
			if err != nil {
				return nil, item.at.errorf("objective: %s", err)
			}
			all = append(all, b)
		}
	}
	return all, nil
}

// readCondition reads one condition. A metric may be named without its unit. Its
// direction must be that in which a figure gets worse.
func readCondition(text string) (record.Bound, error) {
	var b record.Bound
	if err := study.CheckText(text); err != nil {
		return b, err
	}
	text = strings.Join(strings.Fields(text), " ")
	part := objectiveLine.FindStringSubmatch(text)
	if part == nil {
		return b, fmt.Errorf("found %q; expected %s", quantity.Clip(text, 80), objectiveForm)
	}
	name := part[1]
	if _, err := metric.Named(name); err != nil {
		if _, err := metric.Named(name + "_us"); err == nil {
			name += "_us"
		}
	}
	m, err := metricOf(name)
	if err != nil {
		return b, err
	}
	b = record.Bound{Text: text, Metric: m.Name, AtLeast: part[2] == ">=" || part[2] == "≥"}
	switch {
	case m.Better == "":
		return b, fmt.Errorf("neither more nor less of %s is better; expected a metric such as response_p99, error_share or goodput_bytes_per_s", m.Name)
	case m.Better == metric.Lower && b.AtLeast:
		return b, fmt.Errorf("less of %s is better; expected %s <= %s", m.Name, part[1], part[3])
	case m.Better == metric.Higher && !b.AtLeast:
		return b, fmt.Errorf("more of %s is better; expected %s >= %s", m.Name, part[1], part[3])
	}
	if b.Value, err = boundOf(m, part[3]); err != nil {
		return b, err
	}
	if !(b.Value >= 0) {
		return b, fmt.Errorf("the bound %q is below 0, where no figure lies", quantity.Clip(part[3], 40))
	}
	return b, nil
}

func mustCondition(text string) record.Bound {
	b, err := readCondition(text)
	if err != nil {
		panic(err) // the default is a constant
	}
	return b
}

func readWithin(e entry) (float64, error) {
	text, err := e.scalarOf("a share such as 10%")
	if err != nil {
		return 0, err
	}
	value, err := quantity.ParseShare(text)
	switch {
	case err != nil:
		return 0, e.value.at.errorf("within: %s", err)
	case value < leastWithin || value > 1:
		return 0, e.value.at.errorf("within: found %s; expected a share from 2%% to 100%% of the rate: no interval is narrower", quantity.Clip(text, 40))
	}
	return value, nil
}

func readTime(e entry) (float64, error) {
	text, err := e.scalarOf("a duration such as 60s")
	if err != nil {
		return 0, err
	}
	d, err := quantity.ParseDuration(text)
	switch {
	case err != nil:
		return 0, e.value.at.errorf("time: %s", err)
	case d.Seconds() < leastSeconds || d.Seconds() > mostSeconds:
		return 0, e.value.at.errorf("time: found %s; expected %d s to a day", quantity.Clip(text, 40), leastSeconds)
	}
	return d.Seconds(), nil
}

// change takes over what was typed of a search; the rest stays as the file has it.
func (c *search) change(typed []entry) (*search, error) {
	if len(typed) == 0 {
		return c, nil
	}
	changed := newSearch(typed[0].at)
	if c != nil {
		changed.Capacity = c.Capacity
	}
	for _, e := range typed {
		if err := changed.take(e); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// setCapacity gives a study its search, and blocks where none are written.
func (d *draft) setCapacity(s *study.Study) error {
	switch {
	case d.capacity == nil:
		return nil
	case d.race != nil:
		return d.capacity.at.errorf("capacity: the study has a race too, and each decides what a block runs; expected one of them")
	case s.Mesh:
		return d.capacity.at.errorf("capacity: the study is a mesh, whose pairs share the fabric; expected one of them")
	}
	s.Capacity = &d.capacity.Capacity
	if d.blocks == nil {
		s.Blocks, s.Stages, s.Further = s.SearchBlocks(), nil, nil
	}
	return nil
}

func writeCapacity(b *bytes.Buffer, s *study.Study) {
	if s.Capacity == nil {
		return
	}
	var texts []string
	for _, o := range s.Capacity.Objective {
		texts = append(texts, o.Text)
	}
	fmt.Fprintf(b, "capacity: {objective: [%s], within: %s, time: %gs}\n", flowList(texts), quantity.ShareText(s.Capacity.Within), s.Capacity.TimeS)
}
