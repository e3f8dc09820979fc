package cells

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// Title says what a study compares, where it says anything. A study with a name keeps the name; a typed study is
// "go-grpc against go-http1 (100 B up, 1 KiB down, 20 connections)".
func (s Plan) Title() string {
	if s.Name != record.Unnamed {
		return s.Name
	}
	title := compared(s)
	if title == "" {
		return s.Name
	}
	if details := conditions(s); len(details) > 0 {
		between := ", "
		if slices.ContainsFunc([]string{"request", "response", "arrival", "work"}, func(factor string) bool { // whose labels may have commas
			return strings.Contains(s.Names.labels.Levels[factor][s.Hold[factor]], between)
		}) {
			between = "; "
		}
		title += " (" + strings.Join(details, between) + ")"
	}
	return title
}

// armsInTitle bounds the arms that a title names beside the baseline.
const armsInTitle = 3

// compared names the arms, the baseline last; "" for none.
func compared(s Plan) string {
	factor := s.Compare.Factor
	var arms []string
	base, named := spokenLevel(factor, s.Compare.Baseline), ""
	if !says(factor) {
		named = strings.TrimPrefix(factor, "opt.") + " "
	}
	for _, f := range s.Vary {
		for _, level := range f.Levels {
			if f.Name == factor && level != s.Compare.Baseline {
				arms = append(arms, spokenLevel(factor, level))
			}
		}
	}
	switch more := len(arms) - armsInTitle; {
	case len(arms) == 0:
		return base
	case more > 1:
		return named + fmt.Sprintf("%s and %d more against %s", strings.Join(arms[:armsInTitle], ", "), more, base)
	}
	return named + quantity.And(arms) + " against " + base
}

// says tells whether a factor's levels say by themselves what they are: names of
// transports and arms, and counts.
func says(factor string) bool {
	_, counts := spoken[factor]
	return counts || factor == "" || slices.Contains([]string{"arm", "transport", "server", "client", "rate"}, factor)
}

// spokenLevel is a level as a person would say it; beside the factor's name where
// it does not say what it is.
func spokenLevel(factor, level string) string {
	if _, counts := spoken[factor]; counts || factor == "rate" {
		return Spoken(factor + "=" + level)
	}
	return level
}

// conditions are under what the arms are compared: the transport where another
// factor is compared, the sizes, the load.
func conditions(s Plan) []string {
	var all []string
	if transport := s.Hold["transport"]; transport != "" {
		all = append(all, transport)
	}
	if stream := s.Hold["stream"]; stream != "" && stream != "no" {
		all = append(all, "stream "+stream)
	}
	all = append(all, sizes(s, s.Hold["request"], s.Hold["response"])...)
	if file := s.Hold["workload"]; file != "" {
		all = append(all, "workload "+path.Base(file))
	}
	for _, f := range s.Vary {
		if f.Name != s.Compare.Factor && len(f.Levels) > 0 {
			all = append(all, spokenLevels(f))
		}
	}
	arrival := s.Hold["arrival"]
	ownRates := strings.HasPrefix(arrival, "steps:") || strings.HasPrefix(arrival, "ramp:") // whose mean says little
	for _, factor := range []string{"connections", "rate"} {
		if level := s.Hold[factor]; level != "" && level != "max" && !(factor == "rate" && ownRates) {
			all = append(all, Spoken(factor+"="+level))
		}
	}
	if strings.Contains(arrival, ":") {
		all = append(all, "arrival "+cmp.Or(s.Names.labels.Levels["arrival"][arrival], arrival))
	}
	if level := s.Hold["work"]; level != "" && level != "0s" {
		all = append(all, "work "+cmp.Or(s.Names.labels.Levels["work"][level], level))
	}
	return all
}

// sizes are the sizes of an exchange's messages: "100 B each way", or one for each
// direction; none where a size is not held.
func sizes(s Plan, up, down string) []string {
	switch {
	case up == "" || down == "":
		return nil
	case up == down:
		return []string{spokenSize(s, "request", up) + " each way"}
	}
	return []string{spokenSize(s, "request", up) + " up", spokenSize(s, "response", down) + " down"}
}

// spokenSize is a size, or how sizes vary as the study says it: "100 B to 4 KiB, evenly".
func spokenSize(s Plan, factor, size string) string {
	if label := s.Names.labels.Levels[factor][size]; label != "" {
		return label
	}
	return quantity.WithSpace(size)
}

// spokenLevels are a varied factor's levels: "10 and 1,000 connections".
func spokenLevels(f record.Factor) string {
	words, known := spoken[f.Name]
	if !known {
		return f.Name + " " + quantity.And(f.Levels)
	}
	counts := make([]string, len(f.Levels))
	for i, level := range f.Levels {
		counts[i] = thousands(level)
	}
	return quantity.And(counts) + " " + words[1]
}
