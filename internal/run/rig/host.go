package rig

import (
	"fmt"
	"strings"
)

// Host is a host of a rig, or a part of one with an address of its own. It is
// a plain value: what a rig learns of a host it fills in before any trial.
type Host struct {
	Name    string            // in records and reports: "local", "node2", "node73"
	Address string            // of the data network: servers bind it, clients connect to it
	Prefix  []string          // argv that runs a command there; empty for this host
	Shell   bool              // the prefix hands its arguments to a shell there, as ssh does
	Files   map[string]string // where a file of this host lies there; one without an entry lies at the same path
	CPUs    []int             // that its workers may use; empty when unknown
	BootID  string            // identity of its kernel: hosts of one machine share CPUs
	Sources []string          // addresses that its clients may connect from, Address first
}

// Command returns the argv on this host that runs argv at the host. Elements
// that are files of this host become their paths there.
func (h Host) Command(argv ...string) []string {
	out := append(make([]string, 0, len(h.Prefix)+len(argv)), h.Prefix...)
	for _, word := range argv {
		if there, moved := h.Files[word]; moved {
			word = there
		}
		if h.Shell {
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
func (h Host) SourcesFor(n int) ([]string, error) {
	if n > len(h.Sources) {
		return nil, fmt.Errorf("%d source addresses are needed on %s for so many connections, and it has %d; use fewer connections, or clients on more hosts", n, h.Name, len(h.Sources))
	}
	return h.Sources[:n:n], nil
}
