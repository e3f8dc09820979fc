package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"

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

// discover finds the workers beside this executable, then on PATH.
func discover(ctx context.Context) (*bench.Catalog, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	directories := append([]string{filepath.Dir(self)}, filepath.SplitList(os.Getenv("PATH"))...)
	catalog := bench.Discover(ctx, directories)
	return &catalog, nil
}
