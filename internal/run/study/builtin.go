package study

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"netdyno/internal/quantity"
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

// Source returns a built-in study's file as it was written, comments
// included. The error names the nearest study.
func Source(name string) ([]byte, error) {
	data, err := studies.Files.ReadFile(name + extension)
	if err != nil {
		return nil, fmt.Errorf("no built-in study %q; %s", clip(name, 80), quantity.Hint(name, List()))
	}
	return data, nil
}

// Named returns a built-in study.
func Named(name string) (*Study, error) {
	data, err := Source(name)
	if err != nil {
		return nil, err
	}
	return ParseFile(name+extension, data)
}
