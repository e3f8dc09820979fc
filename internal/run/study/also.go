package study

import (
	"bytes"
	"fmt"
	"slices"

	"netdyno/internal/record"
)

// maxAlso bounds the further comparisons of a study: all share one level.
const maxAlso = 20

var alsoKeys = []string{"arm", "base"}

// readAlso reads the pairs of arms that are compared besides every arm with the
// baseline.
func (s *Study) readAlso(e *entry) error {
	if e == nil {
		return nil
	}
	if e.value.kind != list || len(e.value.items) > maxAlso {
		return e.value.at.errorf("also: found %s; expected a list of at most %d pairs, each with arm and base", counted(e.value), maxAlso)
	}
	for _, item := range e.value.items {
		if err := item.mappingOf(alsoKeys); err != nil {
			return err
		}
		var p record.Pair
		if err := item.texts("also", map[string]*string{"arm": &p.Arm, "base": &p.Base}, "arm", "base"); err != nil {
			return err
		}
		arms := factorOf(s.compared()).Levels
		for _, end := range []struct{ key, name string }{{"arm", p.Arm}, {"base", p.Base}} {
			if !slices.Contains(arms, end.name) {
				return item.placeOf(end.key).errorf("%s: %s", end.key, unknown("level of "+s.Compare.Factor, end.name, arms))
			}
		}
		switch {
		case p.Arm == p.Base:
			return item.at.errorf("also: %s is compared with itself; expected two arms", p.Arm)
		case p.Base == s.Compare.Baseline, p.Arm == s.Compare.Baseline:
			return item.at.errorf("also: every arm is compared with the baseline %s anyway; expected two other arms", s.Compare.Baseline)
		case slices.ContainsFunc(s.Compare.Also, func(o record.Pair) bool { return o == p || o == record.Pair{Arm: p.Base, Base: p.Arm} }):
			return item.at.errorf("also: %s and %s are compared twice", p.Arm, p.Base)
		}
		s.Compare.Also = append(s.Compare.Also, p)
	}
	return nil
}

// keepAlso leaves those pairs of a file out of which an override has left no
// arm, or made one the baseline.
func (n *node) keepAlso() {
	compare, arms := n.get("compare"), n.arms()
	if compare == nil || compare.value.kind != mapping || arms == nil {
		return
	}
	also := compare.value.get("also")
	if also == nil || also.value.kind != list {
		return
	}
	baseline := ""
	if b := compare.value.get("baseline"); b != nil {
		baseline = b.value.text
	}
	also.value.items = slices.DeleteFunc(slices.Clone(also.value.items), func(item *node) bool {
		return slices.ContainsFunc(item.entries, func(e entry) bool {
			return e.value.text == baseline || arms.get(e.value.text) == nil
		})
	})
}

func (s *Study) writeAlso(b *bytes.Buffer) {
	for i, p := range s.Compare.Also {
		if i == 0 {
			b.WriteString("  also:\n")
		}
		fmt.Fprintf(b, "    - {arm: %s, base: %s}\n", quote(p.Arm), quote(p.Base))
	}
}
