// Package doctor turns the facts of a host into advice, and a plan's needs
// into warnings or a refusal before anything is run. It reads; it changes
// nothing on the host.
package doctor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/record"
)

// Severity says what an advice does to a measurement.
type Severity int

// The severities, in ascending order.
const (
	Note    Severity = iota // worth knowing when reading the figures
	Noise                   // makes figures scatter, so more blocks are needed
	Distort                 // can move a figure or stop a trial
)

// String returns the severity's word.
func (s Severity) String() string {
	return [...]string{"note", "noise", "distort"}[s]
}

// Advice is one thing about a host that its user may want to change.
type Advice struct {
	About    string // the fact's key, "cpu.governor"
	What     string // what was found
	Why      string // why it matters
	Source   string // who says so
	Fix      string // the command or setting that changes it; empty when only knowing helps
	Severity Severity
}

// Advise returns what the rules say of a host, the gravest first. Facts that
// are absent give no advice.
func Advise(facts record.Host) []Advice {
	var list []Advice
	k := known(facts.Values)
	for _, r := range rules() {
		list = append(list, r.apply(k)...)
	}
	slices.SortStableFunc(list, func(a, b Advice) int { return cmp.Compare(b.Severity, a.Severity) })
	return list
}

// Distorts says whether any of the advice is about what can move a figure or
// stop a trial.
func Distorts(list []Advice) bool {
	return slices.ContainsFunc(list, func(a Advice) bool { return a.Severity == Distort })
}

// known are the facts of one host, which tell an absent fact from a fact that is 0.
type known map[string]string

func (k known) number(key string) (float64, bool) {
	n, err := strconv.ParseFloat(k[key], 64)
	return n, err == nil
}

// below returns text with the value put in for %, when the fact is known and
// less than least; "unlimited" is never less.
func (k known) below(key string, least float64, text string) string {
	if n, ok := k.number(key); ok && n < least {
		return strings.ReplaceAll(text, "%", k[key])
	}
	return ""
}

// ports returns the number of ephemeral ports; the kernel's default range when
// the fact is absent.
func (k known) ports() int {
	low, high, found := strings.Cut(k["net.port_range"], "-")
	first, err1 := strconv.Atoi(low)
	last, err2 := strconv.Atoi(high)
	if !found || err1 != nil || err2 != nil || last < first {
		return 60999 - 32768 + 1
	}
	return last - first + 1
}
