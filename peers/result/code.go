package result

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// parts are the directories of native/ that programs whose names do not say so are made of.
var parts = map[string][]string{
	"grpc-nghttp2": {"h2grpc", "h2"}, "mpich": {"mpi"}, "http1-uring": {"http1", "uring"}, "h2-uring": {"h2", "uring"},
}

// Code returns the paths whose changes can change a transport's speed. Root is the
// repository's.
func Code(root, transport string) []string {
	there := func(path string) bool {
		info, err := os.Stat(filepath.Join(root, path))
		return err == nil && info.IsDir()
	}
	names := parts[transport]
	if names == nil {
		names = strings.Split(transport, "-")
	}
	var paths []string
	for _, name := range names {
		if path := "native/" + name; there(path) {
			paths = append(paths, path)
		}
	}
	if len(paths) > 0 {
		return append(paths, "native/kit")
	}
	own := "internal/work/transport/" + strings.ReplaceAll(transport, "-", "")
	if there(own) {
		return []string{own, "internal/work/load", "internal/work/wire"}
	}
	return []string{"kits", "workers"}
}

// Union returns all paths, each once.
func Union(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
