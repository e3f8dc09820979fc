package source

import "netdyno/internal/quantity"

// mesh says whether a study's cells are the ordered pairs of hosts.
type mesh struct {
	at     position
	wanted bool
}

func readMesh(e entry) (*mesh, error) {
	text, err := e.scalarOf("yes or no")
	if err != nil {
		return nil, err
	}
	switch text {
	case "yes", "true", "on":
		return &mesh{e.value.at, true}, nil
	case "no", "false", "off":
		return &mesh{e.value.at, false}, nil
	}
	return nil, e.value.at.errorf("mesh: found %q; expected yes or no", quantity.Clip(text, 40))
}
