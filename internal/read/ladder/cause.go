package ladder

import (
	"math"

	"netdyno/internal/read/profile"
)

// slight is the part of what two profiles differ by below which an activity explains
// nothing, however sure it is.
const slight = 0.1

// named is how many activities a cause has where none is told apart from noise.
const named = 2

// addCauses sets the profiles' differences beside the steps whose metric they divide
// up.
func (p *Split) addCauses(differences []profile.Difference) {
	for _, d := range differences {
		if d.Cell != p.Cell || d.Metric != p.Metric {
			continue
		}
		if d.Arm == p.Whole.Arm && d.Base == p.Whole.Base {
			p.Whole.Cause = causeOf(d)
		}
		for k := range p.Steps {
			if d.Arm == p.Steps[k].Arm && d.Base == p.Steps[k].Base {
				p.Steps[k].Cause = causeOf(d)
			}
		}
	}
}

func causeOf(d profile.Difference) *Cause {
	c := &Cause{Pairs: d.Pairs, Whole: d.Whole}
	for _, a := range d.Activities {
		if a.Told && math.Abs(a.Difference) >= slight*math.Abs(d.Whole.Difference) {
			c.Activities = append(c.Activities, a)
		}
	}
	if len(c.Activities) == 0 {
		c.Activities = append(c.Activities, d.Activities[:min(named, len(d.Activities))]...)
	}
	return c
}
