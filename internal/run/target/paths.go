package target

import (
	"context"
	"fmt"

	"netdyno/internal/input"
	"netdyno/internal/paths"
)

// ReadPaths reads a file of paths, or standard input for "-". The error names the file
// and the line.
func ReadPaths(ctx context.Context, name string) ([]string, error) {
	shown := name
	if name == "-" {
		name, shown = "/dev/stdin", "standard input"
	}
	text, err := input.Within(ctx, paths.MostBytes)(name)
	if err == nil {
		var all []string
		if all, err = paths.Parse(shown, text); err == nil {
			return all, nil
		}
	}
	return nil, fmt.Errorf("paths: %w", err)
}
