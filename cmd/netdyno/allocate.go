package main

import (
	"fmt"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/race"
	"netdyno/internal/record"
)

// allocate decides before a block of a steered study what of it runs, and says so.
func allocate(header record.Header, trials []record.Trial, records []record.Record, block int) (record.Allocation, string, error) {
	s, err := cells.Read(header, trials, records)
	if err != nil {
		return record.Allocation{}, "", err
	}
	if header.Study.Race != nil {
		a, words := race.Next(s, block)
		return a, words, nil
	}
	return record.Allocation{}, "", fmt.Errorf("the study %s steers its run in a way that this version does not know", header.Study.Name)
}
