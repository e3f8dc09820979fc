package view

import (
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// chartPoint is where a chart shows a value.
type chartPoint struct{ x, y, by string }

// pools gathers the chart's metric by its factors. The trials are those it is
// of; nil, with a note, when there is nothing to draw.
func pools(s *cells.Dataset, c *Chart, factors ...string) (map[chartPoint]*cells.Pool, []*trial.Judged) {
	var named []string
	for _, f := range factors {
		if f != "" {
			named = append(named, f)
		}
	}
	judged, why := Where(s, Scope{c.Spec.Where, c.Spec.Arms}, named...)
	if why != "" {
		c.note("nothing is drawn: %s", why)
		return nil, nil
	}
	at := map[chartPoint][]*trial.Judged{}
	var drawn []*trial.Judged
	bounds := 0
	for _, v := range judged {
		if _, ok := v.Trial.Values.Of(c.Spec.Metric); !ok {
			continue
		}
		point := chartPointOf(s, v, c.Spec)
		at[point] = append(at[point], v)
		drawn = append(drawn, v)
		if v.Trial.AtLeast(c.Spec.Metric) {
			bounds++
		}
	}
	if len(drawn) == 0 {
		c.note("nothing is drawn: no valid trial%s has %s", Scope{c.Spec.Where, c.Spec.Arms}.String(), part.Label(c.Spec.Metric))
		return nil, nil
	}
	if bounds > 0 {
		c.note("%s of %d of %d trials is a lower bound: exchanges that were left unfinished would raise it", part.Label(c.Spec.Metric), bounds, len(drawn))
	}
	noteMixed(s, c, drawn)
	pools := map[chartPoint]*cells.Pool{}
	for point, of := range at {
		pools[point] = cells.PoolOf(cells.Each(of), c.Spec.Metric)
	}
	return pools, drawn
}

func chartPointOf(s *cells.Dataset, v *trial.Judged, spec record.Chart) chartPoint {
	var at chartPoint
	at.x, _ = s.LevelOf(v, spec.X)
	if spec.Kind == record.Heat {
		at.y, _ = s.LevelOf(v, spec.Y)
	}
	if spec.Kind == record.Lines && spec.By != "" {
		at.by, _ = s.LevelOf(v, spec.By)
	}
	return at
}

// noteMixed names varied factors over whose levels single points average.
func noteMixed(s *cells.Dataset, c *Chart, drawn []*trial.Judged) {
	var mixed []string
	for _, f := range s.Vary {
		levels := map[chartPoint]string{}
		for _, v := range drawn {
			at := chartPointOf(s, v, c.Spec)
			level, _ := s.LevelOf(v, f.Name)
			if known, ok := levels[at]; ok && known != level && !slices.Contains(mixed, f.Name) {
				mixed = append(mixed, f.Name)
			}
			levels[at] = level
		}
	}
	if len(mixed) > 0 {
		c.note("points are geometric means over the levels of %s", strings.Join(mixed, " and "))
	}
}
