package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A transport whose worker has been renamed or rewritten must not be said to be
// in C++.
func TestTransportsSaidToBeInCPlusPlusAreThere(t *testing.T) {
	files, err := filepath.Glob("../../../native/*/*.cc")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources under native/ (%v)", err)
	}
	var sources strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(text)
	}
	for name, reason := range notBuilt {
		if reason == native && !strings.Contains(sources.String(), `"`+name+`"`) {
			t.Errorf("transport %q is said to be in C++, but no source under native/ names it", name)
		}
	}
}
