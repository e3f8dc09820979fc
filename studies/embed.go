// Package studies holds the built-in studies. They are ordinary study files:
// copy one, change it, and run it by its path.
package studies

import "embed"

// Files holds every study file.
//
//go:embed *.yaml
var Files embed.FS
