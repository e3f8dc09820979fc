// Package paths reads lists of paths that an HTTP client asks for in turn: one a
// line; blank lines, and lines that begin with #, are skipped.
package paths

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"netdyno/internal/quantity"
)

// Bounds of a list.
const (
	Most      = 100_000  // paths
	Longest   = 8 << 10  // bytes of one: servers refuse more
	MostBytes = 16 << 20 // of the whole text
)

// Parse returns the paths of text in order. The error names the file and the line.
func Parse(name string, text []byte) ([]string, error) {
	if len(text) > MostBytes {
		return nil, fmt.Errorf("%s has %d bytes, expected at most %d", name, len(text), MostBytes)
	}
	var all []string
	number := 0
	for line := range bytes.Lines(text) {
		number++
		path := strings.TrimSpace(string(line))
		if path == "" || path[0] == '#' {
			continue
		}
		if err := check(path); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if all = append(all, path); len(all) > Most {
			return nil, fmt.Errorf("%s:%d: more than %d paths, the most that are taken", name, number, Most)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no path, expected one a line, such as /index.html", name)
	}
	return all, nil
}

// check refuses what cannot stand in the first line of a request.
func check(path string) error {
	const example = "such as /index.html?page=2"
	if len(path) > Longest {
		return fmt.Errorf("a path of %d bytes, expected at most %d", len(path), Longest)
	}
	shown := quantity.Clip(path, 80)
	if strings.Contains(path, "://") && path[0] != '/' {
		return fmt.Errorf("%q is a URL; expected a path alone, %s", shown, example)
	}
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return fmt.Errorf("%q is not a path; expected one that begins with one slash, %s", shown, example)
	}
	for _, b := range []byte(path) {
		if b <= ' ' || b >= 0x7f || b == '#' {
			return fmt.Errorf("%q holds %q, which no request line can; write it as %%%02X", shown, b, b)
		}
	}
	if _, err := url.ParseRequestURI(path); err != nil {
		return fmt.Errorf("%q is not a path: it has a %% without two hexadecimal digits after it", shown)
	}
	return nil
}
