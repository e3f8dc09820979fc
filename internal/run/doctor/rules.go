package doctor

import (
	"fmt"
	"slices"
	"strings"
)

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
	return slices.Concat(hostRules, kernelRules, profileRules, cardRules, driverRules(), deviceRules)
}

// apply returns the rule's advice: at most one of a host, and of its cards one
// for all that have the same to be said of them.
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

// toldShort is told for a list that is long on a large machine.
func toldShort(key, text string, usual ...string) func(known) string {
	return func(k known) string { return told(key, text, usual...)(known{key: shorten(k[key])}) }
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
