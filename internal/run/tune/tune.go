// Package tune makes the arms of a race from a transport's options: which it has that are worth varying,
// which of their values are worth trying, and which combinations of these. It is pure.
package tune

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/run/setting"
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
	Arms    []Arm             // Defaults first, then each option by itself, then pairs of them
	As      map[string]string // how a factor's setting is written outside of netdyno
	Options []string          // factors
	LeftOut int               // combinations of two options beyond the bound
}

// option is a factor with the values that are tried.
type option struct {
	factor string
	values []string
	as     string
}

// Plan chooses the arms: every value of every option by itself, and as many combinations of
// two options as there is room for. Without names the options are those that have a
// grid; names are factors such as opt.server.read_buffer, or opt.read_buffer for both
// ends. held are factors that the user set, which do not race.
func Plan(t contract.Transport, names []string, held func(factor string) bool, most int) (Field, error) {
	options, err := choose(t, names, held)
	if err != nil {
		return Field{}, err
	}
	return fieldOf(t.Name, options, nil, most)
}

// fieldOf makes the arms of options. Base are levels that every arm has unless it sets
// them itself.
func fieldOf(title string, options []option, base map[string]string, most int) (Field, error) {
	f := Field{Arms: []Arm{{Name: Defaults, Levels: maps.Clone(base)}}, As: map[string]string{}}
	for _, o := range options {
		f.Options = append(f.Options, o.factor)
		if o.as != "" {
			f.As[o.factor] = o.as
		}
		for _, value := range o.values {
			f.Arms = append(f.Arms, armOf(options, base, map[string]string{o.factor: value}))
		}
	}
	if len(f.Arms) > most {
		return Field{}, fmt.Errorf("tune %s: %d options (%s) make %d settings, and there is time for %d; name fewer with --options, or give more --time",
			title, len(options), strings.Join(f.Options, ", "), len(f.Arms), most)
	}
	for i, a := range options {
		for _, b := range options[i+1:] {
			for _, x := range a.values {
				for _, y := range b.values {
					if len(f.Arms) == most {
						f.LeftOut++
						continue
					}
					f.Arms = append(f.Arms, armOf(options, base, map[string]string{a.factor: x, b.factor: y}))
				}
			}
		}
	}
	return f, nil
}

// armOf names an arm by its levels: read_buffer-128KiB+write_buffer-0B, with the end where
// both ends have an option of that name.
func armOf(options []option, base, levels map[string]string) Arm {
	var parts []string
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		same := func(k option) bool { return k.factor != factor && bareName(k.factor) == bareName(factor) }
		name := bareName(factor)
		if slices.ContainsFunc(options, same) {
			name = strings.TrimPrefix(factor, prefix)
		}
		parts = append(parts, name+"-"+brief(levels[factor]))
	}
	all := maps.Clone(levels)
	for factor, level := range base {
		if _, own := levels[factor]; !own {
			all[factor] = level
		}
	}
	return Arm{Name: strings.Join(parts, "+"), Levels: all}
}

// prefix begins a transport's options.
const prefix = "opt."

// brief is a value in an arm's name: of several numbers the last one, the most that the
// kernel may take.
func brief(value string) string {
	fields := strings.Fields(value)
	last := fields[len(fields)-1]
	if n, err := strconv.ParseInt(last, 10, 64); err == nil && len(fields) > 1 {
		return quantity.BytesText(n)
	}
	return last
}

// bareName is an option's name, without the end that it is of.
func bareName(factor string) string {
	if key, is := setting.OfFactor(factor); is && key != setting.MTU {
		return key[strings.LastIndex(key, ".")+1:]
	}
	name := strings.TrimPrefix(factor, prefix)
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		name = strings.TrimPrefix(name, string(role)+".")
	}
	return name
}

// choose returns the options that are named, or those with a grid.
func choose(t contract.Transport, names []string, held func(string) bool) ([]option, error) {
	var options []option
	if len(names) == 0 {
		for _, o := range t.Options {
			factor := prefix + o.Name
			if len(o.Grid) == 0 || held(factor) || held(prefix+"server."+o.Name) || held(prefix+"client."+o.Name) {
				continue
			}
			if len(o.Roles) == 1 {
				factor = prefix + string(o.Roles[0]) + "." + o.Name
			}
			if k := optionOf(o, factor, o.Roles); len(k.values) > 0 {
				options = append(options, k)
			}
		}
		if len(options) == 0 {
			return nil, fmt.Errorf("tune %s: it has no option with a grid that is not set already; name some with --options", t.Name)
		}
		return options, nil
	}
	for _, name := range names {
		k, err := named(t, name)
		if err != nil {
			return nil, fmt.Errorf("tune %s: --options: %w", t.Name, err)
		}
		if slices.ContainsFunc(options, func(other option) bool { return other.factor == k.factor }) {
			return nil, fmt.Errorf("tune %s: --options: %s is named twice", t.Name, k.factor)
		}
		if held(k.factor) {
			return nil, fmt.Errorf("tune %s: %s is both a option and set to one level; give one of them", t.Name, k.factor)
		}
		options = append(options, k)
	}
	return options, nil
}

// named is the option of a name, with or without "opt.".
func named(t contract.Transport, name string) (option, error) {
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
			return option{}, fmt.Errorf("%s is an option of the %v alone", o.Name, o.Roles)
		}
		if len(roles) == 0 && len(o.Roles) == 1 {
			roles = o.Roles
		}
		factor := prefix + bare
		if len(roles) == 1 {
			factor = prefix + string(roles[0]) + "." + bare
		}
		k := optionOf(o, factor, roles)
		if len(k.values) == 0 {
			return option{}, fmt.Errorf("%s is a %s, of which no values are known that are worth trying; compare some with netdyno run %s=…", o.Name, o.Type, factor)
		}
		return k, nil
	}
	return option{}, fmt.Errorf("there is no option %q; %s", quantity.Clip(name, 80), quantity.Hint(bare, known))
}

// optionOf is a worker's option as one of some roles; none means both.
func optionOf(o contract.Option, factor string, roles []contract.Role) option {
	k := option{factor: factor, values: Grid(o)}
	var as []string
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		if text := o.As[role]; text != "" && (len(roles) == 0 || slices.Contains(roles, role)) && !slices.Contains(as, text) {
			as = append(as, text)
		}
	}
	k.as = strings.Join(as, ", ")
	return k
}
