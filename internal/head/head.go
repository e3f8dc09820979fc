// Package head reads the fields that a user adds to the head of requests:
// "Name: value", one a line. Package target and the clients of a trial read
// them here, so that both send the same.
package head

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Bounds of what a user may add.
const (
	MostBytes = 64 << 10 // of the whole text
	Most      = 1000     // fields
)

// Field is one header.
type Field struct{ Name, Value string }

// framing are fields that say how a request is framed, which clients do themselves.
var framing = []string{"content-length", "transfer-encoding", "trailer"}

// Parse returns the fields of text in order, those of framing left out. A value may
// be empty. The error names the line and never shows a value, which may be secret.
func Parse(text string) ([]Field, error) {
	if len(text) > MostBytes {
		return nil, fmt.Errorf("%d bytes, expected at most %d", len(text), MostBytes)
	}
	var all []Field
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		f := Field{strings.TrimSpace(name), strings.TrimSpace(value)}
		switch {
		case !found || !httpguts.ValidHeaderFieldName(f.Name):
			return nil, fmt.Errorf("line %d is not a header, expected Name: value", number)
		case !httpguts.ValidHeaderFieldValue(f.Value):
			return nil, fmt.Errorf("line %d: the value of %.80s has control characters, expected Name: value", number, f.Name)
		case slices.Contains(framing, strings.ToLower(f.Name)):
			continue
		}
		if all = append(all, f); len(all) > Most {
			return nil, fmt.Errorf("more than %d headers", Most)
		}
	}
	return all, nil
}

// Text is the text that Parse reads back.
func Text(fields []Field) string {
	lines := make([]string, len(fields))
	for i, f := range fields {
		lines[i] = f.Name + ": " + f.Value
	}
	return strings.Join(lines, "\n")
}

// Take returns the value of the first field of a name, and the fields of other names.
func Take(fields []Field, name string) (value string, found bool, others []Field) {
	for _, f := range fields {
		switch {
		case !strings.EqualFold(f.Name, name):
			others = append(others, f)
		case !found:
			value, found = f.Value, true
		}
	}
	return value, found, others
}

// Over returns fields, and after them those of others whose names they have not.
func Over(fields, others []Field) []Field {
	all := slices.Clone(fields)
	for _, f := range others {
		if !slices.ContainsFunc(fields, func(own Field) bool { return strings.EqualFold(own.Name, f.Name) }) {
			all = append(all, f)
		}
	}
	return all
}

// secrets are parts of names whose values prove who asks.
var secrets = []string{"authorization", "cookie", "api-key", "apikey", "api_key", "token", "secret", "password", "session", "signature", "credential", "access-key", "x-auth"}

// Secret tells whether the value of a field must be kept out of what is recorded and
// shown, by the field's name.
func Secret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(secrets, func(part string) bool { return strings.Contains(name, part) })
}
