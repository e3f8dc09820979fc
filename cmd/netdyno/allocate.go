package main

import (
	"fmt"

	"netdyno/internal/read/capacity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/race"
	"netdyno/internal/record"
)

// allocate decides before a block of a steered study what of it runs, and says so. A run
// asks it with its plan as decided so far.
func allocate(header record.Header, trials []record.Trial, records []record.Record, block int) (record.Allocation, string, error) {
	s, err := cells.Read(header, trials, records)
	if err != nil {
		return record.Allocation{}, "", err
	}
	var decided record.Allocation
	var words string
	switch {
	case header.Study.Race != nil:
		decided, words = race.Next(s, block)
	case header.Study.Capacity != nil:
		decided, words = capacity.Next(s, block)
	default:
		return decided, "", fmt.Errorf("the study %s steers its run in a way that this version does not know", header.Study.Name)
	}
	return decided, words, nil
}
