package rig

import (
	"fmt"
	"strings"
)

// Place is a host of a rig, or a part of one with an address of its own. It is
// a plain value: what a rig learns of a place it fills in before any trial.
type Place struct {
	Name    string            // in records and reports: "local", "node2", "node73"
	Address string            // of the data network: servers bind it, clients connect to it
	Prefix  []string          // argv that runs a command there; empty for this host
	Shell   bool              // the prefix hands its arguments to a shell there, as ssh does
	Files   map[string]string // where a file of this host lies there; one without an entry lies at the same path
	CPUs    []int             // that its workers may use; empty when unknown
	Machine string            // identity of its kernel: places of one machine share CPUs
	Sources []string          // addresses that its clients may connect from, Address first
}

// Command returns the argv on this host that runs argv at the place. Elements
// that are files of this host become their paths there.
func (p Place) Command(argv ...string) []string {
	out := append(make([]string, 0, len(p.Prefix)+len(argv)), p.Prefix...)
	for _, word := range argv {
		if there, moved := p.Files[word]; moved {
			word = there
		}
		if p.Shell {
			word = quote(word)
		}
		out = append(out, word)
	}
	return out
}

// quote writes a word so that a POSIX shell reads exactly that word.
// Source: IEEE Std 1003.1-2017, Shell Command Language, section 2.2.2.
func quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// SourcesFor returns n addresses that clients there may connect from.
func (p Place) SourcesFor(n int) ([]string, error) {
	if n > len(p.Sources) {
		return nil, fmt.Errorf("%d source addresses are needed at %s for so many connections, it has %d; fewer connections, or more clients on more places", n, p.Name, len(p.Sources))
	}
	return p.Sources[:n:n], nil
}
