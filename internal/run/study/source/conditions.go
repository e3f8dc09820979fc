package source

import (
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// readUnder reads the conditions of a published figure in canonical text: the
// levels of its cell, where it names one, and those under "under", of factors
// or of the conditions that package record names. Nil when it states none.
func readUnder(figure *node, cell string, s *study.Study) (map[string]string, error) {
	under := map[string]string{}
	if cell != "" {
		levels, ok := s.Cell(cell)
		if !ok {
			return nil, figure.get("cell").value.at.errorf("cell: no cell %q; cells are named by every factor that varies beside %s, such as %q",
				quantity.Clip(cell, 80), s.Compare.Factor, s.FirstCell())
		}
		for _, x := range levels {
			under[x.Factor] = x.Level.Text
		}
	}
	e := figure.get("under")
	if e == nil {
		return orNil(under), nil
	}
	if e.value.kind != mapping {
		return nil, e.value.at.errorf("under: found %s; expected a mapping from conditions to levels", e.value.kind)
	}
	for i := range e.value.entries {
		factors, level, err := condition(&e.value.entries[i])
		if err != nil {
			return nil, err
		}
		for _, factor := range factors {
			if of := under[factor]; of != "" && of != level {
				return nil, e.value.entries[i].at.errorf("under: %s is %s, but cell has it at %s", factor, level, of)
			}
			under[factor] = level
		}
	}
	return orNil(under), nil
}

func orNil(under map[string]string) map[string]string {
	if len(under) == 0 {
		return nil
	}
	return under
}

// condition reads one condition: the factors that it is about, as a transport
// is both its ends, and their level in canonical text.
func condition(e *entry) (factors []string, level string, err error) {
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
