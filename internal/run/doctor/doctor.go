// Package doctor turns the facts of a host into advice, and a plan's needs
// into warnings or a refusal before anything is run. It reads; it changes
// nothing on the host.
package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
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

// Named is a host with the name that its facts were given.
type Named struct {
	Name  string
	Facts record.Host
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

// fewCPUs says how many CPUs netdyno may use where they are as many as least and fewer than
// enough.
func (k known) fewCPUs(least, enough int) string {
	n := record.Host{Values: k}.CPUs()
	if n < max(least, 1) || n >= enough {
		return ""
	}
	if all, known := k.number("cpu.count"); known && float64(n) < all {
		return fmt.Sprintf("netdyno may use %d of %.0f CPUs", n, all)
	}
	return "there " + map[bool]string{true: "is", false: "are"}[n == 1] + " " + quantity.Plural(n, "CPU")
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

// rule is one line of the doctor's knowledge. Exactly one of finds and card is
// set; each returns what it found, or "" when the host is fine or does not
// tell.
type rule struct {
	about    string // the fact's key; of a card's rule its last part
	severity Severity
	finds    func(known) string
	card     func(known, string) string // asked of each network card by name
	why      string
	source   string
	fix      string // of a card's rule, DEV is its name
}

// rules are all there are.
func rules() []rule {
	return slices.Concat(hostRules, kernelRules, profileRules, cardRules, deviceRules)
}

// apply returns the rule's advice: at most one for a host, and one for all cards of a
// host about which the same is to be said.
func (r rule) apply(k known) []Advice {
	advice := Advice{About: r.about, Why: r.why, Source: r.source, Fix: r.fix, Severity: r.severity}
	if r.card == nil {
		if advice.What = r.finds(k); advice.What == "" {
			return nil
		}
		return []Advice{advice}
	}
	var found []string
	cards := make(map[string][]string) // by what was found
	for _, name := range k.cards() {
		if what := r.card(k, name); what != "" {
			found = appendNew(found, what)
			cards[what] = append(cards[what], name)
		}
	}
	var list []Advice
	for _, what := range found {
		names := cards[what]
		advice.About = "nic." + strings.Join(names, ",") + "." + r.about
		advice.What = strings.Join(names, ", ") + ": " + what
		advice.Fix = k.fixOf(r.fix, names)
		list = append(list, advice)
	}
	return list
}

// when returns the text of a finding that holds; "" where it does not.
func when(holds bool, format string, values ...any) string {
	if !holds {
		return ""
	}
	return fmt.Sprintf(format, values...)
}

// is finds a fact that has one value.
func is(key, value, text string) func(known) string {
	return func(k known) string { return when(k[key] == value, "%s", text) }
}

// told finds a fact that has another value than the usual ones, which text shows in
// place of %.
func told(key, text string, usual ...string) func(known) string {
	return func(k known) string {
		value := k[key]
		return when(value != "" && !slices.Contains(usual, value), "%s", strings.ReplaceAll(text, "%", value))
	}
}

// listed names, after text, the words of a fact that matter; "" where none does.
func (k known) listed(key, text string, matters func(word string) bool) string {
	words := slices.DeleteFunc(strings.Fields(k[key]), func(word string) bool { return !matters(word) })
	return when(len(words) > 0, "%s%s", text, strings.Join(words, ", "))
}

func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// shorten cuts a list of a large machine.
func shorten(text string) string {
	const keep = 40
	if len(text) > keep {
		return text[:keep] + " …"
	}
	return text
}

func fileLimitFix(files int) string {
	return fmt.Sprintf("ulimit -n %d; for good, \"* - nofile %d\" in /etc/security/limits.conf, or LimitNOFILE=%d in the service's unit",
		files, files, files)
}
