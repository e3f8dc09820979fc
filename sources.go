//go:build !packed

// Package netdyno holds the sources of its workers. A worker that encodes
// messages carries them, so that it can be built again with the code of a
// user's message in it, wherever it was installed (docs/decisions.md).
package netdyno

import (
	"embed"
	"io"
	"io/fs"

	"netdyno/internal/sources"
)

//go:embed go.mod go.sum sources.go
//go:embed cmd/netdyno-worker-*
//go:embed internal/contract internal/draw internal/events internal/expect internal/head internal/hist internal/paths internal/printable internal/procstat internal/quantity internal/quicsocket internal/rows internal/sources internal/tcpinfo internal/traffic internal/unixsocket internal/values internal/websocket internal/work
var tree embed.FS

// Trees returns what the workers of this module are built from, by its directory in the
// tree.
func Trees() map[string]fs.FS { return map[string]fs.FS{".": tree} }

// Sources writes the Trees as a tar archive.
func Sources(to io.Writer) error { return sources.Write(to, Trees()) }
