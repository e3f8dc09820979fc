package main

import (
	"slices"
	"strings"

	"netdyno"
)

// terms are the words of GLOSSARY.md. A line of it may have several, each with its
// meaning after a semicolon, or with one for all of them.
func terms() []explained {
	var all []explained
	for line := range strings.SplitSeq(netdyno.Glossary, "\n") {
		columns := strings.Split(strings.Trim(line, "| "), "|")
		if !strings.HasPrefix(line, "| ") || len(columns) < 2 || strings.HasPrefix(line, "| word ") {
			continue
		}
		for i := range columns {
			columns[i] = strings.TrimSpace(columns[i])
		}
		names, means := strings.Split(columns[0], ", "), strings.Split(columns[1], "; ")
		for i, name := range names {
			meaning := columns[1]
			if len(means) == len(names) {
				meaning = means[i]
			}
			e := explained{group: "term", name: name, lines: [][2]string{{"means", strings.ReplaceAll(meaning, "`", "")}}}
			if len(columns) > 2 && columns[2] != "" {
				e.lines = append(e.lines, [2]string{"others say", columns[2]})
			}
			all = append(all, e)
		}
	}
	return all
}

// asked tells whether a word is the entry's: as it is, in the plural, or as others call
// it.
func (e explained) asked(word string) bool {
	return slices.ContainsFunc(e.names(), func(name string) bool {
		name = strings.ToLower(name)
		return word == name || word == name+"s" || word == name+"es" || word == strings.TrimSuffix(name, "y")+"ies"
	})
}

// names are the entry's own, and those that others use.
func (e explained) names() []string {
	names := []string{e.name}
	for _, l := range e.lines {
		if l[0] == "others say" {
			for other := range strings.SplitSeq(l[1], ", ") {
				if !strings.Contains(other, " ") { // "which is a worker's last message" is no name
					names = append(names, other)
				}
			}
		}
	}
	return names
}
