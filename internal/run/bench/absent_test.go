package bench

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// A transport whose worker has been renamed or rewritten must not be said to be written in
// the language of old.
func TestTransportsSaidToBeInALanguageAreThere(t *testing.T) {
	for _, o := range origins {
		var sources strings.Builder
		err := filepath.WalkDir(filepath.Join("../../..", o.sources), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && slices.Contains([]string{"node_modules", "target", "build", ".venv"}, d.Name()) {
				return fs.SkipDir
			}
			if err != nil || !slices.Contains([]string{".cc", ".rs", ".java", ".py", ".ts"}, filepath.Ext(path)) {
				return err
			}
			text, err := os.ReadFile(path)
			sources.Write(text)
			return err
		})
		if err != nil || sources.Len() == 0 {
			t.Fatalf("no sources under %s (%v)", o.sources, err)
		}
		for _, name := range o.transports {
			if !strings.Contains(sources.String(), `"`+name+`"`) {
				t.Errorf("transport %q is said to be written %s, but no source under %s names it", name, o.language, o.sources)
			}
		}
	}
}

// What the plan advises where a worker is missing comes from the reason, through all that
// wraps it.
func TestAnAbsentTransportSaysWhatBringsIt(t *testing.T) {
	catalog := &Catalog{Programs: []Program{{Hello: contract.Hello{Transports: []contract.Transport{{Name: "go-net"}}}}}}
	err := catalog.Pairs(study.Work{Server: "tokio", Client: "go-net"})
	var known *AbsentError
	if !errors.As(err, &known) || known.Transport != "tokio" || !strings.HasPrefix(known.Advice, "`make kits`") {
		t.Errorf("%v, want what brings tokio", err)
	}
	for transport, program := range map[string]string{"tokio": "tokio", "hyper-http2": "hyper", "uvicorn": "asgi", "node-net": "node"} {
		program = "netdyno-worker-" + program
		catalog.Absent = []record.Warning{{About: program, Text: program + " said nothing for 10s"}}
		err = catalog.Pairs(study.Work{Server: transport, Client: "go-net"})
		if said := err.Error(); !strings.Contains(said, program+" said nothing") || strings.Contains(said, "make kits") {
			t.Errorf("%v, want the worker named that is here and was not heard, and not how to build it", err)
		}
	}
	err = catalog.Pairs(study.Work{Server: "tokyo", Client: "go-net"})
	if errors.As(err, &known) && known.Transport == "tokyo" {
		t.Errorf("%v of a name that the project has not", err)
	}
}
