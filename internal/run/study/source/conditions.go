package source

import (
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// underKey is the key of the conditions of a statement, in canonical
// text: levels of factors, or of the conditions that package record names.
func underKey[T any](where func(*T) *map[string]string, doc string) key[T] {
	return key[T]{
		about: about{name: "under", form: "a mapping from conditions to levels", doc: doc},
		read: func(e entry, into *T, _ whole) error {
			if e.value.kind != mapping {
				return e.value.at.errorf("under: found %s; expected a mapping from conditions to levels", e.value.kind)
			}
			under := map[string]string{}
			for i := range e.value.entries {
				factors, level, err := underOne(&e.value.entries[i])
				if err != nil {
					return err
				}
				for _, factor := range factors {
					under[factor] = level
				}
			}
			if len(under) > 0 {
				*where(into) = under
			}
			return nil
		},
		write: func(from *T) *node { return mapNode(*where(from), textNode) },
	}
}

// underOne reads one condition: the factors that the condition sets and their level in
// canonical text. There are two factors where one key stands for two, as transport does
// for server and client.
func underOne(e *entry) (factors []string, level string, err error) {
	if e.value.kind == scalar {
		switch e.key {
		case record.ConditionRig, record.ConditionLimit:
			known := map[string][]string{record.ConditionRig: record.RigKinds(), record.ConditionLimit: append(record.Limits(), record.LimitCPU)}[e.key]
			if !slices.Contains(known, e.value.text) {
				return nil, "", e.value.at.errorf("%s: unknown level %q; %s", e.key, quantity.Clip(e.value.text, 80), quantity.Hint(e.value.text, known))
			}
			return []string{e.key}, e.value.text, nil
		case record.ConditionHosts:
			level, err := hostsLevel(e.value)
			return []string{e.key}, level, err
		}
	}
	if _, err := study.FactorNamed(e.key); err != nil && !strings.HasPrefix(e.key, study.OptionPrefix) {
		return nil, "", e.at.errorf("under: unknown condition %q; %s", quantity.Clip(e.key, 80), quantity.Hint(e.key, conditionNames()))
	}
	set, err := readSetting(*e, "under")
	if err != nil {
		return nil, "", err
	}
	if set.Factor == "transport" {
		return []string{"server", "client"}, set.Level.Text, nil
	}
	return []string{set.Factor}, set.Level.Text, nil
}

// maxHosts bounds the number of hosts that a condition may name.
const maxHosts = 1 << 20

// hostsLevel reads a number of hosts: "2", or "2+" for two or more.
func hostsLevel(n *node) (string, error) {
	digits, orMore := strings.CutSuffix(n.text, "+")
	hosts, err := strconv.Atoi(digits)
	if err != nil || hosts < 1 || hosts > maxHosts {
		return "", n.at.errorf("hosts: %q is not a number of hosts; expected 2, or 2+ for two or more", quantity.Clip(n.text, 40))
	}
	level := strconv.Itoa(hosts)
	if orMore {
		level += "+"
	}
	return level, nil
}

// conditionNames are the names that a condition may have.
func conditionNames() []string {
	names := []string{record.ConditionRig, record.ConditionHosts, record.ConditionLimit}
	for _, f := range study.Factors() {
		if f.Kind != study.Whole && f.Kind != study.Bundle && !strings.HasPrefix(f.Name, study.OptionPrefix) {
			names = append(names, f.Name)
		}
	}
	return append(names, "opt.NAME")
}
