// Package kits knows which programs the kits build.
package kits

import (
	"path/filepath"
	"strings"
)

// languages are those with a directory of workers of their own; workers/gin is a module of
// netdyno's in Go.
var languages = []string{"rust", "java", "python", "node"}

// Build tells whether `make kits` builds a program, by its file name, from the workers in a
// checkout; `make build` does not build it then.
func Build(checkout, program string) bool {
	for _, language := range languages {
		for _, name := range []string{program, strings.TrimPrefix(program, "netdyno-worker-")} {
			if found, err := filepath.Glob(filepath.Join(checkout, "workers", language, name)); err == nil && len(found) > 0 {
				return true
			}
		}
	}
	return false
}
