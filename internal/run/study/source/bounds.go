package source

import (
	"fmt"
	"strings"

	"netdyno/internal/condition"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

const (
	maxBounds = 8 // of metrics that are kept within limits at once

	// conditionForm is what one condition of an objective looks like, for errors.
	conditionForm = "METRIC <= BOUND or METRIC >= BOUND, such as response_p99 <= 10ms"
)

// bareBound reads METRIC <= BOUND or METRIC >= BOUND, which names no arm.
func bareBound(text string) (b record.Bound, m metric.Metric, err error) {
	form := fmt.Errorf("found %q; expected %s", quantity.Clip(text, 80), conditionForm)
	c, err := parsed(text)
	switch {
	case err != nil && !strings.ContainsAny(text, "<>≤≥"):
		return b, m, form
	case err != nil:
		return b, m, err
	}
	bare := condition.Condition{Metric: c.Metric, Is: c.Is, Size: c.Size, Bound: c.Bound, Base: c.Base, Margin: c.Margin}
	m, err = metric.Named(c.Metric)
	if err != nil || c.String() != bare.String() || c.Is != condition.AtMost && c.Is != condition.AtLeast {
		return b, m, form
	}
	if len(c.Base.Arms) > 0 { // what is no bound reads as an arm
		if _, err := condition.BoundOf(m, strings.Join(c.Base.Arms, ", ")); err != nil {
			return b, m, err
		}
		return b, m, form
	}
	return record.Bound{Text: strings.Join(strings.Fields(text), " "), Metric: m.Name, AtLeast: c.Is == condition.AtLeast, Value: c.Size}, m, nil
}

// someConditions are the conditions of an objective, also several in one text with
// commas between them.
var someConditions = func() kind[[]record.Bound] {
	k := several(length{1, maxBounds}, fmt.Sprintf("1 to %d conditions, each %s", maxBounds, conditionForm), conditionForm,
		func(text string, _ []record.Bound) (record.Bound, error) { return readCondition(text) },
		func(b record.Bound) string { return b.Text })
	read := k.read
	k.read = func(e entry) ([]record.Bound, error) {
		apart := *e.value
		apart.items = nil
		for _, item := range listed(e.value) {
			if item.kind == scalar {
				apart.kind = list
				apart.items = append(apart.items, levelsNode(item.at, item.text).items...)
			} else {
				apart.items = append(apart.items, item)
			}
		}
		return read(entry{e.key, e.at, &apart})
	}
	return k
}()

// readCondition reads one condition. A metric may be named without its unit. Its
// direction must be that in which a figure gets worse.
func readCondition(text string) (record.Bound, error) {
	b, m, err := bareBound(text)
	switch {
	case err != nil:
	case m.Better == "":
		err = fmt.Errorf("neither more nor less of %s is better; expected a metric such as response_p99, error_share or goodput_bytes_per_s", m.Name)
	case m.Better == metric.Lower && b.AtLeast:
		err = fmt.Errorf("less of %s is better; expected <=", m.Name)
	case m.Better == metric.Higher && !b.AtLeast:
		err = fmt.Errorf("more of %s is better; expected >=", m.Name)
	}
	return b, err
}
