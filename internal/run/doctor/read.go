package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"netdyno/internal/record"
)

const (
	// MaxFactsFile bounds a file of facts in bytes: a run's with hundreds of hosts.
	MaxFactsFile = 16 << 20
	// maxFacts bounds those of one host; one with a hundred cards has 3000.
	maxFacts = 20_000
)

// ReadFacts reads recorded facts: of one host, as netdyno internal facts prints them, or of all
// hosts of a run, as in facts.json. A host's name is its seat in the run, else the host's
// own name, else the file's name. The error says what the file holds instead of facts.
func ReadFacts(text []byte, file string) ([]Named, error) {
	if len(text) > MaxFactsFile {
		return nil, fmt.Errorf("read facts: %s has more than %d bytes, too long for facts", file, MaxFactsFile)
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, fmt.Errorf("read facts of %s: expected what netdyno internal facts prints, or a run's facts.json: %w", file, err)
	}
	if _, ofRun := whole["seats"]; ofRun {
		return readSeats(text, file)
	}
	var values map[string]string
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("read facts of %s: every fact is a text, as netdyno internal facts prints it: %w", file, err)
	}
	host := Named{Name: file, Facts: record.Host{Values: values}}
	if name := values["host.name"]; name != "" {
		host.Name = name
	}
	return []Named{host}, enough(host)
}

func readSeats(text []byte, file string) ([]Named, error) {
	var facts record.Facts
	if err := json.Unmarshal(text, &facts); err != nil {
		return nil, fmt.Errorf("read facts of %s: %w", file, err)
	}
	hosts := make([]Named, 0, len(facts.Seats))
	for _, seat := range slices.Sorted(maps.Keys(facts.Seats)) {
		host := Named{Name: seat, Facts: facts.Seats[seat]}
		if err := enough(host); err != nil {
			return nil, err
		}
		hosts = append(hosts, host)
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("read facts of %s: the run has no hosts", file)
	}
	return hosts, nil
}

// enough refuses what is no host.
func enough(h Named) error {
	switch n := len(h.Facts.Values); {
	case n == 0:
		return errors.New("read facts of " + h.Name + ": there are none")
	case n > maxFacts:
		return fmt.Errorf("read facts of %s: there are %d, expected at most %d", h.Name, n, maxFacts)
	}
	return nil
}
