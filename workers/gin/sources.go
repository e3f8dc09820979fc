//go:build !packed

// Package gin holds the sources of this module's workers, which carry them as
// those of module netdyno do.
package gin

import (
	"embed"
	"io"

	"netdyno"
	"netdyno/internal/sources"
)

//go:embed go.mod go.sum sources.go fastjson server netdyno-worker-*
var tree embed.FS

// Sources writes what the workers of this module are built from as a tar archive: this
// module, and the one that it replaces.
func Sources(to io.Writer) error {
	all := netdyno.Trees()
	all["workers/gin"] = tree
	return sources.Write(to, all)
}
