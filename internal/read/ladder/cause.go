package ladder

import "netdyno/internal/read/profile"

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
		if a.Told {
			c.Activities = append(c.Activities, a)
		}
	}
	if len(c.Activities) == 0 {
		c.Activities = append(c.Activities, d.Activities[:min(named, len(d.Activities))]...)
	}
	return c
}
