package profile

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/read/cells"
)

// Whatever cells and arms are called, each file has a name of its own that stays in its
// directory and means nothing to a shell.
func TestNamesOfFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"", "a", "A", "b/", "../", "$(x)", ".", "-", "é\x1b[2J", "a=1 b=2", strings.Repeat("long", 100)})
		taken, names := map[string]bool{}, map[string]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "arms") {
			at := cells.KeyOf(part.Draw(t, "cell"), part.Draw(t, "arm")+part.Draw(t, "more"))
			p := filed{Key: at, stem: stem(at, taken)}
			for _, end := range ends {
				for _, kind := range kinds {
					name := p.name(end, kind.name)
					if names[strings.ToLower(name)] || len(name) > 255 || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || inFileName(name[:min(len(name), longestPart)]) != name[:min(len(name), longestPart)] {
						t.Fatalf("%q of %q", name, at)
					}
					names[strings.ToLower(name)] = true
				}
			}
		}
	})
}

// A run has a bounded number of files, and the page links to none that is not written.
func TestFilesAreBounded(t *testing.T) {
	f := &Files{}
	for i := range maxFiles {
		f.addFile(filed{Key: cells.KeyOf(fmt.Sprint(i), "go-net"), stem: fmt.Sprint(i)})
	}
	linked := 0
	for i := range maxFiles {
		if f.CPU(fmt.Sprint(i), "go-net", "server") != "" {
			linked++
		}
	}
	notes, err := f.Each(func(File) error { return nil })
	if bound := maxFiles / (len(ends) * len(kinds)); err != nil || linked != bound || len(notes) != 1 || !strings.Contains(notes[0], fmt.Sprintf("of %d arms", maxFiles-bound)) {
		t.Errorf("%d linked, %q, %v", linked, notes, err)
	}
}
