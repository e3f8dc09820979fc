package source

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
	"netdyno/studies"
)

const extension = ".yaml"

// List returns the names of the built-in studies in alphabetical order.
func List() []string {
	entries, err := fs.ReadDir(studies.Files, ".")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), extension); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Text returns a built-in study's file as it was written, comments
// included. The error names the nearest study.
func Text(name string) ([]byte, error) {
	data, err := studies.Files.ReadFile(name + extension)
	if err != nil {
		return nil, fmt.Errorf("no built-in study %q; %s", quantity.Clip(name, 80), quantity.Hint(name, List()))
	}
	return data, nil
}

// Named returns a built-in study.
func Named(name string) (*study.Study, error) {
	data, err := Text(name)
	if err != nil {
		return nil, err
	}
	return ParseFile(name+extension, data)
}
