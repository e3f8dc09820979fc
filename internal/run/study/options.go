package study

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/each"
	"netdyno/internal/quantity"
)

// Options turns options given as text into the typed values that a setup
// carries, by a transport's declarations for one role. Bytes become int64,
// durations int64 nanoseconds. Errors name the option, what was expected and
// the nearest name; defaults are the worker's to fill in.
func Options(decl []contract.Option, role contract.Role, given map[string]string) (map[string]any, error) {
	values := map[string]any{}
	for _, name := range sortedKeys(given) {
		o, err := declared(decl, role, name)
		if err != nil {
			return nil, err
		}
		if values[name], err = optionValue(o, given[name]); err != nil {
			return nil, fmt.Errorf("option %s of the %s: %w", name, role, err)
		}
	}
	return values, nil
}

// OptionsByRole types the options of every end of a trial: server and client,
// or pair alone. An option for both ends goes to each end that declares it
// and must be declared by one.
func (w Work) OptionsByRole(ends map[contract.Role][]contract.Option) (map[contract.Role]map[string]any, error) {
	own := map[contract.Role]map[string]string{contract.Server: w.ServerOptions, contract.Client: w.ClientOptions}
	if _, pair := ends[contract.Pair]; pair {
		merged := map[string]string{}
		maps.Copy(merged, w.ServerOptions)
		maps.Copy(merged, w.ClientOptions)
		own = map[contract.Role]map[string]string{contract.Pair: merged}
	}
	taken := map[string]bool{}
	out := map[contract.Role]map[string]any{}
	for _, role := range slices.Sorted(maps.Keys(ends)) {
		given := map[string]string{}
		maps.Copy(given, own[role])
		for name, text := range w.BothOptions {
			if _, err := declared(ends[role], role, name); err == nil {
				given[name], taken[name] = text, true
			}
		}
		values, err := Options(ends[role], role, given)
		if err != nil {
			return nil, err
		}
		out[role] = values
	}
	for _, name := range sortedKeys(w.BothOptions) {
		if !taken[name] {
			var all []contract.Option
			for _, role := range slices.Sorted(maps.Keys(ends)) {
				all = append(all, ends[role]...)
			}
			return nil, fmt.Errorf("option %s: no end declares it; %s", name, optionHint(all, name))
		}
	}
	return out, nil
}

func declared(decl []contract.Option, role contract.Role, name string) (contract.Option, error) {
	var takes []contract.Option
	for _, o := range decl {
		if len(o.Roles) == 0 || slices.Contains(o.Roles, role) || role == contract.Pair {
			takes = append(takes, o)
			continue
		}
		if o.Name == name {
			return o, fmt.Errorf("option %s: the %s does not take it, only %v does", name, role, o.Roles)
		}
	}
	for _, o := range takes {
		if o.Name == name {
			return o, nil
		}
	}
	return contract.Option{}, fmt.Errorf("option %s: the %s has no such option; %s", name, role, optionHint(takes, name))
}

func optionHint(decl []contract.Option, name string) string {
	names := each.Of(decl, func(o contract.Option) string { return o.Name })
	if len(names) == 0 {
		return "it has none"
	}
	slices.Sort(names)
	return quantity.Hint(name, slices.Compact(names))
}

// kindsOfOptions are the kinds of options that are read as factors are.
var kindsOfOptions = map[contract.OptionType]Kind{contract.TypeBytes: Bytes, contract.TypeDuration: Duration, contract.TypeInt: Count, contract.TypeBool: Flag, contract.TypeChoice: Choice}

func optionValue(o contract.Option, text string) (any, error) {
	kind, isKind := kindsOfOptions[o.Type]
	switch {
	case o.Type == contract.TypeText:
		return textValue(o, text)
	case o.Type == contract.TypeFloat:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%q is not a number", quantity.Clip(text, 40))
		}
		return x, inRange(o, x)
	case !isKind:
		return nil, fmt.Errorf("its worker declares the unknown type %q", o.Type)
	}
	digits, negative := strings.CutPrefix(text, "-")
	if negative = negative && kind == Count; negative { // an option may be negative where a factor may not
		text = digits
	}
	l, err := Factor{Kind: kind, Choices: o.Choices}.readLevel(text)
	switch {
	case err != nil:
		return nil, err
	case l.Value > 1<<53:
		return nil, fmt.Errorf("%s is out of range; expected at most 2^53", quantity.Clip(text, 40))
	case kind == Flag:
		return l.Value > 0, nil
	case kind == Choice:
		return l.Text, nil
	case negative:
		l.Value = -l.Value
	}
	return int64(l.Value), inRange(o, l.Value)
}

// textValue is a text. Of an option that takes no file, a level that begins with @@
// begins with @.
func textValue(o contract.Option, text string) (string, error) {
	switch {
	case o.FileMax > 0:
	case IsGiven(text):
		return "", fmt.Errorf("its worker takes no file for it; expected one line of at most %d bytes", MaxText)
	case strings.HasPrefix(text, "@@"):
		text = text[1:]
	}
	return text, CheckText(text)
}

func inRange(o contract.Option, value float64) error {
	bound := Factor{Kind: kindsOfOptions[o.Type]}.print
	if o.Min != nil && value < *o.Min {
		return fmt.Errorf("%s is out of range; expected at least %s", bound(value), bound(*o.Min))
	}
	if o.Max != nil && value > *o.Max {
		return fmt.Errorf("%s is out of range; expected at most %s", bound(value), bound(*o.Max))
	}
	return nil
}
