// Package gin holds the sources of this module's workers, which carry them as
// those of module netdyno do.
package gin

import (
	"embed"
	"io/fs"

	"netdyno"
)

//go:embed go.mod go.sum sources.go fastjson server netdyno-worker-*
var sources embed.FS

// Sources returns what the workers of this module are built from, by its
// directory in the tree: this module, and the one that it replaces.
func Sources() map[string]fs.FS {
	all := netdyno.Sources()
	all["workers/gin"] = sources
	return all
}
