package view

import (
	"math"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// linkRate is the factor that shapes a link's rate; a link that it leaves as
// it is has the rate of its card.
const (
	linkRate  = "link.rate"
	unlimited = "max"
)

// satisfies tells whether a level is the published one; "2+" hosts are two or
// more.
func satisfies(condition, here, published string) bool {
	least, orMore := strings.CutSuffix(published, "+")
	if condition != record.ConditionHosts || !orMore {
		return here == published
	}
	few, err1 := strconv.Atoi(least)
	hosts, err2 := strconv.Atoi(here)
	return err1 == nil && err2 == nil && hosts >= few
}

// conditionHere returns what an arm's trials in a cell have for a condition of
// a publication; false when that is not known, or they have no level of it.
// There must be a trial.
func conditionHere(s *cells.Dataset, condition string, judged []*trial.Judged) (string, bool) {
	switch condition {
	case record.ConditionRig:
		kind := record.RigKind(s.Header.Facts.Rig)
		return kind, kind != ""
	case record.ConditionHosts:
		return hostsOf(judged)
	case record.ConditionLimit:
		limit, _ := cells.LimitOf(judged)
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
func cardRate(s *cells.Dataset, judged []*trial.Judged) (string, bool) {
	rate := ""
	for _, v := range judged {
		for _, through := range strings.Fields(v.Traffic.Through) {
			seat, name, _ := strings.Cut(through, "/")
			facts := s.Header.Facts.Seats[seat].Values
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
