package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
)

// NumberOf reads a level as a number in base units: bytes, seconds, bits or
// exchanges per second, a share; a flag counts 0 or 1. False for a word.
func NumberOf(level string) (float64, bool) {
	switch level {
	case "yes":
		return 1, true
	case "no":
		return 0, true
	}
	if n, err := quantity.ParseCount(level); err == nil {
		return float64(n), true
	}
	if n, err := quantity.ParseBytes(level); err == nil {
		return float64(n), true
	}
	if d, err := quantity.ParseDuration(level); err == nil {
		return d.Seconds(), true
	}
	if n, err := quantity.ParseBitRate(level); err == nil {
		return float64(n), true
	}
	if x, err := quantity.ParseRate(level); err == nil {
		return x, true
	}
	x, err := quantity.ParseShare(level)
	return x, err == nil
}

// Where returns the valid trials at the given levels that have the factors;
// none with the reason in words.
func Where(s *cells.Dataset, of Scope, factors ...string) ([]*trial.Judged, string) {
	var found []*trial.Judged
	for _, v := range s.Trials {
		if v.Trial.Status == trial.Valid && of.has(v.Plan.Arm) && s.IsAt(v, of.Levels) {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		return nil, "no valid trial" + of.String()
	}
	for _, factor := range factors {
		if _, ok := s.LevelOf(found[0], factor); !ok {
			names := slices.Collect(maps.Keys(found[0].Plan.Levels))
			return nil, fmt.Sprintf("the trials have no factor %q; %s", factor, quantity.Hint(factor, names))
		}
	}
	return found, ""
}

// Scope is the part of a study's trials that a chart or a fit is of.
type Scope struct {
	Levels map[string]string
	Arms   []string // empty for all
}

func (sc Scope) has(arm string) bool { return len(sc.Arms) == 0 || slices.Contains(sc.Arms, arm) }

// String completes "no valid trial".
func (sc Scope) String() string {
	text := ""
	if len(sc.Arms) > 0 {
		text = " of " + strings.Join(sc.Arms, ", ")
	}
	if len(sc.Levels) == 0 {
		return text
	}
	var words []string
	for _, factor := range slices.Sorted(maps.Keys(sc.Levels)) {
		words = append(words, factor+"="+sc.Levels[factor])
	}
	return text + " at " + strings.Join(words, " ")
}

// coordinates returns the levels of a factor among trials in the order of an
// axis: numbers first, rising, then words in the study's order.
func coordinates(s *cells.Dataset, judged []*trial.Judged, factor string) []Coordinate {
	seen := map[string]bool{}
	var all []Coordinate
	for _, v := range judged {
		if level, ok := s.LevelOf(v, factor); ok && !seen[level] {
			seen[level] = true
			x, _ := NumberOf(level)
			all = append(all, Coordinate{level, x})
		}
	}
	ordered := cells.Order(s.LevelsOf(factor))
	slices.SortFunc(all, func(a, b Coordinate) int {
		_, isNumber := NumberOf(a.Text)
		_, isOther := NumberOf(b.Text)
		switch {
		case isNumber && isOther:
			return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Text, b.Text))
		case isNumber:
			return -1
		case isOther:
			return 1
		}
		return ordered(a.Text, b.Text)
	})
	return all
}

// Coordinate is one level of a factor as a place on an axis.
type Coordinate struct {
	Text  string  `json:"text"`  // canonical: "32KiB"
	Value float64 `json:"value"` // in base units: 32768; 0 for a word
}
