package history

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
)

// lengths are the factors that say how long was measured. netdyno sets them itself where
// nobody does, by how fast the server answers.
var lengths = []string{"window", "warmup", "amount"}

// locations are the settings, after their role, that say where something is and not how it
// behaves. What the kernel counted of connections is none either.
var locations = []string{"address", "host", "sni", "socket", "abstract", "build", cells.TCPConnections}

// files are those that name files, whose directories say as little.
var files = []string{"ca", "cert", "key", "proto", "command", "workload"}

// address is where the server of an arm by URL is.
const address = "server.address"

// sameSetting tells whether two levels of a factor or setting are the same condition.
func sameSetting(name, was, is string) bool {
	last := name[strings.LastIndex(name, ".")+1:]
	if was == is || slices.Contains(locations, last) || slices.Contains(lengths, name) {
		return true
	}
	return withoutDirectories(last, was) == withoutDirectories(last, is)
}

// withoutDirectories is a setting's value without the directories of the files that it
// names. A secret's file says nothing of the secret.
func withoutDirectories(name, value string) string {
	switch {
	case strings.HasPrefix(value, "@") && filepath.Base(filepath.Dir(filepath.Dir(value))) == "secret", strings.HasPrefix(value, "@secret/"):
		return "@secret"
	case strings.HasPrefix(value, "@"):
		return "@" + filepath.Base(value)
	case !slices.Contains(files, name):
		return value
	}
	words := strings.Fields(value)
	for i, word := range words {
		words[i] = filepath.Base(word)
	}
	return strings.Join(words, " ")
}

// alike is the first run with the second's names for the same cells and arms: a load is the
// same whether a run held or varied it, and servers given by URL, whose names are made of
// their addresses, are the same in their order.
func alike(before, after compare.Run) compare.Run {
	factors := varied(before, after)
	names := map[string]string{}
	for _, cell := range after.Cells {
		names[load(after, cell, factors)] = cell.Name
	}
	before.Cells = slices.Clone(before.Cells)
	for i := range before.Cells {
		cell := &before.Cells[i]
		if name, known := names[load(before, *cell, factors)]; known && len(factors) > 0 {
			cell.Name = name
		}
		at := slices.IndexFunc(after.Cells, func(c cells.Cell) bool { return c.Name == cell.Name })
		if at < 0 {
			continue
		}
		was, is := unmatched(*cell, after.Cells[at]), unmatched(after.Cells[at], *cell)
		cell.Arms = slices.Clone(cell.Arms)
		for k := range min(len(was), len(is)) {
			one, other := &cell.Arms[was[k]], after.Cells[at].Arms[is[k]]
			if one.Settings[address] == "" || other.Settings[address] == "" {
				continue
			}
			if before.Header.Study.Compare.Baseline == one.Name {
				before.Header.Study.Compare.Baseline = other.Name
			}
			one.Name = other.Name
		}
	}
	return before
}

// unmatched are the places of the arms of a cell that another has not.
func unmatched(cell, other cells.Cell) (all []int) {
	for i, arm := range cell.Arms {
		if armNamed(other, arm.Name) == nil {
			all = append(all, i)
		}
	}
	return all
}

// varied are the factors by which either run has cells.
func varied(runs ...compare.Run) []string {
	all := map[string]bool{}
	for _, run := range runs {
		for _, cell := range run.Cells {
			for factor := range cell.Levels {
				all[factor] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// load is a cell by its levels of some factors, varied or held.
func load(run compare.Run, cell cells.Cell, factors []string) string {
	var all []string
	for _, factor := range factors {
		level, own := cell.Levels[factor]
		if !own {
			level = run.Header.Study.Hold[factor]
		}
		all = append(all, factor+"="+level)
	}
	return strings.Join(all, " ")
}
