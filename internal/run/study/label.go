package study

import (
	"maps"
	"path"
	"slices"
	"strings"

	"netdyno/internal/arrivals"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/sizes"
)

// MaxLabel bounds a label in characters.
const MaxLabel = 60

// labels are the plain words for levels and cells. Labels of arms and levels come from
// the study, that of a command line is its program, that of a cell which only one sweep
// has is the sweep's.
func (s *Study) labels() record.Labels {
	var all record.Labels
	set := func(factor, level, label string) {
		if all.Levels == nil {
			all.Levels = map[string]map[string]string{}
		}
		if all.Levels[factor] == nil {
			all.Levels[factor] = map[string]string{}
		}
		all.Levels[factor][level] = label
	}
	for factor, byLevel := range programs(append(s.others(), s.Compared())) {
		for level, label := range byLevel {
			set(factor, level, label)
		}
	}
	for factor, l := range s.Levels() {
		if words := spread(factor, l.Text); words != "" {
			set(factor, l.Text, words)
		}
	}
	for factor, byLevel := range s.Labels {
		for level, label := range byLevel {
			set(factor, level, label)
		}
	}
	for _, a := range s.Arms {
		if a.Label != "" {
			set(ArmFactor, a.Name, a.Label)
		}
	}
	all.Cells = s.cellLabels()
	return all
}

// spread says sizes that vary, and arrivals of several words, as a person would; "" for
// any other level.
func spread(factor, level string) string {
	switch factor {
	case "request", "response":
		if sizes.Is(level) {
			if s, err := sizes.Parse(level); err == nil {
				return quantity.Clip(s.Words, MaxLabel)
			}
		}
	case "work":
		if s, err := sizes.ParseTime(level); err == nil && strings.Contains(level, ":") {
			return quantity.Clip(s.Words, MaxLabel)
		}
	case "arrival":
		if a, err := arrivals.Parse(level); err == nil && a.Text != a.Words && strings.Contains(level, ":") {
			return quantity.Clip(a.Words, MaxLabel)
		}
	}
	return ""
}

// programs names the levels that are command lines by their programs, where these differ.
func programs(all []Varied) map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, v := range all {
		if !strings.HasSuffix(v.Factor, "command") || !strings.HasPrefix(v.Factor, OptionPrefix) {
			continue
		}
		named, taken := map[string]string{}, map[string]bool{}
		for _, l := range v.Levels {
			words := strings.Fields(l.Text)
			if len(words) == 0 || len(words[0]) > MaxLabel || taken[words[0]] {
				named = nil
				break
			}
			named[l.Text], taken[words[0]] = path.Base(words[0]), true
		}
		if names := slices.Sorted(maps.Values(named)); len(slices.Compact(names)) == len(v.Levels) {
			found[v.Factor] = named
		}
	}
	return found
}

// cellLabels are the labels of cells that only one sweep has. A sweep's label names a
// cell only when the sweep has no other cell: the label of a sweep of several cells would
// say less than the cells' levels.
func (s *Study) cellLabels() map[string]record.CellLabel {
	if len(s.Sweeps) == 0 {
		return nil
	}
	others := s.others()
	owned, shared := make([]map[string]record.CellLabel, len(s.Sweeps)), map[string]bool{}
	seen := map[string]int{}
	for i, d := range s.designs() {
		owned[i] = map[string]record.CellLabel{}
		nameOf := d.naming(others)
		d.eachCell(func(cell []Setting) {
			name := nameOf(cell)
			if at, known := seen[name]; known && at != i {
				shared[name] = true
			}
			seen[name] = i
			owned[i][name] = record.CellLabel{Label: s.Sweeps[i].Label, Beside: cellName(cell)}
		})
	}
	all := map[string]record.CellLabel{}
	for i, cells := range owned {
		for name, label := range cells {
			if label.Label == "" && len(cells) == 1 {
				label.Label = s.Sweeps[i].Name
			}
			if label.Label != "" && !shared[name] {
				all[name] = label
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
