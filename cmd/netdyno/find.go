package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

// version is the module's, as the build recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (version == "" || version == "(devel)") {
			version = "devel+" + s.Value[:min(12, len(s.Value))]
		}
	}
	return version
}

// discover finds the workers beside this executable, then on PATH, and those of
// every build that the trials have.
func discover(ctx context.Context, trials []record.Trial) (*bench.Catalog, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	directories := append([]string{filepath.Dir(self)}, filepath.SplitList(os.Getenv("PATH"))...)
	catalog := bench.Discover(ctx, directories)
	if ctx.Err() != nil { // what is absent now is so because nobody waited for it
		return nil, context.Cause(ctx)
	}
	for _, t := range trials {
		directory := t.Levels["build"]
		if directory == "" || catalog.Builds[directory] != nil {
			continue
		}
		if err := catalog.Build(ctx, directory); err != nil {
			return nil, err
		}
	}
	return &catalog, nil
}
