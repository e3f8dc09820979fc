package probe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"netdyno/internal/input"
	"netdyno/internal/paths"
)

// Paths are what the clients ask for in turn.
type Paths struct {
	All  []string
	Kept string // the file that the clients read: a copy, which does not change while they do
}

// ReadPaths reads a file of paths, or standard input for "-", and keeps a copy of
// them by its content in the user's cache directory: a run that goes on later asks
// for the same. The error names the file and the line.
func ReadPaths(ctx context.Context, name string) (Paths, error) {
	shown := name
	if name == "-" {
		name, shown = "/dev/stdin", "standard input"
	}
	text, err := input.Within(ctx, paths.MostBytes)(name)
	if err != nil {
		return Paths{}, fmt.Errorf("paths: %w", err)
	}
	all, err := paths.Parse(shown, text)
	if err != nil {
		return Paths{}, fmt.Errorf("paths: %w", err)
	}
	kept, err := keep(strings.Join(all, "\n") + "\n")
	if err != nil {
		return Paths{}, fmt.Errorf("keep the paths: %w", err)
	}
	return Paths{all, kept}, nil
}

// keep writes text to a file that is named by its content, and returns its name.
func keep(text string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	directory := filepath.Join(cache, "netdyno", "paths")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(text))
	name := filepath.Join(directory, hex.EncodeToString(sum[:8])+".txt")
	part, err := os.CreateTemp(directory, "part-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(part.Name()) }() // gone already when all went well
	_, err = part.WriteString(text)
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", err
	}
	return name, os.Rename(part.Name(), name)
}
