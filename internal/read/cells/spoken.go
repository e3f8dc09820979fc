package cells

import (
	"strings"

	"netdyno/internal/quantity"
)

// spoken are the factors whose levels are said as a count of something.
var spoken = map[string][2]string{
	"connections": {"connection", "connections"},
	"threads":     {"thread", "threads"},
	"clients":     {"client", "clients"},
	"servers":     {"server", "servers"},
	"inflight":    {"exchange in flight", "exchanges in flight"},
	"amount":      {"exchange on each connection", "exchanges on each connection"},
}

// endless is a trial that no amount ends.
const endless = "amount=0"

// Spoken returns a cell's name as a person would say it: "10,000 connections,
// request=4KiB" for "connections=10000 request=4KiB". A level that it has no words
// for stays as it is typed.
func Spoken(cell string) string {
	if cell == "" {
		return ""
	}
	var parts []string
	for _, level := range levelsIn(cell) {
		factor, value, _ := strings.Cut(level, "=")
		words, known := spoken[factor]
		switch {
		case level == endless && strings.Contains(cell, "window="): // the window says how a trial ends
		case known && value == "1":
			parts = append(parts, "1 "+words[0])
		case known:
			parts = append(parts, thousands(value)+" "+words[1])
		case factor == "rate" && value != "max":
			parts = append(parts, rate(value))
		default:
			parts = append(parts, level)
		}
	}
	return strings.Join(parts, ", ")
}

// rate is a rate as measured ones are shown: "15 k/s", "500/s".
func rate(level string) string {
	perSecond, err := quantity.ParseRate(level)
	if err != nil {
		return level + "/s"
	}
	for _, unit := range []struct {
		scale float64
		name  string
	}{{1e6, " M/s"}, {1e3, " k/s"}} {
		if perSecond >= unit.scale {
			return quantity.RateText(perSecond/unit.scale) + unit.name
		}
	}
	return quantity.RateText(perSecond) + "/s"
}

// thousands groups the digits of a count: "10,000".
func thousands(count string) string {
	if strings.Trim(count, "0123456789") != "" {
		return count
	}
	for i := len(count) - 3; i > 0; i -= 3 {
		count = count[:i] + "," + count[i:]
	}
	return count
}
