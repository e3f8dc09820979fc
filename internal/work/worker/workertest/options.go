package workertest

import "netdyno/internal/contract"

// WithDefaults returns the given options with the defaults of those that are
// declared and not given, as a worker completes them.
func WithDefaults(declared []contract.Option, given map[string]any) map[string]any {
	all := map[string]any{}
	for _, o := range declared {
		all[o.Name] = o.Default
		if n, ok := o.Default.(int); ok {
			all[o.Name] = int64(n)
		}
	}
	for name, value := range given {
		all[name] = value
	}
	return all
}
