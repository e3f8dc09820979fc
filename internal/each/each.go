// Package each makes one list of another: the names of hosts, the texts of levels.
package each

// Of returns what of makes of each element, in their order; nil of none.
func Of[From, To any](all []From, of func(From) To) []To {
	var made []To
	for _, one := range all {
		made = append(made, of(one))
	}
	return made
}
