// Package tune makes the arms of a search from a transport's options: which it has that are
// worth varying, which of their values are worth trying, and which combinations of these.
// It is pure.
package tune

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
)

// Defaults is the arm that sets nothing.
const Defaults = "defaults"

// Arm is one setting.
type Arm struct {
	Name   string
	Levels map[string]string // by factor: opt.NAME, opt.server.NAME, opt.client.NAME
}

// option is a factor with the values that are tried.
type option struct {
	factor string
	values []string
}

// Plan chooses the arms: the defaults, every value of every option by itself, and as many
// combinations of two options as there is room for. Without names the options are those
// that have a grid; names are factors such as opt.server.read_buffer, or opt.read_buffer
// for both ends. held are factors that the user set, which are not varied.
func Plan(t contract.Transport, names []string, held func(factor string) bool, most int) ([]Arm, error) {
	options, err := choose(t, names, held)
	if err != nil {
		return nil, fmt.Errorf("tune %s: %w", t.Name, err)
	}
	arms := []Arm{{Name: Defaults}}
	for _, o := range options {
		for _, value := range o.values {
			arms = append(arms, armOf(options, map[string]string{o.factor: value}))
		}
	}
	if len(arms) > most {
		return nil, fmt.Errorf("tune %s: %d options make %d settings, and there is time for %d; name fewer with --options, or give more --time", t.Name, len(options), len(arms), most)
	}
	for i, a := range options {
		for _, b := range options[i+1:] {
			for _, x := range a.values {
				for _, y := range b.values {
					arms = append(arms, armOf(options, map[string]string{a.factor: x, b.factor: y}))
				}
			}
		}
	}
	return arms[:min(len(arms), most)], nil
}

// armOf names an arm by its levels: read_buffer-128KiB+write_buffer-0B, with the end where
// both ends have an option of that name.
func armOf(options []option, levels map[string]string) Arm {
	var parts []string
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		name, _ := bareName(factor)
		if slices.ContainsFunc(options, func(k option) bool {
			other, _ := bareName(k.factor)
			return k.factor != factor && other == name
		}) {
			name = strings.TrimPrefix(factor, prefix)
		}
		parts = append(parts, name+"-"+levels[factor])
	}
	return Arm{Name: strings.Join(parts, "+"), Levels: levels}
}

// prefix begins a transport's options.
const prefix = "opt."

// bareName is an option's name, and the end that it is of; "" for both.
func bareName(factor string) (name string, end contract.Role) {
	name = strings.TrimPrefix(factor, prefix)
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		if rest, found := strings.CutPrefix(name, string(role)+"."); found {
			return rest, role
		}
	}
	return name, ""
}

// choose returns the options that are named, or those with a grid.
func choose(t contract.Transport, names []string, held func(string) bool) ([]option, error) {
	given := len(names) > 0
	if !given {
		for _, o := range t.Options {
			isHeld := slices.ContainsFunc([]string{"", "server.", "client."}, func(end string) bool { return held(prefix + end + o.Name) })
			if len(o.Grid) > 0 && !isHeld {
				names = append(names, o.Name)
			}
		}
	}
	var options []option
	for _, name := range names {
		k, err := named(t, name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("--options: %w", err)
		case slices.ContainsFunc(options, func(other option) bool { return other.factor == k.factor }):
			return nil, fmt.Errorf("--options: %s is named twice", k.factor)
		case held(k.factor):
			return nil, fmt.Errorf("%s is both an option to vary and set to one level; give one of them", k.factor)
		case len(k.values) > 0:
			options = append(options, k)
		case given:
			return nil, fmt.Errorf("--options: no values of %s are known that are worth trying; compare some with netdyno run %s=…", k.factor, k.factor)
		}
	}
	if len(options) == 0 {
		return nil, fmt.Errorf("it has no option with a grid that is not set already; name some with --options")
	}
	return options, nil
}

// named is the option of a name, with or without "opt.", and the values that are tried: those
// of its grid, its choices, yes and no, without its default, which the arm of the defaults has.
func named(t contract.Transport, name string) (option, error) {
	bare, end := bareName(name)
	i := slices.IndexFunc(t.Options, func(o contract.Option) bool { return o.Name == bare })
	if i < 0 {
		var known []string
		for _, o := range t.Options {
			known = append(known, o.Name)
		}
		return option{}, fmt.Errorf("there is no option %q; %s", quantity.Clip(name, 80), quantity.Hint(bare, known))
	}
	o := t.Options[i]
	if len(o.Roles) == 1 && end == "" {
		end = o.Roles[0]
	}
	if len(o.Roles) > 0 && end != "" && !slices.Contains(o.Roles, end) {
		return option{}, fmt.Errorf("%s is an option of the %v alone", o.Name, o.Roles)
	}
	k := option{factor: prefix + bare, values: slices.Clone(o.Grid)}
	if end != "" {
		k.factor = prefix + string(end) + "." + bare
	}
	switch {
	case len(k.values) > 0:
	case o.Type == contract.TypeBool:
		k.values = []string{"no", "yes"}
	default:
		k.values = slices.Clone(o.Choices)
	}
	k.values = slices.DeleteFunc(k.values, func(text string) bool { return isDefault(o, text) })
	return k, nil
}

func isDefault(o contract.Option, text string) bool {
	switch d := o.Default.(type) {
	case bool:
		return d == (text == "yes")
	case string:
		return d == text
	case float64: // as JSON has it
		n, err := quantity.ParseBytes(text)
		if o.Type == contract.TypeInt {
			n, err = strconv.ParseInt(text, 10, 64)
		}
		return err == nil && float64(n) == d
	}
	return false
}
