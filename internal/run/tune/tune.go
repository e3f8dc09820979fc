// Package tune makes the arms of a race from a transport's options: which knobs it has,
// which of their values are worth trying, and which combinations of these. It is pure.
package tune

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
)

// Defaults is the arm of the race that sets nothing.
const Defaults = "defaults"

// Arm is one setting of a race.
type Arm struct {
	Name   string
	Levels map[string]string // by factor: opt.NAME, opt.server.NAME, opt.client.NAME
}

// Field is what takes part in a race.
type Field struct {
	Arms    []Arm             // Defaults first, then each knob by itself, then pairs of them
	As      map[string]string // how a factor's setting is written outside of netdyno
	Knobs   []string          // factors
	LeftOut int               // combinations of two knobs beyond the bound
}

// knob is a factor with the values that are tried.
type knob struct {
	factor string
	values []string
	as     string
}

// Plan chooses the arms: every value of every knob by itself, and as many combinations of
// two knobs as there is room for. Without names the knobs are the options that have a
// grid; names are factors such as opt.server.read_buffer, or opt.read_buffer for both
// ends. held are factors that the user set, which are no knobs.
func Plan(t contract.Transport, names []string, held func(factor string) bool, most int) (Field, error) {
	knobs, err := choose(t, names, held)
	if err != nil {
		return Field{}, err
	}
	f := Field{Arms: []Arm{{Name: Defaults, Levels: map[string]string{}}}, As: map[string]string{}}
	for _, k := range knobs {
		f.Knobs = append(f.Knobs, k.factor)
		if k.as != "" {
			f.As[k.factor] = k.as
		}
		for _, value := range k.values {
			f.Arms = append(f.Arms, armOf(knobs, map[string]string{k.factor: value}))
		}
	}
	if len(f.Arms) > most {
		return Field{}, fmt.Errorf("tune %s: %d knobs (%s) make %d settings, and there is time for %d; name fewer with --knobs, or give more --time",
			t.Name, len(knobs), strings.Join(f.Knobs, ", "), len(f.Arms), most)
	}
	for i, a := range knobs {
		for _, b := range knobs[i+1:] {
			for _, x := range a.values {
				for _, y := range b.values {
					if len(f.Arms) == most {
						f.LeftOut++
						continue
					}
					f.Arms = append(f.Arms, armOf(knobs, map[string]string{a.factor: x, b.factor: y}))
				}
			}
		}
	}
	return f, nil
}

// armOf names an arm by its levels: read_buffer-128KiB+write_buffer-0B, with the end where
// both ends have a knob of that name.
func armOf(knobs []knob, levels map[string]string) Arm {
	var parts []string
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		same := func(k knob) bool { return k.factor != factor && bareName(k.factor) == bareName(factor) }
		name := bareName(factor)
		if slices.ContainsFunc(knobs, same) {
			name = strings.TrimPrefix(factor, prefix)
		}
		parts = append(parts, name+"-"+levels[factor])
	}
	return Arm{Name: strings.Join(parts, "+"), Levels: levels}
}

const prefix = "opt."

// bareName is an option's name, without the end that it is of.
func bareName(factor string) string {
	name := strings.TrimPrefix(factor, prefix)
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		name = strings.TrimPrefix(name, string(role)+".")
	}
	return name
}

// choose returns the knobs that are named, or those with a grid.
func choose(t contract.Transport, names []string, held func(string) bool) ([]knob, error) {
	var knobs []knob
	if len(names) == 0 {
		for _, o := range t.Options {
			factor := prefix + o.Name
			if len(o.Grid) == 0 || held(factor) || held(prefix+"server."+o.Name) || held(prefix+"client."+o.Name) {
				continue
			}
			if len(o.Roles) == 1 {
				factor = prefix + string(o.Roles[0]) + "." + o.Name
			}
			if k := knobOf(o, factor, o.Roles); len(k.values) > 0 {
				knobs = append(knobs, k)
			}
		}
		if len(knobs) == 0 {
			return nil, fmt.Errorf("tune %s: it has no option with a grid that is not set already; name some with --knobs", t.Name)
		}
		return knobs, nil
	}
	for _, name := range names {
		k, err := named(t, name)
		if err != nil {
			return nil, fmt.Errorf("tune %s: --knobs: %w", t.Name, err)
		}
		if slices.ContainsFunc(knobs, func(other knob) bool { return other.factor == k.factor }) {
			return nil, fmt.Errorf("tune %s: --knobs: %s is named twice", t.Name, k.factor)
		}
		if held(k.factor) {
			return nil, fmt.Errorf("tune %s: %s is both a knob and set to one level; give one of them", t.Name, k.factor)
		}
		knobs = append(knobs, k)
	}
	return knobs, nil
}

// named is the knob of a name, with or without "opt.".
func named(t contract.Transport, name string) (knob, error) {
	bare := strings.TrimPrefix(name, prefix)
	roles := []contract.Role(nil)
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		if rest, found := strings.CutPrefix(bare, string(role)+"."); found {
			bare, roles = rest, []contract.Role{role}
		}
	}
	var known []string
	for _, o := range t.Options {
		known = append(known, o.Name)
		if o.Name != bare {
			continue
		}
		if len(o.Roles) > 0 && len(roles) > 0 && !slices.Contains(o.Roles, roles[0]) {
			return knob{}, fmt.Errorf("%s is an option of the %v alone", o.Name, o.Roles)
		}
		if len(roles) == 0 && len(o.Roles) == 1 {
			roles = o.Roles
		}
		factor := prefix + bare
		if len(roles) == 1 {
			factor = prefix + string(roles[0]) + "." + bare
		}
		k := knobOf(o, factor, roles)
		if len(k.values) == 0 {
			return knob{}, fmt.Errorf("%s is a %s, of which no values are known that are worth trying; compare some with netdyno run %s=…", o.Name, o.Type, factor)
		}
		return k, nil
	}
	return knob{}, fmt.Errorf("there is no option %q; %s", quantity.Clip(name, 80), quantity.Hint(bare, known))
}

// knobOf is an option as a knob of some roles; none means both.
func knobOf(o contract.Option, factor string, roles []contract.Role) knob {
	k := knob{factor: factor, values: Grid(o)}
	var as []string
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		if text := o.As[role]; text != "" && (len(roles) == 0 || slices.Contains(roles, role)) && !slices.Contains(as, text) {
			as = append(as, text)
		}
	}
	k.as = strings.Join(as, ", ")
	return k
}
