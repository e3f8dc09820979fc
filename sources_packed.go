//go:build packed

package netdyno

import (
	_ "embed" // the archive
	"io"

	"netdyno/internal/sources"
)

// packed is what Sources writes without build tag packed, made of it by tools/pack: a
// sixth of its size (docs/decisions.md).
//
//go:embed sources.tar.gz
var packed string

// Sources writes what the workers of this module are built from as a tar archive.
func Sources(to io.Writer) error { return sources.Unpack(to, packed) }
