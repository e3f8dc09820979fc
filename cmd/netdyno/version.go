package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// release and releaseCommit are what `make dist` builds and from which commit, set
// by the linker; empty in a build from a checkout. Go itself records no commit in
// a second work tree of a repository.
var release, releaseCommit string

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the release, its commit, and the versions of contract and records",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			fmt.Fprintf(stdout, "release   %s\ncommit    %s\ncontract  %d\nschema    %d\n",
				orUnknown(release), orUnknown(commit(info)), contract.Version, record.Schema)
			return nil
		},
	}
}

// version is the release, or the module's version as the build recorded it.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if c := commit(info); c != "" && (version == "" || version == "(devel)") {
		version = "devel+" + c[:min(12, len(c))]
	}
	return version
}

// commit is the revision that the program was built from, with "+changes" where
// the checkout had some; empty if the build recorded none.
func commit(info *debug.BuildInfo) string {
	if releaseCommit != "" || info == nil {
		return releaseCommit
	}
	var revision, changes string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = "+changes"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + changes
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
