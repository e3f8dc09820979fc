package record

import (
	"maps"
	"slices"
	"strings"
)

// renamed are names that have changed since records were first written. Whoever
// types an old one is told the new one, for one version more; whoever compares
// an old record with a new one takes both for the same. A row without a factor
// renames a factor; a row of factor "transport" holds at either end too.
var renamed = []struct{ factor, old, now string }{
	{"placement", "apart", "separate"},
	{"transport", "brpc-cpp", "brpc"},
}

// CurrentLevel returns today's name of a factor's level, which is the level
// itself unless it was renamed.
func CurrentLevel(factor, level string) string {
	if factor == "server" || factor == "client" {
		factor = "transport"
	}
	for _, r := range renamed {
		if r.factor != "" && r.factor == factor && r.old == level {
			return r.now
		}
	}
	return level
}

// CurrentFactor returns today's name of a factor.
func CurrentFactor(name string) string {
	for _, r := range renamed {
		if r.factor == "" && r.old == name {
			return r.now
		}
	}
	return name
}

// CurrentNames gives a run that was recorded under old names those of today, so
// that it can be compared with a run of today. The record on disk stays as it is,
// and a report of the run alone shows what was written.
func CurrentNames(h *Header, trials []Trial, records []Record) {
	compared := h.Study.Compare.Factor
	h.Study.Hold = currentLevels(h.Study.Hold)
	h.Study.Vary = slices.Clone(h.Study.Vary)
	for i, f := range h.Study.Vary {
		h.Study.Vary[i].Levels = slices.Clone(f.Levels)
		for j, level := range f.Levels {
			h.Study.Vary[i].Levels[j] = CurrentLevel(f.Name, level)
		}
	}
	h.Study.Compare.Baseline = CurrentLevel(compared, h.Study.Compare.Baseline)
	for i := range trials {
		trials[i].useCurrentNames(compared)
	}
	for i := range records {
		records[i].Trial.useCurrentNames(compared)
	}
}

func (t *Trial) useCurrentNames(compared string) {
	t.Levels = currentLevels(t.Levels)
	t.Arm = CurrentLevel(compared, t.Arm)
	for _, r := range renamed {
		// A cell's name is FACTOR=LEVEL, joined by spaces.
		t.Cell = strings.TrimSpace(strings.ReplaceAll(" "+t.Cell+" ", " "+r.factor+"="+r.old+" ", " "+r.factor+"="+r.now+" "))
	}
}

func currentLevels(levels map[string]string) map[string]string {
	current := maps.Clone(levels)
	for factor, level := range levels {
		current[factor] = CurrentLevel(factor, level)
	}
	return current
}
