package compare

import (
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// Hold holds a figure's interval against a bound.
func Hold(f cells.Figure, b record.Bound) State {
	below, above := f.High <= b.Value, f.Low >= b.Value
	switch {
	case below && !b.AtLeast, above && b.AtLeast:
		return Met
	case below, above:
		return Broken
	}
	return Undecided
}
