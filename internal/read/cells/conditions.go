package cells

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// linkRate is the factor that shapes a link's rate; a link that it leaves as
// it is has the rate of its card.
const (
	linkRate  = "link.rate"
	unlimited = "max"
)

// Unmet is a condition that a publication states and the run does not meet.
type Unmet struct {
	Condition string   `json:"condition"` // a factor, or one of record.Condition…
	Published string   `json:"published"`
	Here      []string `json:"here"` // levels in the cells that come nearest; none where the trials have no level of it
}

// maxHere bounds the levels that stand in brackets behind a published one.
const maxHere = 6

// String names the condition as it was published and as it is here:
// "connections=40 (here 4)".
func (u Unmet) String() string {
	here := "not known"
	switch more := len(u.Here) - maxHere; {
	case more > 0:
		here = strings.Join(u.Here[:maxHere], ", ") + fmt.Sprintf(" and %d more", more)
	case len(u.Here) > 0:
		here = strings.Join(u.Here, ", ")
	}
	return fmt.Sprintf("%s=%s (here %s)", u.Condition, u.Published, here)
}

// Conditions joins conditions that are not met.
func Conditions(unmet []Unmet) string {
	words := make([]string, len(unmet))
	for i, u := range unmet {
		words[i] = u.String()
	}
	return strings.Join(words, ", ")
}

// Unmet returns the conditions that the trials of some arms do not meet in a
// cell, by name. Each arm must run there.
func (s *Dataset) Unmet(under map[string]string, cell string, arms ...string) []Unmet {
	var differs []Unmet
	for _, condition := range slices.Sorted(maps.Keys(under)) {
		d := Unmet{Condition: condition, Published: under[condition]}
		met := true
		for _, arm := range arms {
			level, known := conditionHere(s, condition, s.Of(cell, arm))
			met = met && known && satisfies(condition, level, d.Published)
			if known {
				d.Here = including(d.Here, level)
			}
		}
		if !met {
			differs = append(differs, d)
		}
	}
	return differs
}

// Nearer returns the fewer of two lists of missed conditions: best, of the cells so far,
// or next, of one more cell. Cells that miss the same conditions are listed together.
func Nearer(best, next []Unmet) []Unmet {
	switch {
	case best == nil || len(next) < len(best):
		return next
	case len(next) > len(best):
		return best
	}
	for i := range next {
		if next[i].Condition != best[i].Condition {
			return best
		}
	}
	for i := range next {
		for _, level := range next[i].Here {
			best[i].Here = including(best[i].Here, level)
		}
	}
	return best
}

func including(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// satisfies tells whether a level is the published one; "2+" hosts are two or
// more, and the limit "cpu" is any CPU's, of either end or of the host.
func satisfies(condition, here, published string) bool {
	if condition == record.ConditionLimit && published == record.LimitCPU {
		return strings.HasSuffix(here, "-cpu") || strings.HasSuffix(here, "-core")
	}
	least, orMore := strings.CutSuffix(published, "+")
	if condition != record.ConditionHosts || !orMore {
		return here == published
	}
	few, err1 := strconv.Atoi(least)
	hosts, err2 := strconv.Atoi(here)
	return err1 == nil && err2 == nil && hosts >= few
}

// conditionHere returns the level of a publication's condition that an arm's trials in a
// cell have; false when the level is not known. There must be a trial.
func conditionHere(s *Dataset, condition string, judged []*trial.Judged) (string, bool) {
	switch condition {
	case record.ConditionRig:
		kind := record.RigKind(s.Facts.Rig)
		return kind, kind != ""
	case record.ConditionHosts:
		return hostsOf(judged)
	case record.ConditionLimit:
		limit, _ := LimitOf(judged)
		return string(limit), limit != trial.Unknown
	}
	level, ok := judged[0].Plan.Levels[condition]
	if condition == linkRate && (!ok || level == unlimited) {
		if rate, known := cardRate(s, judged); known {
			return rate, true
		}
		return unlimited, true
	}
	return level, ok
}

// LinkRate returns the rate of the link that an arm's trials went through; false
// where nothing bounds it but the hosts. There must be a trial.
func (s *Dataset) LinkRate(judged []*trial.Judged) (string, bool) {
	rate, ok := conditionHere(s, linkRate, judged)
	return rate, ok && rate != unlimited
}

// LinkPool returns the rate of the link that an arm's trials went through, in bytes/s, for
// each of their blocks; nothing where it is not known.
func (s *Dataset) LinkPool(judged []*trial.Judged) *Pool {
	p := &Pool{}
	if len(judged) == 0 {
		return p
	}
	rate, known := s.LinkRate(judged)
	bits, err := quantity.ParseBitRate(rate)
	if !known || err != nil {
		return p
	}
	const bitsPerByte = 8
	for _, v := range judged {
		if len(p.Of(v.Plan.Block)) == 0 {
			p.Add(v.Plan.Block, float64(bits)/bitsPerByte)
		}
	}
	return p
}

// hostsOf counts the hosts that the workers of an arm's trials sat on; false
// before a trial has run, and where the server was not metered.
func hostsOf(judged []*trial.Judged) (string, bool) {
	for _, v := range judged {
		if v.Record == nil || len(v.Record.Workers) == 0 || len(v.Record.Away()) > 0 {
			continue
		}
		hosts := map[string]bool{}
		for _, w := range v.Record.Workers {
			hosts[w.Seat] = true
		}
		return strconv.Itoa(len(hosts)), true
	}
	return "", false
}

// cardRate returns the nominal rate of the interfaces that an arm's trials
// went through, "100Gbit/s", when all of them have the same; false on loopback
// and for virtual interfaces, whose nominal rate is made up.
func cardRate(s *Dataset, judged []*trial.Judged) (string, bool) {
	rate := ""
	for _, v := range judged {
		for _, through := range strings.Fields(v.Traffic.Through) {
			seat, name, _ := strings.Cut(through, "/")
			facts := s.Facts.Seats[seat].Values
			speed, err := strconv.ParseFloat(facts["nic."+name+".speed_mbit_per_s"], 64)
			if err != nil || !(speed >= 1 && speed < math.MaxInt32) || facts["nic."+name+".driver"] == "veth" {
				return "", false
			}
			text := quantity.BitRateText(int64(speed) * 1e6)
			if rate != "" && rate != text {
				return "", false
			}
			rate = text
		}
	}
	return rate, rate != ""
}
