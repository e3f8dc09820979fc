package worker

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
)

// Complete checks given options against a transport's declaration and fills
// in defaults. Its values are int64, float64, bool and string.
func Complete(t contract.Transport, role contract.Role, given map[string]any) (map[string]any, error) {
	out := map[string]any{}
	var names []string
	for _, o := range t.Options {
		if len(o.Roles) > 0 && !slices.Contains(o.Roles, role) {
			continue
		}
		names = append(names, o.Name)
		value := o.Default
		if v, ok := given[o.Name]; ok {
			value = v
		}
		typed, err := convert(o, value)
		if err != nil {
			return nil, fmt.Errorf("option %s of %s: %w", o.Name, t.Name, err)
		}
		out[o.Name] = typed
	}
	for name := range given {
		if _, ok := out[name]; !ok {
			return nil, fmt.Errorf("option %q: %s as %s has none of that name; %s", name, t.Name, role, quantity.Hint(name, names))
		}
	}
	return out, nil
}

func convert(o contract.Option, v any) (any, error) {
	switch o.Type {
	case contract.TypeInt, contract.TypeBytes, contract.TypeDuration:
		f, ok := number(v)
		if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return nil, fmt.Errorf("got %v, expected a whole number (%s)", v, o.Type)
		}
		return int64(f), bounds(o, f)
	case contract.TypeFloat:
		f, ok := number(v)
		if !ok {
			return nil, fmt.Errorf("got %v, expected a number", v)
		}
		return f, bounds(o, f)
	case contract.TypeBool:
		if b, ok := v.(bool); ok {
			return b, nil
		}
		return nil, fmt.Errorf("got %v, expected true or false", v)
	case contract.TypeChoice:
		s, _ := v.(string)
		if slices.Contains(o.Choices, s) {
			return s, nil
		}
		return nil, fmt.Errorf("got %v, expected one of %s", v, strings.Join(o.Choices, ", "))
	default:
		if s, ok := v.(string); ok {
			return s, nil
		}
		return nil, fmt.Errorf("got a %T, expected text", v) // which may be secret: no error has a part of it
	}
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	}
	return 0, false
}

func bounds(o contract.Option, f float64) error {
	if o.Min != nil && f < *o.Min {
		return fmt.Errorf("got %v, expected at least %v", f, *o.Min)
	}
	if o.Max != nil && f > *o.Max {
		return fmt.Errorf("got %v, expected at most %v", f, *o.Max)
	}
	return nil
}
