package contract

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// Interfaces are the counters of a host's network interfaces, by name, rising. In
// JSON they are an object. A map of one interface, as most readings have, would
// take five times the memory, and a large run has a million readings.
type Interfaces []NamedInterface

// NamedInterface holds the counters of one interface.
type NamedInterface struct {
	Name string
	Interface
}

// Of returns the counters of an interface; zeros and false where there is none of
// that name.
func (all Interfaces) Of(name string) (Interface, bool) {
	if i, found := all.find(name); found {
		return all[i].Interface, true
	}
	return Interface{}, false
}

// Set enters the counters of an interface.
func (all *Interfaces) Set(name string, counters Interface) {
	i, found := all.find(name)
	if !found {
		*all = slices.Insert(*all, i, NamedInterface{Name: name})
	}
	(*all)[i].Interface = counters
}

// Delete takes an interface out.
func (all *Interfaces) Delete(name string) {
	if i, found := all.find(name); found {
		*all = slices.Delete(*all, i, i+1)
	}
}

func (all Interfaces) find(name string) (int, bool) {
	return slices.BinarySearchFunc(all, name, func(i NamedInterface, name string) int { return cmp.Compare(i.Name, name) })
}

// MarshalJSON writes an object of the counters by name.
func (all Interfaces) MarshalJSON() ([]byte, error) {
	object := []byte{'{'}
	for i, each := range all {
		if i > 0 {
			object = append(object, ',')
		}
		name, err := json.Marshal(each.Name)
		if err != nil {
			return nil, err
		}
		counters, err := json.Marshal(each.Interface)
		if err != nil {
			return nil, err
		}
		object = append(append(append(object, name...), ':'), counters...)
	}
	return append(object, '}'), nil
}

// UnmarshalJSON reads such an object.
func (all *Interfaces) UnmarshalJSON(object []byte) error {
	var counters map[string]Interface
	if err := json.Unmarshal(object, &counters); err != nil {
		return err
	}
	*all = nil
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		*all = append(*all, NamedInterface{name, counters[name]})
	}
	return nil
}
