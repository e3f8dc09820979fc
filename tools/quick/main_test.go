package main

import (
	"slices"
	"testing"
)

// What a file belongs to is tested first, then who imports that, the nearest first.
func TestWhatAChangeTouches(t *testing.T) {
	packages := []listed{
		{ImportPath: "netdyno", Dir: "."},
		{ImportPath: "netdyno/internal/quantity", Dir: "internal/quantity"},
		{ImportPath: "netdyno/internal/metric", Dir: "internal/metric", Imports: []string{"netdyno/internal/quantity"}},
		{ImportPath: "netdyno/internal/read/report", Dir: "internal/read/report", Imports: []string{"netdyno/internal/metric"}, XTestImports: []string{"netdyno/internal/contract"}},
		{ImportPath: "netdyno/internal/contract", Dir: "internal/contract"},
		{ImportPath: "netdyno/cmd/netdyno", Dir: "cmd/netdyno", Imports: []string{"netdyno/internal/read/report"}},
	}
	for _, c := range []struct{ changed, own, importers []string }{
		{[]string{"internal/quantity/text.go"}, []string{"netdyno/internal/quantity"}, []string{"netdyno/internal/metric", "netdyno/internal/read/report", "netdyno/cmd/netdyno"}},
		{[]string{"internal/read/report/testdata/page.golden"}, []string{"netdyno/internal/read/report"}, []string{"netdyno/cmd/netdyno"}},
		{[]string{"internal/contract/worker.go"}, []string{"netdyno/internal/contract"}, []string{"netdyno/internal/read/report", "netdyno/cmd/netdyno"}},
		{[]string{"README.md", "docs/commands.md", "internal/gone/gone.go"}, nil, nil},
		{[]string{"layers_test.go"}, []string{"netdyno"}, nil},
	} {
		own, importers := touched(packages, c.changed)
		if !slices.Equal(own, c.own) && len(own)+len(c.own) > 0 || !slices.Equal(importers, c.importers) && len(importers)+len(c.importers) > 0 {
			t.Errorf("%q touches %q and %q; want %q and %q", c.changed, own, importers, c.own, c.importers)
		}
	}
	if slow("netdyno/internal/metric") || !slow("netdyno/test/rigs") || !slow("netdyno") {
		t.Error("slow")
	}
}
