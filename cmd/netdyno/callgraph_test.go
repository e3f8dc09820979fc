package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Whatever dot does, there is a drawing or a sentence.
func TestDotDrawsOrSaysWhy(t *testing.T) {
	for _, c := range []struct{ name, dot, drawn, why string }{
		{"none", "", "", "graphviz's dot is not on PATH"},
		{"draws", `read -r line; printf '<svg>%s</svg>' "$1 $line"`, "<svg>-Tsvg digraph {}</svg>", ""},
		{"fails", `printf 'syntax \033[31merror\nmore' >&2; exit 1`, "", "dot: syntax"},
		{"fails silently", `exit 3`, "", "dot: exit status 3"},
		{"never ends writing", `for i in 1 2 3 4 5 6 7 8 9; do printf %01000000d 1; done`, "", "dot:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			directory := t.TempDir()
			if c.dot != "" {
				executable(t, filepath.Join(directory, "dot"), c.dot)
			}
			t.Setenv("PATH", directory+":/nonexistent")
			draw, err := graphviz(t.Context())
			var drawn []byte
			if err == nil {
				drawn, err = draw("digraph {}\n")
			}
			if string(drawn) != c.drawn || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
				t.Errorf("%d bytes %.80q, %v; want %q, %q", len(drawn), drawn, err, c.drawn, c.why)
			}
		})
	}
}
