package main

import "runtime/debug"

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
