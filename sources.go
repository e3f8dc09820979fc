// Package netdyno holds the sources of its workers. A worker that encodes
// messages carries them, so that it can be built again with the code of a
// user's message in it, wherever it was installed (docs/decisions/0020).
package netdyno

import (
	"embed"
	"io/fs"
)

//go:embed go.mod go.sum sources.go
//go:embed cmd/netdyno-worker-*
//go:embed internal/contract internal/expect internal/head internal/hist internal/paths internal/printable internal/quantity internal/tcpinfo internal/unixsocket internal/values internal/work
var sources embed.FS

// Sources returns what the workers of this module are built from, by its
// directory in the tree.
func Sources() map[string]fs.FS { return map[string]fs.FS{".": sources} }
